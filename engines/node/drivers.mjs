/* The bindings by name. Each driver has one interface; see drivers/better-sqlite3.mjs. */
import { readFileSync } from 'node:fs';

import { Failure } from './failure.mjs';

const MODULES = {
    'better-sqlite3': './drivers/better-sqlite3.mjs',
    'node:sqlite': './drivers/node-sqlite.mjs',
    'turso-js': './drivers/turso-js.mjs',
    'turso-js-async': './drivers/turso-js-async.mjs',
};

export const BINDINGS = Object.keys(MODULES);

/* The driver, its package loaded, and what that says of itself. */
export async function load_driver(binding) {
    try {
        const { driver } = await import(MODULES[binding]);
        return { driver, loaded: await driver.load() };
    } catch (error) {
        const missing = error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND';
        const [message] = error.message.split('\n');
        const what = missing ? 'its package is missing: ' : '';
        throw new Failure('engine', `${binding}: ${what}${message}`);
    }
}

/* Options of the command line: what they mean, or a Failure. */
export function read_options(pairs) {
    const options = { bigint: false };
    for (const [key, value] of pairs) {
        if (key !== 'integers') {
            throw new Failure('engine', `there is no option ${key}; integers is one`);
        }
        if (value !== 'number' && value !== 'bigint') {
            throw new Failure('engine', `option integers is '${value}', must be number or bigint`);
        }
        options.bigint = value === 'bigint';
    }
    return options;
}

/* The file of machine code that a package brought along; Node itself holds node:sqlite. */
function library_of(driver) {
    if (driver.binding === 'node:sqlite') {
        return process.execPath;
    }
    const maps = readFileSync('/proc/self/maps', 'utf8');
    return /\s(\/.*\.node)$/m.exec(maps)?.[1] ?? null;
}

/* What is inside of the binding, asked of the engine itself. The call that makes a commit durable
 * is not told by any of them: it is known of the versions that were watched (sync_calls). */
export async function identity_of(driver, loaded) {
    const connection = await driver.open(':memory:', { timeout_ms: 0, bigint: false });
    const first = async (sql) => {
        const statement = await connection.prepare(sql, { rows: true });
        return (await statement.native.all())[0]?.[0] ?? null;
    };
    const column = async (sql) => {
        const statement = await connection.prepare(sql, { rows: true });
        return (await statement.native.all()).map(([text]) => String(text));
    };
    try {
        return {
            version: await first(`SELECT ${driver.turso ? 'turso' : 'sqlite'}_version()`),
            source_id: driver.turso ? null : await first('SELECT sqlite_source_id()'),
            compile_options: driver.turso ? [] : await column('PRAGMA compile_options'),
            sync_call: driver.sync_calls[loaded.binding_version ?? process.versions.node] ?? null,
            library: library_of(driver),
            binding_version: loaded.binding_version,
            runtime: `node ${process.versions.node}`,
        };
    } finally {
        await connection.close();
    }
}
