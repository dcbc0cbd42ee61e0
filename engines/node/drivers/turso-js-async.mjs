/*
 * @tursodatabase/database, the promise interface, as its documentation says: connect() with the
 * timeout, statements prepared once, and db.transactionAsync(f).immediate() around writes, whose
 * statements are prepared anew from the handle that each transaction gives.
 */
import { package_version } from './turso-js.mjs';
import { turso_classify, turso_code } from './turso-error.mjs';

let connect = null;

class Connection {
    constructor(db) {
        this.db = db;
    }

    async exec(sql) {
        await this.db.exec(sql);
    }

    async prepare(sql, { rows = false, exact = false } = {}) {
        const made = async (owner) => {
            const native = await owner.prepare(sql);
            if (exact) {
                native.safeIntegers(true);
            }
            native.raw(rows);
            return native;
        };
        const native = await made(this.db);
        /* The same statement from a transaction's handle. */
        const within = async (handle) => ({ native: await made(handle) });
        return { native, reader: native.reader, within };
    }

    /* Gives a function that runs body(handle) in a transaction. */
    transactions(body) {
        const transaction = this.db.transactionAsync(async (handle) => body(handle));
        return (write) => (write ? transaction.immediate() : transaction.deferred());
    }

    async rollback() {
        if (this.db.inTransaction) {
            await this.db.exec('ROLLBACK');
        }
    }

    async set(name, value) {
        await this.db.exec(`PRAGMA ${name} = ${value}`);
    }

    async get(name) {
        const statement = await this.prepare(`PRAGMA ${name}`, { rows: true });
        const row = await statement.native.get();
        return row === undefined ? undefined : row[0];
    }

    async close() {
        await this.db.close();
    }
}

export const driver = {
    binding: 'turso-js-async',
    synchronous: false,
    turso: true,
    sync_calls: { '0.7.2': 'fsync' },
    explains_write: 2,

    async load() {
        ({ connect } = await import('@tursodatabase/database'));
        return { binding_version: package_version() };
    },

    async open(path, { timeout_ms, bigint }) {
        const db = await connect(path, { timeout: timeout_ms });
        db.defaultSafeIntegers(bigint);
        return new Connection(db);
    },

    classify: turso_classify,
    code: turso_code,
};
