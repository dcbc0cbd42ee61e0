/*
 * The answers of an engine: every script run with the same parameters on every engine, then every
 * table read, all of it told as digests; src/worker/verify.c. Nothing is timed.
 *
 * Scripts bind and read numbers as the binding's users do, so that a number which the binding
 * changes shows as a different answer; tables are read exactly, since they are what is stored.
 */
import { Account, FAILED, OUTCOMES, account_memory } from './account.mjs';
import { Answer, Detail } from './answer.mjs';
import { clock_base_s, now_ns } from './clock.mjs';
import { no_signals } from './control.mjs';
import { Digest, digest_row, digest_text } from './digest.mjs';
import { EvaluationError } from './evaluate.mjs';
import { Failure } from './failure.mjs';
import { Loop, mistake_of } from './loop.mjs';
import { open_database } from './open.mjs';
import { Query, quote } from './query.mjs';
import { PURPOSE } from './random.mjs';
import { settings_apply } from './settings.mjs';
import { escape_text } from './wire.mjs';

const DRAWS = ['low', 'high', 'beyond'];
const OPERATION_BEYOND = 2;

/* ---- scripts ---------------------------------------------------------------------------- */

/* Runs one operation and gives its outcome. A mistake of the script is an error of the job, but
 * not beyond the ranges, where no run ever is. */
async function execute(loop, entry, operation, observer) {
    let outcome = FAILED;
    loop.operation.observer = observer;
    loop.operation.effect.read = 0;
    loop.operation.effect.changed = 0;
    entry.tally.attempt();
    try {
        entry.evaluation.draw(loop.op, entry.random, DRAWS[operation] ?? 'random');
        outcome = await loop.operation.execute(loop.operation, entry);
    } catch (error) {
        if (!(error instanceof EvaluationError) || operation !== OPERATION_BEYOND) {
            throw mistake_of(error, 'verify', entry.index);
        }
        entry.tally.failed(null, 0, error.message);
    }
    entry.tally.add(outcome, loop.operation.effect, 0, 0);
    loop.op++;
    return outcome;
}

async function answer_script(loop, entry, job, operations, progress) {
    const answer = new Answer(job.compare[entry.index]);
    const digests = [];
    entry.random.start(job.seed, PURPOSE.VERIFY, 0, entry.index);
    for (let operation = 0; operation < operations; operation++) {
        answer.begin();
        const outcome = await execute(loop, entry, operation, answer);
        digests.push(answer.digest(outcome));
        progress.done++;
    }
    return digests;
}

async function answer_scripts(loop, job, progress) {
    const scripts = [];
    progress.total = job.scripts.length * job.operations;
    for (const entry of loop.entries) {
        const value = await answer_script(loop, entry, job, job.operations, progress);
        const { ok, busy, conflict, failed, ...rest } = entry.tally.to_json();
        scripts.push({ script: entry.index, ok, busy, conflict, failed, rows_read: rest.rows_read,
                       rows_changed: rest.rows_changed, value, errors: rest.errors });
    }
    return scripts;
}

/* The one execution that the job asks for, after all before it. */
async function show(loop, job, progress) {
    const { script, operation, rows } = job.detail;
    progress.total = script * job.operations + operation + 1;
    for (const entry of loop.entries.slice(0, script)) {
        await answer_script(loop, entry, job, job.operations, progress);
    }
    const entry = loop.entries[script];
    const detail = new Detail(entry.evaluation, rows);
    await answer_script(loop, entry, job, operation, progress);
    entry.tally.restart(); /* so that a message is this execution's */
    const outcome = await execute(loop, entry, operation, detail);
    return {
        kind: 'result', job: 'verify', parameters: detail.parameters(),
        statements: detail.statements, statements_more: detail.statements_more,
        outcome: OUTCOMES[outcome], message: entry.tally.errors()[0]?.message ?? null,
    };
}

/* ---- tables ----------------------------------------------------------------------------- */

/* `ignore` as the tables and columns it names; names of SQL know no case. */
class Ignored {
    constructor(entries) {
        this.left = new Map(entries.map((entry) => [entry.toLowerCase(), entry]));
        this.names = new Set(this.left.keys());
    }

    mentions(table) {
        return [...this.names].some((name) => name.startsWith(`${table.toLowerCase()}.`));
    }

    has(table, column) {
        const name = `${table}.${column}`.toLowerCase();
        this.left.delete(name);
        return this.names.has(name);
    }
}

async function columns_of(query, table, ignored) {
    if (!ignored.mentions(table)) {
        return '*';
    }
    /* Generated columns are in table_xinfo alone; hidden = 1 marks those of virtual tables. */
    let rows = await query.known(`PRAGMA table_xinfo(${quote(table)})`);
    rows = rows.length > 0 ? rows.filter((row) => Number(row[6]) !== 1)
        : await query.rows(`PRAGMA table_info(${quote(table)})`);
    const kept = rows.map(([, name]) => name).filter((column) => !ignored.has(table, column));
    return kept.length === 0 ? 'NULL' : kept.map(quote).join(', ');
}

/* Hashes of rows are added modulo 2^64, half by half. */
async function digest_table(query, table, ignored, progress) {
    let rows = 0;
    let high = 0;
    let low = 0;
    const columns = await columns_of(query, table, ignored);
    await query.each(`SELECT ${columns} FROM ${quote(table)}`, (row) => {
        const hash = digest_row(row);
        low += hash[1];
        high = (high + hash[0] + (low >= 4294967296 ? 1 : 0)) % 4294967296;
        low %= 4294967296;
        progress.done = ++rows;
    });
    const digest = new Digest();
    digest.count(rows);
    digest.u64(high, low);
    return { table: escape_text(table), rows, value: digest_text(digest.end()) };
}

async function digest_tables(query, job, progress) {
    const ignored = new Ignored(job.ignore);
    const tables = [];
    progress.total = null;
    for (const table of await query.tables()) {
        progress.done = 0;
        progress.table = table;
        tables.push(await digest_table(query, table, ignored, progress));
    }
    progress.table = null;
    for (const entry of ignored.left.values()) {
        throw new Failure('verify', `ignore names ${entry}, but the database has no such column`);
    }
    return tables;
}

/* ---- the whole -------------------------------------------------------------------------- */

export async function verify(driver, job, bigint, progress) {
    const started_ns = now_ns();
    const connection = await open_database(driver, job, bigint);
    await settings_apply(driver, connection, job);
    const account = new Account(account_memory({
        statements: job.scripts.map(({ statements }) => statements.length), limit_ns: 0,
        base_s: clock_base_s(), paced: false,
    }));
    const loop = new Loop({ driver, connection, job, role: job.roles[0], number: 0, account, bigint,
                            signals: no_signals() });
    await loop.prepare(true);
    let line = null;
    if (job.detail !== null) {
        line = await show(loop, job, progress);
    } else {
        const scripts = await answer_scripts(loop, job, progress);
        const tables = await digest_tables(new Query(driver, connection, 'verify'), job, progress);
        line = { kind: 'result', job: 'verify', elapsed_ns: 0, scripts, tables };
    }
    await connection.close();
    return job.detail !== null ? line : { ...line, elapsed_ns: Number(now_ns() - started_ns) };
}
