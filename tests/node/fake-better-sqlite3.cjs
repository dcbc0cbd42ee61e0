/*
 * Stands in for the package better-sqlite3 where the worker is tested: no database, but statements
 * that behave as they are told.
 *
 *     READ n         returns n rows              WRITE n        changes n rows
 *     BUSY           is busy                     CONFLICT n     conflicts n times, then writes one
 *     FAIL word      fails with that word        HANG           never comes back
 *     EXIT           ends its thread             ABORT          ends the process
 *     PRINT          prints, then writes a row   THROW          throws what is no error
 *     BLOCK n        writes a row in n ms
 */
'use strict';

if (process.env.FAKE_AT_IMPORT === 'throw') {
    throw new Error('this package does not load');
}
if (process.env.FAKE_AT_IMPORT === 'print') {
    console.log('{"kind":"result","job":"run"}');
}

const pragmas = { journal_mode: 'wal', synchronous: 1, cache_size: -2000, busy_timeout: 0 };

function error(code, message) {
    return Object.assign(new Error(message), { code });
}

class Statement {
    constructor(db, sql) {
        this.db = db;
        [this.verb, this.argument] = sql.split(' ');
        this.sql = sql;
        this.reader = this.verb === 'READ' || this.verb === 'SELECT' || this.verb === 'PRAGMA';
        this.readonly = this.reader;
        this.tries = 0;
    }

    safeIntegers() {
        return this;
    }

    raw() {
        return this;
    }

    all() {
        if (this.sql === 'SELECT sqlite_version()') {
            return [['9.8.7']];
        }
        return this.verb === 'READ' ? Array.from({ length: Number(this.argument) }, () => [1]) : [];
    }

    get() {
        return this.all()[0];
    }

    run() {
        switch (this.verb) {
        case 'BUSY':
            throw error('SQLITE_BUSY', 'database is locked');
        case 'CONFLICT':
            if (this.tries++ < Number(this.argument)) {
                throw error('SQLITE_BUSY_SNAPSHOT', 'database is locked');
            }
            this.tries = 0;
            return { changes: 1 };
        case 'FAIL':
            throw error('SQLITE_CONSTRAINT_UNIQUE', `${this.argument} ${this.db.failures++ % 12}`);
        case 'HANG':
            for (;;) {
                /* Machine code that does not come back, as far as the worker can tell. */
            }
        case 'BLOCK':
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(this.argument));
            return { changes: 1 };
        case 'EXIT':
            process.exit(7);
            break;
        case 'ABORT':
            process.kill(process.pid, 'SIGABRT');
            break;
        case 'PRINT':
            console.log('{"kind":"error","phase":"run","message":"printed by a package"}');
            console.error('and to the other descriptor');
            return { changes: 1 };
        case 'THROW':
            throw null;
        default:
        }
        return { changes: Number(this.argument) };
    }
}

module.exports = class Database {
    constructor(path) {
        this.path = path;
        this.inTransaction = false;
        this.failures = 0;
    }

    defaultSafeIntegers() {}

    exec(sql) {
        this.inTransaction = this.inTransaction && sql !== 'ROLLBACK';
    }

    prepare(sql) {
        if (sql.startsWith('WRONG')) {
            throw error('SQLITE_ERROR', 'near "WRONG": syntax error');
        }
        return new Statement(this, sql);
    }

    transaction(body) {
        const run = () => {
            this.inTransaction = true;
            try {
                body();
                this.inTransaction = false;
            } finally {
                this.inTransaction = false;
            }
        };
        return { immediate: run, deferred: run };
    }

    pragma(source) {
        const [name, value] = source.split(' = ');
        if (value === undefined) {
            return pragmas[name];
        }
        if (value === 'refused') {
            throw error('SQLITE_ERROR', 'no such value');
        }
        pragmas[name] = value;
        return undefined;
    }

    close() {}
};
