/*
 * @tursodatabase/database/compat, the synchronous interface, in the shape of better-sqlite3 as its
 * documentation says: the timeout at opening, statements prepared once,
 * db.transaction(f).immediate() around writes. Settings go through exec(); names that the engine
 * does not know raise no error there and read back as nothing.
 */
import { createRequire } from 'node:module';

import { turso_classify, turso_code } from './turso-error.mjs';

const require = createRequire(import.meta.url);
let Database = null;

export function package_version() {
    const main = require.resolve('@tursodatabase/database');
    return require(`${main.slice(0, main.lastIndexOf('/dist/'))}/package.json`).version;
}

class Connection {
    constructor(path, { timeout_ms, bigint }) {
        this.db = new Database(path, { timeout: timeout_ms });
        this.db.defaultSafeIntegers(bigint);
    }

    exec(sql) {
        this.db.exec(sql);
    }

    prepare(sql, { rows = false, exact = false } = {}) {
        const native = this.db.prepare(sql);
        if (exact) {
            native.safeIntegers(true);
        }
        native.raw(rows);
        return { native, reader: native.reader };
    }

    /* Gives a function that runs body() in a transaction. */
    transactions(body) {
        const transaction = this.db.transaction(() => body());
        return (write) => (write ? transaction.immediate() : transaction.deferred());
    }

    rollback() {
        if (this.db.inTransaction) {
            this.db.exec('ROLLBACK');
        }
    }

    set(name, value) {
        this.db.exec(`PRAGMA ${name} = ${value}`);
    }

    get(name) {
        const row = this.prepare(`PRAGMA ${name}`, { rows: true }).native.get();
        return row === undefined ? undefined : row[0];
    }

    close() {
        this.db.close();
    }
}

export const driver = {
    binding: 'turso-js',
    synchronous: true,
    turso: true,
    sync_calls: { '0.7.2': 'fsync' },
    explains_write: 2,

    async load() {
        ({ Database } = await import('@tursodatabase/database/compat'));
        return { binding_version: package_version() };
    },

    open: (path, options) => new Connection(path, options),
    classify: turso_classify,
    code: turso_code,
};
