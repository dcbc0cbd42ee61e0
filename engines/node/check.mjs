/* Counts rows and asks the engine for the integrity of a database; src/worker/check.c. */
import { now_ns } from './clock.mjs';
import { Failure } from './failure.mjs';
import { open_database } from './open.mjs';
import { Query, quote } from './query.mjs';
import { settings_apply } from './settings.mjs';
import { escape_text } from './wire.mjs';

const INTEGRITY_LINES_MAX = 100;

async function count_rows(query, table) {
    const sql = `SELECT count(*) FROM ${quote(table)}`;
    const count = Number((await query.rows(sql))[0]?.[0]);
    if (!Number.isSafeInteger(count)) {
        throw new Failure('check', `${sql}: expected one integer`);
    }
    return count;
}

/* A check that breaks off has found damage: what the engine says then is its last line. */
async function integrity_lines(query, integrity) {
    if (integrity === 'none') {
        return [];
    }
    const lines = [];
    try {
        await query.each(integrity === 'full' ? 'PRAGMA integrity_check' : 'PRAGMA quick_check',
                         ([line]) => lines.push(escape_text(String(line))));
    } catch (error) {
        lines.length = Math.min(lines.length, INTEGRITY_LINES_MAX - 1);
        lines.push(escape_text(error.message));
    }
    return lines.slice(0, INTEGRITY_LINES_MAX);
}

export async function check(driver, job, bigint, progress) {
    const started_ns = now_ns();
    const connection = await open_database(driver, job, bigint);
    await settings_apply(driver, connection, job);
    const query = new Query(driver, connection, 'check');
    const tables = job.tables.length > 0 ? job.tables : await query.tables();
    const rows = {};
    progress.total = tables.length + (job.integrity === 'none' ? 0 : 1);
    for (const table of tables) {
        progress.table = table;
        rows[escape_text(table)] = await count_rows(query, table);
        progress.done++;
    }
    progress.table = null;
    const integrity = await integrity_lines(query, job.integrity);
    await connection.close();
    return { kind: 'result', job: 'check', rows, integrity,
             elapsed_ns: Number(now_ns() - started_ns) };
}
