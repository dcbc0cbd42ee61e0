/* worker.mjs with the packages themselves, where they are (make engines): values as they are
 * stored and read, settings, locks. A database is made with the interpreter's own node:sqlite. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { digest_row, digest_text, Digest } from '../../engines/node/digest.mjs';
import { Client, call, constant, event_loop_job, job, make_engines_folder, remove_folder, run_job,
         script, set, step } from './worker-client.mjs';

const folder = make_engines_folder();
const skip = folder === null ? 'the Node engines are not built: make engines' : false;
/* It may be missing, or not be allowed to look at another process. */
const no_strace = spawnSync('strace', ['-e', 'trace=fsync', 'true']).status === 0 ? false
    : 'strace cannot be used here';
const BINDINGS = ['better-sqlite3', 'node:sqlite', 'turso-js', 'turso-js-async'];
const BIGINT = ['--option', 'integers=bigint'];
const work = mkdtempSync(join(tmpdir(), 'pitot-node-engines-'));
const clients = [];
after(() => {
    clients.forEach((client) => client.kill());
    remove_folder(work);
    if (folder !== null) {
        remove_folder(folder);
    }
});

const SCHEMA = `
    CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB);
    INSERT INTO t VALUES (1, 42, 2.5, 'ä''€😀', x'00ff'), (2, NULL, NULL, NULL, NULL),
                         (3, -1, 0.0, '', x'');
    CREATE TABLE big (id INTEGER PRIMARY KEY, i INTEGER);
    INSERT INTO big VALUES (1, 9007199254740991), (2, 9007199254740993);`;

function interpret(code, ...words) {
    return execFileSync(join(folder, 'node'), ['--input-type=module', '-e', code, ...words],
                        { encoding: 'utf8' });
}

let made = null;
function database(name) {
    made ??= interpret(`import { DatabaseSync } from 'node:sqlite';
        const db = new DatabaseSync(process.argv[1]);
        db.exec(process.argv[2]); db.close(); console.log(process.argv[1]);`,
                       join(work, 'template.db'), SCHEMA).trim();
    const path = join(work, `${name.replace(':', '-')}.db`);
    copyFileSync(made, path);
    return path;
}

function start(binding, words = []) {
    const client = new Client(folder, ['--engine', binding, '--binding', binding, ...words],
                              { interpreter: join(folder, 'node') });
    clients.push(client);
    return client;
}

/* The different calls by which a commit with synchronous=FULL syncs. */
function sync_calls_of(binding, path) {
    const driver = join(folder, 'drivers', `${binding.replace(':', '-')}.mjs`);
    const log = join(work, 'strace.log');
    execFileSync('strace', ['-f', '-o', log, '-e', 'trace=fsync,fdatasync', join(folder, 'node'),
                            '--input-type=module', '-e', `
        const { driver } = await import(process.argv[1]);
        await driver.load();
        const c = await driver.open(process.argv[2], { timeout_ms: 0, bigint: false });
        await c.set('journal_mode', 'wal');
        await c.set('synchronous', 'full');
        await c.exec('INSERT INTO t (i) VALUES (1)');
        await c.close();`, driver, path]);
    return [...new Set(readFileSync(log, 'utf8').match(/\bf(?:data)?sync(?=\()/g))];
}

async function answer(binding, line, words) {
    const client = start(binding, words);
    await client.expect('hello');
    client.send(line);
    const result = await client.expect('result');
    assert.deepEqual(await client.ended(), { status: 0, signal: null });
    return result;
}

function row_digest(row) {
    return digest_row(row);
}

/* What an operation of one read that gives these rows comes to. */
function operation_digest(rows) {
    const digest = new Digest();
    digest.byte('o'.charCodeAt(0));
    digest.count(0);
    rows.forEach((row) => digest.u64(...row_digest(row)));
    return digest_text(digest.end());
}

function table_digest(rows) {
    const digest = new Digest();
    let sum = 0n;
    for (const [high, low] of rows.map(row_digest)) {
        sum = BigInt.asUintN(64, sum + (BigInt(high) << 32n) + BigInt(low));
    }
    digest.count(rows.length);
    digest.u64(Number(sum >> 32n), Number(sum & 0xFFFFFFFFn));
    return digest_text(digest.end());
}

const ROWS = [[1, 42, 2.5, "ä'€😀", Buffer.from([0, 255])], [2, null, null, null, null],
              [3, -1, 0, '', Buffer.alloc(0)]];
const BIG = [[1, 9007199254740991n], [2, 9007199254740993n]];

function verify_job(path, scripts, more = {}) {
    return job('verify', path, { scripts, operations: 4, ignore: [], ...more });
}

for (const binding of BINDINGS) {
    test(`${binding}: the sync call is the one that a commit makes`, { skip: skip || no_strace },
         async () => {
        const client = start(binding);
        const { sync_call } = await client.expect('hello');
        client.kill();
        assert.deepEqual(sync_calls_of(binding, database(`${binding}-sync`)), [sync_call]);
    });

    test(`${binding}: values are read as they are stored`, { skip }, async () => {
        const scripts = [script('all', ['SELECT * FROM t ORDER BY id'], { kind: 'read' })];
        const result = await answer(binding, verify_job(database(binding), scripts));
        assert.deepEqual(new Set(result.scripts[0].value), new Set([operation_digest(ROWS)]));
        assert.deepEqual(result.tables, [
            { table: 'big', rows: 2, value: table_digest(BIG) },
            { table: 't', rows: 3, value: table_digest(ROWS) }]);
    });

    test(`${binding}: a number beyond 2^53 is never changed unseen`, { skip }, async () => {
        const scripts = [script('big', ['SELECT * FROM big ORDER BY id'], { kind: 'read' })];
        const path = database(binding);
        const exact = operation_digest(BIG);
        const plain = await answer(binding, verify_job(path, scripts));
        assert.ok(!plain.scripts[0].value.includes(exact));
        const bigint = await answer(binding, verify_job(path, scripts), BIGINT);
        assert.deepEqual(new Set(bigint.scripts[0].value), new Set([exact]));
    });

    test(`${binding}: what is bound comes back, an integer as one with bigint`, { skip },
         async () => {
        const bound = script('bound', ['SELECT ?, ?, ?, typeof(?), ? / 2'], { kind: 'read' });
        bound.variables = [{ name: 'i', type: 'integer', from: 'set' },
                           { name: 'd', type: 'double', from: 'set' },
                           { name: 's', type: 'text', from: 'set' }];
        bound.statements[0].parameters = [0, 1, 2, 0, 0];
        bound.steps.unshift(set(0, constant(7)), set(1, constant(0.25, 'double')),
                            set(2, constant('é\u{1F600}', 'text')));
        const path = database(binding);
        const expect = (type, half) => operation_digest([[7, 0.25, 'é\u{1F600}', type, half]]);
        const bigint = await answer(binding, verify_job(path, [bound]), BIGINT);
        assert.equal(bigint.scripts[0].value[3], expect('integer', 3));
        const plain = await answer(binding, verify_job(path, [bound]));
        const real = binding === 'better-sqlite3' || binding === 'node:sqlite';
        assert.equal(plain.scripts[0].value[3], real ? expect('real', 3.5) : expect('integer', 3));
    });

    test(`${binding}: an operation in detail`, { skip }, async () => {
        const detailed = script('detail', ['SELECT * FROM t WHERE id <= ? ORDER BY id',
                                           'UPDATE t SET i = 1 WHERE id = 1']);
        detailed.variables = [{ name: 'n', type: 'integer', from: 'set' }];
        detailed.statements[0].parameters = [0];
        detailed.steps.unshift(set(0, call('random', constant(1), constant(3))));
        const line = verify_job(database(binding), [detailed],
                                { detail: { script: 0, operation: 1, rows: 2 } });
        const result = await answer(binding, line);
        assert.deepEqual(result.parameters, { n: 3 });
        assert.equal(result.outcome, 'ok');
        assert.equal(result.message, null);
        assert.deepEqual(result.statements[0].values, ['3']);
        assert.deepEqual(result.statements[0].rows[1], ['2', 'NULL', 'NULL', 'NULL', 'NULL']);
        assert.deepEqual(result.statements[0].rows[0].slice(2), ['2.5', "'ä''€😀'", "x'00ff'"]);
        assert.equal(result.statements[0].more, 1);
        assert.equal(result.statements[1].rows_changed, 1);
    });

    test(`${binding}: writes, transactions and RETURNING`, { skip }, async () => {
        const transaction = script('transaction', [
            'INSERT INTO t (i) VALUES (5)', "UPDATE t SET s = 'x' WHERE i = 5 AND s IS NULL"]);
        transaction.steps = [step('begin_write'), ...transaction.steps, step('commit')];
        const returning = script('returning', ['INSERT INTO big (i) VALUES (1) RETURNING id']);
        const path = database(binding);
        const line = run_job(path, [transaction, returning], { connections: 1 });
        const client = start(binding);
        await client.expect('hello');
        client.send(line);
        await client.expect('ready');
        client.go();
        const result = await client.expect('result');
        assert.deepEqual(await client.ended(), { status: 0, signal: null });
        const [one, two] = result.scripts;
        assert.deepEqual([one.failed, two.failed, one.errors, two.errors], [0, 0, [], []]);
        assert.deepEqual([two.rows_read, two.rows_changed], [two.ok, two.ok]);
        assert.equal(one.rows_changed, 2 * one.ok);
        const check = await answer(binding, job('check', path, { tables: [], integrity: 'full' }));
        assert.deepEqual(check.rows, { big: 2 + two.acknowledged[0], t: 3 + one.acknowledged[0] });
        assert.deepEqual(check.integrity, ['ok']);
    });

    test(`${binding}: a locked database is busy, by its timeout`, { skip }, async () => {
        const path = database(binding);
        const line = run_job(path, [script('write', ['UPDATE t SET i = 1'])], {
            connections: 2, busy_timeout_ms: 0, operations: 300,
            settings: [{ name: 'journal_mode', value: 'wal', required: true }],
        });
        const client = start(binding);
        await client.expect('hello');
        client.send(line);
        await client.expect('ready');
        client.go();
        const [write] = (await client.expect('result')).scripts;
        assert.equal(write.failed, 0, JSON.stringify(write.errors));
        assert.equal(write.ok + write.busy + write.conflict, 600);
        assert.ok(write.ok > 0);
    });

    test(`${binding}: on the main thread, in flight where the binding has promises`, { skip },
         async () => {
        const transaction = script('transaction', [
            'INSERT INTO t (i) VALUES (5)', "UPDATE t SET s = 'x' WHERE i = 5 AND s IS NULL"]);
        transaction.steps = [step('begin_write'), ...transaction.steps, step('commit')];
        const read = script('read', ['SELECT * FROM t WHERE id = 1'], { kind: 'read' });
        const path = database(binding);
        const result = await answer(binding, event_loop_job(path, [transaction, read]));
        for (const part of [result.closed, result.paced, ...result.in_flight]) {
            assert.deepEqual([part.attempted, part.errors], [part.ok, []]);
            assert.ok(part.ok > 0);
        }
        assert.deepEqual(result.in_flight.map(({ in_flight }) => in_flight),
                         binding === 'turso-js-async' ? [1, 4] : []);
        const check = await answer(binding, job('check', path, { tables: [], integrity: 'full' }));
        assert.deepEqual(check.integrity, ['ok']);
        assert.ok(check.rows.t > 3);
    });

    /* Where the other one is writing at that moment SQLite says busy at once: to wait would be to
     * wait for each other. */
    test(`${binding}: a stale snapshot is a conflict and no failure`, { skip }, async () => {
        const stale = script('stale', ['SELECT count(*) FROM t',
                                       'UPDATE t SET i = i + 1 WHERE id = 1']);
        stale.steps = [step('begin_read'), ...stale.steps, step('commit')];
        const line = run_job(database(binding), [stale], {
            operations: 3000, max_tries: 1000, busy_timeout_ms: 2000,
            settings: [{ name: 'journal_mode', value: 'wal', required: true }],
        });
        const client = start(binding);
        await client.expect('hello');
        client.send(line);
        await client.expect('ready');
        client.go();
        const [{ ok, busy, conflict, errors, retries }] = (await client.expect('result')).scripts;
        await client.ended();
        assert.deepEqual([ok + busy + conflict, errors], [6000, []]);
        assert.ok(ok > 0 && busy + retries > 0);
    });

    test(`${binding}: a read that writes is refused, an unknown setting reads as nothing`, { skip },
         async () => {
        const path = database(binding);
        const settings = [{ name: 'no_such_thing', value: '3', required: false }];
        const client = start(binding);
        await client.expect('hello');
        client.send(run_job(path, [script('a', ['SELECT 1'], { kind: 'read' })], { settings }));
        const ready = await client.expect('ready');
        assert.equal(ready.connections[0].settings[0].got, null);
        client.send({ kind: 'stop' });
        await client.expect('result');
        await client.ended();

        const other = start(binding);
        await other.expect('hello');
        other.send(run_job(path, [script('a', ['DELETE FROM t'], { kind: 'read' })]));
        const error = await other.expect('error');
        assert.deepEqual([error.phase, error.script, error.statement], ['prepare', 0, 0]);
        assert.match(error.message, /this statement writes/);
        await other.ended();
    });
}
