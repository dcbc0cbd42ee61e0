/* worker.mjs with an event_loop job: a package of the tests' own, which blocks the loop for as long
 * as it is told. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { Client, call, constant, event_loop_job, make_fake_folder, remove_folder,
         script, set } from './worker-client.mjs';

const folder = make_fake_folder();
const database = join(folder, 'database');
const clients = [];
after(() => {
    clients.forEach((client) => client.kill());
    remove_folder(folder);
});

async function started(line) {
    const client = new Client(folder, ['--engine', 'fake', '--binding', 'better-sqlite3']);
    clients.push(client);
    await client.expect('hello');
    client.send(line);
    return client;
}

async function result_of(line) {
    const client = await started(line);
    const result = await client.expect('result');
    assert.deepEqual(await client.ended(), { status: 0, signal: null });
    return { client, result };
}

async function error_of(line) {
    const client = await started(line);
    const error = await client.expect('error');
    assert.deepEqual(await client.ended(), { status: 1, signal: null });
    return error;
}

function check_part(part) {
    assert.equal(part.attempted, part.ok + part.busy + part.conflict + part.failed);
    assert.equal(part.latency.count, part.ok);
    assert.ok(part.elapsed_ns > 0);
}

test('all parts are there, and their counts add up', async () => {
    const scripts = [script('read', ['READ 3'], { kind: 'read' }), script('write', ['WRITE 2']),
                     script('bad', ['FAIL unlucky'])];
    const { result } = await result_of(event_loop_job(database, scripts));
    assert.equal(result.job, 'event_loop');
    for (const part of [result.closed, result.paced]) {
        check_part(part);
        assert.ok(part.ok > 0 && part.failed > 0);
        assert.match(part.errors[0].message, /^unlucky/);
        assert.equal(part.errors.reduce((sum, { count }) => sum + count, 0), part.failed);
    }
    assert.deepEqual(result.in_flight, []); /* its calls block until they are done */
    const each_ns = result.closed.elapsed_ns / result.closed.attempted;
    assert.equal(result.paced.interval_ns, Math.round(2 * each_ns));
    /* Never more than were due. */
    const due = Math.ceil(200e6 / result.paced.interval_ns);
    assert.ok(result.paced.attempted <= due, `${result.paced.attempted} of ${due}`);
    for (const { lateness } of [result.bare, result.paced]) {
        assert.ok(lateness.count > 0);
        /* One timer at a time, which fires at most once in each millisecond that was touched. */
        assert.ok(lateness.count <= result.elapsed_ns / 1e6);
    }
});

test('a call that blocks is what makes the timer late', async () => {
    const line = event_loop_job(database, [script('slow', ['BLOCK 30'])], { length_ms: 600 });
    const { result } = await result_of(line);
    assert.ok(result.paced.ok > 0);
    assert.ok(result.paced.lateness.max > 28e6, `${result.paced.lateness.max} ns`);
});

test('without an operation that ends well there is no rate', async () => {
    const error = await error_of(event_loop_job(database, [script('bad', ['FAIL always'])]));
    assert.deepEqual([error.phase, error.script], ['event_loop', null]);
    assert.match(error.message, /^no operation ended well: always/);
});

test('a mistake in a script has its place', async () => {
    const wrong = script('wrong', ['READ 1'], { kind: 'read' });
    wrong.variables = [{ name: 'n', type: 'integer', from: 'set' }];
    wrong.steps.unshift(set(0, call('divide', constant(1), constant(0))));
    const error = await error_of(event_loop_job(database, [wrong]));
    assert.deepEqual([error.phase, error.script, error.place], ['event_loop', 0, [1, 1]]);
});

/* With parts of 2 s the loop is most likely turning without executions by then. */
test('stop ends it with an error', async () => {
    for (const [length_ms, wait_ms] of [[60000, 0], [2000, 1500]]) {
        const line = event_loop_job(database, [script('slow', ['BLOCK 5'])],
                                    { length_ms, warmup: { operations: 0 } });
        const client = await started(line);
        await new Promise((resolve) => {
            setTimeout(resolve, wait_ms);
        });
        client.send({ kind: 'stop' });
        const error = await client.expect('error');
        assert.deepEqual([error.phase, error.message],
                         ['event_loop', 'stopped by the coordinator']);
        await client.ended();
    }
});

test('the end of input ends it', async () => {
    const line = event_loop_job(database, [script('slow', ['BLOCK 5'])], { length_ms: 60000 });
    const client = await started(line);
    client.end_input();
    assert.equal((await client.ended()).status, 1);
});

test('a job that is wrong is named', async () => {
    const good = event_loop_job(database, [script('a', ['READ 1'], { kind: 'read' })]);
    const [role] = good.roles;
    const cases = [
        [{ roles: [role, role] }, /2 roles, must be 1 to 1/],
        [{ roles: [{ ...role, connections: 2 }] }, /one connection, not 2/],
        [{ in_flight: [0] }, /in_flight: 0 is 0, must be a whole number from 1 to 1024/],
        [{ duration_ns: 0 }, /duration_ns is 0/],
    ];
    for (const [change, pattern] of cases) {
        const error = await error_of({ ...good, ...change });
        assert.equal(error.phase, 'job');
        assert.match(error.message, pattern);
    }
});
