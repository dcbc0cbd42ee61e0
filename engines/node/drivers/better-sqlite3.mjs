/*
 * better-sqlite3, as its documentation (docs/api.md) recommends: the timeout at opening,
 * db.pragma() for settings, statements prepared once, db.transaction(f).immediate() around writes,
 * and safeIntegers() for 64-bit integers.
 */
import { createRequire } from 'node:module';

import { sqlite_code } from './sqlite-code.mjs';

const require = createRequire(import.meta.url);
let Database = null;

class Connection {
    constructor(path, { timeout_ms, bigint }) {
        this.db = new Database(path, { timeout: timeout_ms, fileMustExist: path !== ':memory:' });
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
        if (rows && native.reader) {
            native.raw(true);
        }
        return { native, reader: native.reader, readonly: native.readonly };
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
        this.db.pragma(`${name} = ${value}`);
    }

    get(name) {
        return this.db.pragma(name, { simple: true });
    }

    close() {
        this.db.close();
    }
}

export const driver = {
    binding: 'better-sqlite3',
    synchronous: true,
    turso: false,
    sync_calls: { '13.2.0': 'fsync' },

    load() {
        Database = require('better-sqlite3');
        return { binding_version: require('better-sqlite3/package.json').version };
    },

    open: (path, options) => new Connection(path, options),

    classify(error) {
        const code = String(error.code);
        return code === 'SQLITE_BUSY_SNAPSHOT' ? 'conflict'
             : code === 'SQLITE_BUSY' || code.startsWith('SQLITE_BUSY_') ? 'busy' : 'failed';
    },

    code: (error) => sqlite_code(error.code),
};
