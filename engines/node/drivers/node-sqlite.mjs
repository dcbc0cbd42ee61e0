/*
 * node:sqlite, as Node's documentation shows: the timeout at opening, exec() for settings and for
 * BEGIN and COMMIT (it has no helper for transactions), statements prepared once, and
 * setReadBigInts() for 64-bit integers. Without that a number beyond 2^53 is an error.
 */
let DatabaseSync = null;

const SQLITE_BUSY = 5;
const SQLITE_BUSY_SNAPSHOT = 517;

class Connection {
    constructor(path, { timeout_ms, bigint }) {
        this.db = new DatabaseSync(path, { timeout: timeout_ms });
        this.bigint = bigint;
    }

    exec(sql) {
        this.db.exec(sql);
    }

    prepare(sql, { rows = false, exact = false } = {}) {
        const native = this.db.prepare(sql);
        native.setReadBigInts(this.bigint || exact);
        native.setReturnArrays(rows);
        return { native, reader: native.columns().length > 0 };
    }

    /* Gives a function that runs body() in a transaction. */
    transactions(body) {
        return (write) => {
            this.db.exec(write ? 'BEGIN IMMEDIATE' : 'BEGIN');
            body();
            this.db.exec('COMMIT');
        };
    }

    rollback() {
        if (this.db.isTransaction) {
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
    binding: 'node:sqlite',
    synchronous: true,
    turso: false,
    sync_calls: { '24.22.3': 'fsync' },
    explains_write: 1,

    async load() {
        const module = process.getBuiltinModule?.('node:sqlite');
        if (module === undefined) {
            throw new Error(`Node ${process.versions.node} has no module node:sqlite; ` +
                            'Node 24 is needed');
        }
        DatabaseSync = module.DatabaseSync;
        return { binding_version: null }; /* part of Node: its version is that of the runtime */
    },

    open: (path, options) => new Connection(path, options),

    classify(error) {
        return error.errcode === SQLITE_BUSY_SNAPSHOT ? 'conflict'
             : (error.errcode & 255) === SQLITE_BUSY ? 'busy' : 'failed';
    },

    code: (error) => error.errcode ?? 0,
};
