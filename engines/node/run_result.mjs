/* Adds up what the connections counted; src/worker/run_result.c. */
import { OK, tally_new } from './account.mjs';
import { Failure } from './failure.mjs';
import { since } from './clock.mjs';
import { Pace } from './pace.mjs';
import { usage_between } from './usage.mjs';
import { whole_number } from './wire.mjs';

/* ---- ready ---------------------------------------------------------------------------- */

function acknowledged(run, script, statement) {
    let rows = 0;
    for (const { role, account } of run.connections) {
        run.job.roles[role].scripts.forEach((share, i) => {
            rows += share.script === script ? account.tallies[i].acknowledged_rows(statement) : 0;
        });
    }
    return rows;
}

export function run_ready(run) {
    const { job, connections } = run;
    const entries = [];
    job.scripts.forEach(({ statements }, script) => statements.forEach((_, statement) => {
        const rows_changed = acknowledged(run, script, statement);
        if (rows_changed > 0) {
            entries.push({ script, statement, rows_changed });
        }
    }));
    return {
        kind: 'ready',
        warmup_operations: connections.reduce((sum, c) => sum + c.warmup_operations, 0),
        warmup_ns: run.warmup_ns,
        acknowledged: entries,
        connections: connections.map(({ number, role, settings }) =>
            ({ connection: number, role, settings })),
    };
}

/* ---- result --------------------------------------------------------------------------- */

/* An entry for each script of each role, in the job's order. */
function entries_of(job) {
    return job.roles.flatMap(({ scripts }, role) =>
        scripts.map(({ script }, share) => ({ role, share, script })));
}

function check(json, name) {
    const { attempted, latency, service, lag } = json;
    const sum = ['ok', 'busy', 'conflict', 'failed', 'skipped', 'open']
        .reduce((all, key) => all + json[key], 0);
    if (attempted !== sum) {
        throw new Failure('internal', `internal: script ${name}: ${attempted} attempts, but the ` +
                                      `outcomes add up to ${sum}`);
    }
    if (latency.count !== json.ok) {
        throw new Failure('internal', `internal: script ${name}: ${latency.count} latencies, but ` +
                                      `${json.ok} executions were ok`);
    }
    if (service !== undefined && (service.count !== json.ok || lag.count !== json.ok ||
                                  BigInt(service.sum) + BigInt(lag.sum) !== BigInt(latency.sum))) {
        throw new Failure('internal', `internal: script ${name}: ${json.ok} latencies of ` +
                                      `${latency.sum} ns, ${service.count} service times of ` +
                                      `${service.sum} ns, ${lag.count} lags of ${lag.sum} ns`);
    }
    return json;
}

function script_json(run, { role, share, script }) {
    const { name, statements } = run.job.scripts[script];
    const sum = tally_new(statements.length, run.job.rate !== null);
    for (const connection of run.connections) {
        if (connection.role === role) {
            sum.merge(connection.account.tallies[share]);
        }
    }
    return { role, script, ...check(sum.to_json(), name) };
}

/* What an open loop asked of a connection, and what of it never began. One that was given up
 * cannot tell: the arrivals are drawn once more. */
function backlog_json({ job, base_s, at_ns }, { number, account, given_up }) {
    if (job.rate === null) {
        return {};
    }
    let { unstarted } = account;
    if (given_up) {
        const at = since(base_s, at_ns);
        const pace = new Pace(job, number, base_s, at);
        for (let begun = 0; begun < account.done; begun++) {
            pace.next();
        }
        unstarted = pace.backlog(Math.min(account.ended_ns, at + (job.duration_ns ?? Infinity)),
                                 job.connection_count);
    }
    return { offered: account.done + unstarted, unstarted };
}

function connection_json(run, connection) {
    const { number, role, account, cpu_ns, run_queue_ns, off_cpu_ns } = connection;
    const at = since(run.base_s, run.at_ns);
    const moment = (ns) => whole_number(BigInt(Math.max(ns, at) - at) + run.at_ns);
    return {
        connection: number, role,
        operations: account.tallies.reduce((all, tally) => all + tally.outcome(OK), 0),
        ended_ns: moment(account.settled_ns), cpu_ns, run_queue_ns, off_cpu_ns, slept_ns: null,
        waits: null,
        late_ns: account.first_ns === null ? null : account.first_ns - at,
        ...backlog_json(run, connection),
    };
}

/* Intervals of one width: a wider connection's count for several of a narrower one's. */
function seconds_json(run, entries) {
    const all = run.connections.map(({ account }) => account.seconds);
    const width = Math.max(...all.map(({ state }) => state[1]));
    const last = Math.max(...all.map(({ state }) => Math.floor((state[0] * state[1]) / width)));
    const seconds = [];
    for (let index = 0; index <= last; index++) {
        const operations = entries.map(() => 0);
        const slow = entries.map(() => 0);
        run.connections.forEach(({ role, account: { seconds: counts } }) => {
            const parts = width / counts.state[1];
            entries.forEach((entry, i) => {
                for (let part = 0; entry.role === role && part < parts; part++) {
                    const [ran, over] = counts.get(index * parts + part, entry.share);
                    operations[i] += ran;
                    slow[i] += over;
                }
            });
        });
        seconds.push({ at_ns: (index + 1) * width, operations, slow });
    }
    return seconds;
}

export function run_result(run) {
    const entries = entries_of(run.job);
    const measured = run.connections.some(({ left, given_up }) => left || given_up);
    if (!measured) {
        run.connections.forEach(({ account }) => account.restart());
    }
    const at = since(run.base_s, run.at_ns);
    const ended = Math.max(at, ...run.connections.map(({ account }) => account.ended_ns));
    return {
        kind: 'result', job: 'run', partial: run.partial, started_ns: whole_number(run.at_ns),
        ended_ns: whole_number(run.at_ns + BigInt(ended - at)),
        ...usage_between(run.usage_start, run.usage_end),
        close_ns: run.close_ns, peak_memory_bytes: run.peak_memory_bytes,
        connections: run.connections.map((connection) => connection_json(run, connection)),
        scripts: entries.map((entry) => script_json(run, entry)),
        seconds: measured ? seconds_json(run, entries) : [],
    };
}
