/* worker.mjs over its pipes, with a package that is none: protocol, accounts, faults. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { CAN_EXECVE, Client, job, make_fake_folder, remove_folder, run_job, script, step }
    from './worker-client.mjs';
import { Pace } from '../../engines/node/pace.mjs';

const folder = make_fake_folder();
const database = join(folder, 'database');
const clients = [];
after(() => {
    clients.forEach((client) => client.kill());
    remove_folder(folder);
});

function start(words = [], options = {}) {
    const client = new Client(folder, ['--engine', 'fake', '--binding', 'better-sqlite3', ...words],
                              options);
    clients.push(client);
    return client;
}

/* An end while threads were running is a signal where Node cannot do it otherwise. */
function assert_ended({ status, signal }, expected) {
    if (CAN_EXECVE || signal !== 'SIGKILL') {
        assert.deepEqual({ status, signal }, { status: expected, signal: null });
    }
}

async function started(line, words, options) {
    const client = start(words, options);
    await client.expect('hello');
    client.send(line);
    return client;
}

async function fails(line, phase, pattern) {
    const client = await started(line);
    const error = await client.expect('error');
    assert.equal(error.phase, phase);
    assert.match(error.message, pattern);
    assert_ended(await client.ended(), 1);
    return error;
}

async function runs(line) {
    const client = await started(line);
    const ready = await client.expect('ready');
    const at_ns = client.go();
    const result = await client.expect('result');
    assert_ended(await client.ended(), 0);
    assert.equal(result.started_ns, at_ns);
    check_result(line, result);
    return { client, ready, result };
}

/* What holds for every result. */
function check_result(line, result) {
    const entries = line.roles.flatMap(({ scripts }, role) => scripts.map((s) => [role, s.script]));
    assert.deepEqual(result.scripts.map((s) => [s.role, s.script]), entries);
    result.scripts.forEach((s, i) => {
        assert.equal(s.attempted, s.ok + s.busy + s.conflict + s.failed + s.skipped + s.open);
        assert.equal(s.latency.count, s.ok);
        const counted = s.latency.buckets.reduce((sum, [, n]) => sum + n, 0);
        assert.equal(counted + s.latency.overflow, s.ok);
        assert.equal(result.seconds.reduce((sum, second) => sum + second.operations[i], 0), s.ok);
        assert.equal(result.seconds.reduce((sum, second) => sum + second.slow[i], 0), s.slow);
    });
    const ok = result.scripts.reduce((sum, s) => sum + s.ok, 0);
    assert.equal(result.connections.reduce((sum, c) => sum + c.operations, 0), ok);
    for (const connection of result.connections) {
        assert.ok(connection.ended_ns >= result.started_ns);
        assert.ok(connection.ended_ns <= result.ended_ns);
        assert.equal(connection.slept_ns, null);
        assert.equal(connection.waits, null);
    }
}

/* ---- beginning and end ----------------------------------------------------------------- */

test('a wrong command line ends with status 2', async () => {
    for (const words of [['--binding', 'nonsense'], ['--option', 'integers'], ['--wrong', '1']]) {
        const client = start(words);
        assert.deepEqual(await client.ended(), { status: 2, signal: null });
        assert.match(client.log, /usage:/);
    }
});

test('hello says what is inside', async () => {
    const client = start();
    const hello = await client.expect('hello');
    assert.equal(hello.protocol, 1);
    assert.equal(hello.engine, 'fake');
    assert.equal(hello.version, '9.8.7');
    assert.equal(hello.binding_version, '1.2.3');
    assert.equal(hello.runtime, `node ${process.versions.node}`);
    assert.deepEqual(hello.capabilities, ['threads', 'check', 'verify', 'rate', 'event_loop']);
    assert.ok(hello.clock.cost_ns > 0 && hello.clock.resolution_ns > 0);
    client.end_input();
    assert_ended(await client.ended(), 1);
});

test('an unknown option, and a package that is missing or does not load, are named', async () => {
    const cases = [
        [['--option', 'speed=high'], {}, /no option speed; integers is one/],
        [['--option', 'integers=many'], {}, /must be number or bigint/],
        [['--binding', 'turso-js'], {}, /turso-js: its package is missing/],
        [[], { environment: { FAKE_AT_IMPORT: 'throw' } }, /this package does not load/],
    ];
    for (const [words, options, pattern] of cases) {
        const client = start(words, options);
        const error = await client.expect('error');
        assert.equal(error.phase, 'engine');
        assert.match(error.message, pattern);
        assert_ended(await client.ended(), 1);
    }
});

test('jobs that are wrong', async () => {
    const good = run_job(database, [script('a', ['READ 1'])]);
    const tree = structuredClone(good.scripts[0]);
    tree.statements[0].parameters = [3];
    const rows = { ...good.scripts[0], steps: [{ ...step('rows'), table: 't', steps: [] }] };
    const cases = [
        [{ ...good, protocol: 2 }, /protocol version 2, this worker speaks version 1/],
        [{ ...good, job: 'dance' }, /job kind dance is not known/],
        [{ ...good, job: 'load' }, /cannot load/],
        [{ ...good, seed: -1 }, /seed is -1/],
        [{ ...good, database: null }, /database is null/],
        [{ ...good, scripts: [tree] }, /no variable/],
        [{ ...good, scripts: [rows] }, /only a load may/],
        [{ ...good, connections_total: 1 }, /do not fit connections_total/],
        [{ ...good, rate: 0 }, /rate is 0, must be a number from 0.001 to 1000000000/],
        [{ ...good, rate: 1e12 }, /rate is 1000000000000/],
        [{ ...good, rate: '70' }, /rate is "70"/],
        [{ ...good, duration_ns: 5 }, /exactly one of duration_ns and operations/],
        [{ ...good, roles: [{ ...good.roles[0], operations: 0 }] }, /operations is 0/],
        [{ ...good, operations: undefined, duration_ns: 5,
           roles: [{ ...good.roles[0], operations: 3 }] }, /has operations, but the job lasts/],
        [{ ...good, roles: [{ ...good.roles[0], scripts: [{ script: 1, weight: 1 }] }] },
         /script is 1/],
    ];
    for (const [line, pattern] of cases) {
        await fails(line, 'job', pattern);
    }
    await fails({ kind: 'go', at_ns: 1 }, 'protocol', /line 'go' where the job should be/);
});

test('a line that is none', async () => {
    for (const text of ['nonsense\n', '[]\n', '{"no":"kind"}\n', '\xff\n']) {
        const client = start();
        await client.expect('hello');
        client.send_text(text);
        assert.equal((await client.expect('error')).phase, 'protocol');
        assert_ended(await client.ended(), 1);
    }
});

test('the end of input ends every state', async () => {
    const hanging = run_job(database, [script('a', ['HANG'])], { warmup: { operations: 0 } });
    const states = [
        async () => {},
        async (client) => {
            client.send(run_job(database, [script('a', ['READ 1'])]));
            await client.expect('ready');
        },
        async (client) => client.send({ ...hanging, warmup: { operations: 1 } }),
        async (client) => {
            client.send(hanging);
            await client.expect('ready');
            client.go();
        },
    ];
    for (const reach of states) {
        const client = start();
        await client.expect('hello');
        await reach(client);
        client.end_input();
        assert_ended(await client.ended(), 1);
    }
});

/* ---- runs -------------------------------------------------------------------------------- */

test('outcomes, rows and messages are counted', async () => {
    const scripts = [
        script('read', ['READ 3'], { kind: 'read' }), script('write', ['WRITE 2']),
        script('busy', ['BUSY']), script('retried', ['CONFLICT 2']),
        script('given_up', ['CONFLICT 9']),
        script('failed', ['WRITE 1', 'FAIL word']),
    ];
    const { ready, result } = await runs(run_job(database, scripts, { operations: 400 }));
    const [read, write, busy, retried, given_up, failed] = result.scripts;
    assert.equal(result.partial, false);
    assert.equal(ready.warmup_operations, 10);
    assert.equal(result.scripts.reduce((sum, s) => sum + s.attempted, 0), 800);
    assert.equal(read.rows_read, 3 * read.ok);
    assert.equal(write.rows_changed, 2 * write.ok);
    assert.equal(busy.busy, busy.attempted);
    assert.equal(busy.retries, 0);
    assert.equal(retried.ok, retried.attempted);
    assert.equal(retried.retries, 2 * retried.attempted);
    assert.ok(given_up.conflict > 0 && given_up.conflict + given_up.ok === given_up.attempted);
    assert.equal(failed.failed, failed.attempted);
    /* The statement before the one that failed stays written. */
    assert.ok(failed.acknowledged[0] >= failed.failed);
    assert.equal(failed.rows_changed, 0);
    assert.equal(failed.errors.length, 9);
    assert.deepEqual(Object.keys(failed.errors[0]).sort(),
                     ['code', 'count', 'message', 'statement']);
    assert.equal(failed.errors[0].statement, 1);
    assert.equal(failed.errors[0].code, 19);
    assert.equal(failed.errors[8].message, 'other messages than the first 8');
    assert.equal(failed.errors.reduce((sum, { count }) => sum + count, 0), failed.failed);
});

test('a role may have a number of executions of its own', async () => {
    const job = run_job(database, [script('a', ['READ 1'])], { connections: 3 });
    job.roles = [{ ...job.roles[0], name: 'few', connections: 1, operations: 7 },
                 { ...job.roles[0], name: 'many', connections: 2 }];
    const { result } = await runs(job);
    assert.deepEqual(result.scripts.map(({ role, attempted }) => [role, attempted]),
                     [[0, 7], [1, 200]]);
});

test('rows of a transaction count when it is committed', async () => {
    const steps = [step('begin_write'), step('statement', 0), step('statement', 1), step('commit')];
    const scripts = [script('good', ['WRITE 1', 'WRITE 2'], { steps }),
                     script('bad', ['WRITE 1', 'FAIL x'], { steps })];
    const { ready, result } = await runs(run_job(database, scripts));
    const [good, bad] = result.scripts;
    const warm = Object.fromEntries(ready.acknowledged.map((a) => [a.statement, a.rows_changed]));
    assert.deepEqual(good.acknowledged, [good.ok + warm[0], 2 * good.ok + warm[1]]);
    assert.deepEqual(bad.acknowledged, [0, 0]);
    assert.ok(ready.acknowledged.every((a) => a.script === 0));
});

test('settings are read back on every connection', async () => {
    const settings = [{ name: 'cache_size', value: '-65536', required: true },
                      { name: 'unknown_thing', value: 'refused', required: false }];
    const { ready } = await runs(run_job(database, [script('a', ['READ 1'])], { settings }));
    assert.equal(ready.connections.length, 2);
    for (const connection of ready.connections) {
        assert.deepEqual(connection.settings, [
            { name: 'cache_size', asked: '-65536', got: '-65536', required: true, problem: null },
            { name: 'unknown_thing', asked: 'refused', got: null, required: false,
              problem: 'no such value' }]);
    }
    settings[1].required = true;
    await fails(run_job(database, [script('a', ['READ 1'])], { settings }), 'settings',
                /unknown_thing = refused: no such value/);
});

test('a script that cannot be prepared is named', async () => {
    const wrong = await fails(run_job(database, [script('a', ['READ 1']), script('b', ['WRONG'])]),
                              'prepare', /syntax error/);
    assert.deepEqual([wrong.script, wrong.statement, wrong.code], [1, 0, 1]);
    await fails(run_job(database, [script('a', ['WRITE 1'], { kind: 'read' })]), 'prepare',
                /this statement writes/);
    await fails(run_job(join(folder, 'absent'), [script('a', ['READ 1'])]), 'open', /no such file/);
});

test('a mistake in arithmetic is told with its place', async () => {
    const divide = script('a', ['READ 1']);
    divide.variables = [{ name: 'x', type: 'integer', from: 'set' }];
    const zero = { op: 'constant', type: 'integer', value: 0, place: [4, 9] };
    divide.steps.unshift({ step: 'set', variable: 0, place: [4, 1],
                           expression: { op: 'divide', type: 'integer', arguments: [zero, zero],
                                         place: [4, 8] } });
    const error = await fails(run_job(database, [divide]), 'warmup', /^division by zero$/);
    assert.deepEqual([error.script, error.place], [0, [4, 8]]);
});

/* ---- an open loop ------------------------------------------------------------------------- */

/* Arrivals of a connection before a moment after go. */
function arrivals(line, number, until_ns) {
    const pace = new Pace(line, number, 0, 0);
    let count = 0;
    for (; pace.due_ns < until_ns; count++) {
        pace.next();
    }
    return count;
}

function check_parts({ ok, latency, service, lag, slow }) {
    assert.deepEqual([latency.count, service.count, lag.count], [ok, ok, ok]);
    assert.equal(latency.sum, service.sum + lag.sum);
    assert.ok(latency.max <= service.max + lag.max && slow <= ok);
}

test('an open loop begins what is due, and no more', async () => {
    const line = run_job(database, [script('a', ['READ 1']), script('b', ['WRITE 1'])], {
        rate: 400, duration_ns: 500000000, connections: 3,
    });
    const { result } = await runs(line);
    result.connections.forEach(({ connection, offered, unstarted, ended_ns }) => {
        assert.equal(offered, arrivals(line, connection, line.duration_ns));
        assert.ok(unstarted <= offered);
        assert.ok(ended_ns >= result.started_ns + line.duration_ns);
    });
    const attempted = result.scripts.reduce((sum, s) => sum + s.attempted, 0);
    const begun = result.connections.reduce((sum, c) => sum + c.offered - c.unstarted, 0);
    assert.equal(attempted, begun);
    assert.ok(attempted > 0);
    result.scripts.forEach(check_parts);
});

test('an open loop of so many operations', async () => {
    const { result } = await runs(run_job(database, [script('a', ['READ 1'])],
                                          { rate: 2500.5, operations: 30 }));
    assert.equal(result.scripts[0].ok, 60);
    check_parts(result.scripts[0]);
    for (const { offered, unstarted } of result.connections) {
        assert.equal(offered - unstarted, 30);
    }
});

test('a closed loop says nothing of an open one', async () => {
    const { result } = await runs(run_job(database, [script('a', ['READ 1'])], { rate: null }));
    assert.equal(result.scripts[0].service, undefined);
    assert.equal(result.scripts[0].lag, undefined);
    assert.equal(result.connections[0].offered, undefined);
});

test('what waits behind a call that does not come back never began', async () => {
    const line = run_job(database, [script('a', ['HANG'])], {
        warmup: { operations: 0 }, duration_ns: 200000000, grace_ns: 50000000, rate: 1000,
    });
    const { result } = await runs(line);
    assert.deepEqual([result.scripts[0].attempted, result.scripts[0].open], [2, 2]);
    for (const { connection, offered, unstarted } of result.connections) {
        assert.equal(offered, arrivals(line, connection, line.duration_ns));
        assert.equal(unstarted, offered - 1);
    }
});

test('stop ends the wait for an operation that is far away', async () => {
    const client = await started(run_job(database, [script('a', ['READ 1'])], {
        rate: 0.001, duration_ns: 60000000000,
    }));
    await client.expect('ready');
    client.go();
    client.send({ kind: 'stop' });
    const result = await client.expect('result');
    assert.equal(result.partial, true);
    assert.deepEqual(result.connections.map(({ offered, unstarted }) => [offered, unstarted]),
                     [[0, 0], [0, 0]]);
    assert_ended(await client.ended(), 0);
});

/* ---- what goes on too long ----------------------------------------------------------------- */

test('a call that does not come back is open, and the others are counted', async () => {
    const line = run_job(database, [script('good', ['WRITE 1']), script('bad', ['HANG'])], {
        warmup: { operations: 0 }, duration_ns: 200000000, grace_ns: 50000000,
    });
    line.roles = [{ name: 'one', connections: 1, scripts: [{ script: 0, weight: 1 }] },
                  { name: 'two', connections: 1, scripts: [{ script: 1, weight: 1 }] }];
    const { result } = await runs(line);
    assert.deepEqual([result.scripts[1].attempted, result.scripts[1].open], [1, 1]);
    assert.ok(result.scripts[0].ok > 0);
    assert.equal(result.close_ns, null);
    assert.equal(result.connections[1].ended_ns, result.started_ns);
    assert.ok(result.connections[1].late_ns >= 0);
});

test('stop in the run makes it partial', async () => {
    const client = await started(run_job(database, [script('a', ['READ 1'])], {
        duration_ns: 60000000000,
    }));
    await client.expect('ready');
    client.go();
    client.send({ kind: 'stop' });
    const result = await client.expect('result');
    assert.equal(result.partial, true);
    assert_ended(await client.ended(), 0);
});

test('stop before go gives an empty window', async () => {
    for (const warmup of [{ operations: 3 }, { ns: 60000000000 }]) {
        const line = run_job(database, [script('a', ['WRITE 1'])], { warmup });
        const client = await started(line);
        if (warmup.operations !== undefined) {
            await client.expect('ready');
        }
        client.send({ kind: 'stop' });
        const result = await client.expect('result');
        assert.equal(result.partial, true);
        assert.equal(result.started_ns, result.ended_ns);
        assert.deepEqual(result.seconds, []);
        assert.equal(result.scripts[0].attempted, 0);
        assert_ended(await client.ended(), 0);
    }
});

/* Another thread than the first does not start, as with too low a limit of processes. */
const ONE_THREAD = `import threads from 'node:worker_threads';
    import { syncBuiltinESMExports } from 'node:module';
    let started = 0;
    threads.Worker = class extends threads.Worker {
        constructor(...words) {
            if (++started > 1) {
                throw new Error('EAGAIN');
            }
            super(...words);
        }
    };
    syncBuiltinESMExports();`;

test('a thread that cannot start is named', async () => {
    const line = run_job(database, [script('a', ['SELECT'])], { connections: 3 });
    const options = `--import=data:text/javascript,${encodeURIComponent(ONE_THREAD)}`;
    const client = await started(line, [], { environment: { NODE_OPTIONS: options } });
    const error = await client.expect('error');
    assert.match(error.message, /could not start thread 2 of 3 of role .*: EAGAIN/);
    assert_ended(await client.ended(), 1);
});

test('a path that is no UTF-8 is named as it would be shown', async () => {
    await fails(run_job('/w/\\xff.db', [script('a', ['SELECT'])]), 'job',
                /the path \/w\/\ufffd\.db is no UTF-8/);
});

test('a thread that ends by itself is an error', async () => {
    const client = await started(run_job(database, [script('a', ['EXIT'])],
                                         { warmup: { operations: 0 } }));
    await client.expect('ready');
    client.go();
    const error = await client.expect('error');
    assert.match(error.message, /a thread ended with status 7/);
    assert_ended(await client.ended(), 1);
});

test('a process that aborts has no result', async () => {
    const client = await started(run_job(database, [script('a', ['ABORT'])],
                                         { warmup: { operations: 0 } }));
    await client.expect('ready');
    client.go();
    assert.equal((await client.ended()).signal, 'SIGABRT');
});

test('what a package prints lands in the log and changes nothing', async () => {
    const client = await started(run_job(database, [script('a', ['PRINT'])]), [],
                                 { environment: { FAKE_AT_IMPORT: 'print' } });
    await client.expect('ready');
    client.go();
    const result = await client.expect('result');
    assert.equal(result.scripts[0].ok, 200);
    assert_ended(await client.ended(), 0);
    assert.match(client.log, /"job":"run"/);
});

test('what is thrown and no error is a failed execution', async () => {
    const { result } = await runs(run_job(database, [script('a', ['THROW'])]));
    assert.equal(result.scripts[0].failed, 200);
});

/* ---- check, verify ------------------------------------------------------------------- */

test('stop ends a verify with an error', async () => {
    const line = job('verify', database,
                     { scripts: [script('a', ['HANG'])], operations: 10, ignore: [] });
    const client = await started(line);
    client.send({ kind: 'stop' });
    const error = await client.expect('error');
    assert.deepEqual([error.phase, error.message], ['verify', 'stopped by the coordinator']);
    assert_ended(await client.ended(), 1);
});
