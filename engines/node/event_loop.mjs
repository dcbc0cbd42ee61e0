/*
 * What an engine does to the event loop of a process that serves others meanwhile: one connection
 * on the main thread, beside it a timer of 1 ms (timer.mjs).
 *
 *     closed      one operation after the other: the rate
 *     bare        the loop turns and does nothing: what the machine itself does to the timer
 *     paced       one operation a macrotask, evenly spaced, at half that rate
 *     in flight   for bindings with promises: so many operations at once on the one connection
 *
 * In `bare` and `paced` the loop never sleeps (setImmediate() after setImmediate()), for a wake-up
 * would be as late as many an operation is long; so both differ by the operations alone. The main
 * thread hears of the coordinator between two operations, or two slices of those that come one
 * after the other.
 */
import { Account, OUTCOMES, account_memory, tally_new } from './account.mjs';
import { clock_base_s, clock_ns, now_ns, since } from './clock.mjs';
import { no_signals } from './control.mjs';
import { load_driver } from './drivers.mjs';
import { Failure } from './failure.mjs';
import { Loop, mistake_of } from './loop.mjs';
import { open_database } from './open.mjs';
import { settings_apply } from './settings.mjs';
import { Timer } from './timer.mjs';

const PHASE = 'event_loop';
const SLICE_NS = 200000000n;
/* Of the length of a part, what operations in flight run before they are counted. */
const IN_FLIGHT_WARMUP = 5n;

/* A connection of which several operations are in flight: the binding's own helper has rolled its
 * transaction back, and another one's must not be. */
function shared(connection) {
    return { prepare: (sql, wanted) => connection.prepare(sql, wanted),
             transactions: (body) => connection.transactions(body), rollback: () => {} };
}

class EventLoop {
    constructor(worker, job) {
        this.worker = worker;
        this.job = job;
        this.base_s = clock_base_s();
        this.half_ns = BigInt(Math.ceil(job.duration_ns / 2));
        this.done = 0;
        this.next_tell_ms = 0;
        this.lanes = [];
    }

    now = () => clock_ns(this.base_s);

    /* ---- the coordinator ---------------------------------------------------------------- */

    #tell(now_ms) {
        this.next_tell_ms = now_ms + 1000;
        this.worker.progress(PHASE, this.done, null, null, now_ms - this.started_ms);
    }

    /* Between two parts or slices: lets the loop turn, tells how far it is. */
    async #turn() {
        await new Promise((resolve) => {
            setImmediate(resolve);
        });
        this.#listen();
        const now_ms = performance.now();
        if (now_ms >= this.next_tell_ms) {
            this.#tell(now_ms);
        }
    }

    #listen() {
        const line = this.worker.inbox.take()?.line;
        if (line !== undefined) {
            this.worker.take_stop(line);
            throw new Failure(PHASE, 'stopped by the coordinator');
        }
    }

    /* ---- making ready -------------------------------------------------------------------- */

    async open() {
        const { job } = this;
        const { binding, bigint } = this.worker.binding;
        const { driver } = await load_driver(binding);
        this.driver = driver;
        this.worker.phase = 'open';
        this.connection = await open_database(driver, job, bigint);
        await settings_apply(driver, this.connection, job);
        const depths = driver.synchronous ? [] : job.in_flight;
        this.depths = depths;
        const lanes = Math.max(1, ...depths);
        const statements = job.roles[0].scripts.map(({ script }) =>
            job.scripts[script].statements.length);
        for (let number = 0; number < lanes; number++) {
            const account = new Account(account_memory({
                statements, base_s: this.base_s, paced: false, limit_ns: job.duration_ns,
            }));
            const connection = lanes > 1 ? shared(this.connection) : this.connection;
            const lane = new Loop({ driver, connection, job: { ...job, connections_total: lanes },
                                    role: job.roles[0], number, account, bigint,
                                    signals: no_signals() });
            await lane.prepare(false);
            lane.restart(false);
            this.lanes.push(lane);
        }
    }

    /* Operations one after the other in each of the lanes, for so long or so often. Gives the time
     * that they took. */
    async #closed(lanes, length_ns, operations = null) {
        const until_ns = length_ns === null ? null : now_ns() + length_ns;
        let took_ns = 0;
        for (let left = operations; left !== 0;) {
            const start_ns = now_ns();
            if (until_ns !== null && start_ns >= until_ns) {
                break;
            }
            const slice_ns = until_ns !== null && until_ns - start_ns < SLICE_NS
                ? until_ns : start_ns + SLICE_NS;
            lanes.forEach(({ account }) => account.set_done(0));
            await Promise.all(lanes.map((lane) => lane.run(PHASE, start_ns, slice_ns, left)));
            const ended_ns = Math.max(...lanes.map(({ account }) => account.ended_ns));
            took_ns += ended_ns - since(this.base_s, start_ns);
            const done = lanes.reduce((sum, { account }) => sum + account.done, 0);
            this.done += done;
            left = left === null ? null : left - done;
            await this.#turn();
        }
        return took_ns;
    }

    /* ---- parts ----------------------------------------------------------------------------- */

    #empty(lanes) {
        lanes.forEach(({ account }) => account.restart());
    }

    /* What the lanes counted since they were emptied. */
    #counts(lanes, elapsed_ns) {
        const sum = tally_new(0, false);
        lanes.forEach(({ account }) => account.tallies.forEach((tally) => sum.merge(tally)));
        const json = sum.to_json();
        const outcomes = OUTCOMES.map((name) => [name, json[name]]);
        return { elapsed_ns, attempted: json.attempted, ...Object.fromEntries(outcomes),
                 retries: json.retries, latency: json.latency,
                 errors: json.errors.map(({ statement, ...error }) => error) };
    }

    async #rate(lanes, length_ns) {
        this.#empty(lanes);
        const elapsed_ns = await this.#closed(lanes, length_ns);
        return this.#counts(lanes, elapsed_ns);
    }

    /* Turns the loop for so long; an operation each `interval_ns` (Infinity: none). One that is
     * due while another is in flight or the loop is held up comes as soon as it can. */
    #spin(length_ns, interval_ns) {
        const [lane] = this.lanes;
        const { synchronous } = this.driver;
        const timer = new Timer(this.now);
        const started = this.now();
        const end = started + length_ns;
        let due = interval_ns === Infinity ? Infinity : started;
        let busy = false;
        lane.account.start(started);
        return new Promise((resolve, reject) => {
            const back = () => {
                busy = false;
                this.done++;
            };
            const failed = (error) => {
                timer.stop();
                reject(mistake_of(error, PHASE, lane.drawn.index));
            };
            const turn = () => {
                const now = this.now();
                if (now >= end && !busy) {
                    resolve({ elapsed_ns: now - started, lateness: timer.stop() });
                    return;
                }
                try {
                    if (now >= due && now < end && !busy) {
                        due += interval_ns;
                        busy = true;
                        const outcome = lane.measure(lane, Infinity, 1);
                        if (synchronous) {
                            back();
                        } else {
                            outcome.then(back, failed);
                        }
                    }
                    this.#listen();
                } catch (error) {
                    failed(error);
                    return;
                }
                setImmediate(turn);
            };
            setImmediate(turn);
        });
    }

    async #paced(interval_ns) {
        const lanes = this.lanes.slice(0, 1);
        this.#empty(lanes);
        const { elapsed_ns, lateness } = await this.#spin(this.job.duration_ns, interval_ns);
        await this.#turn();
        return { interval_ns, ...this.#counts(lanes, elapsed_ns), lateness };
    }

    async #in_flight(depth) {
        const lanes = this.lanes.slice(0, depth);
        await this.#closed(lanes, this.half_ns / IN_FLIGHT_WARMUP);
        return { in_flight: depth, ...await this.#rate(lanes, this.half_ns) };
    }

    async all() {
        const { job, lanes } = this;
        const { time_ns, operations } = job.warmup;
        this.started_ms = performance.now();
        await this.open();
        this.worker.phase = PHASE;
        await this.#closed(lanes.slice(0, 1), time_ns === null ? null : BigInt(time_ns),
                           operations);
        const closed = await this.#rate(lanes.slice(0, 1), this.half_ns);
        if (closed.ok === 0) {
            throw new Failure(PHASE, 'no operation ended well: ' +
                                     (closed.errors[0]?.message ?? 'all met a lock'));
        }
        const { lateness } = await this.#spin(job.duration_ns, Infinity);
        const paced = await this.#paced(Math.round(2 * closed.elapsed_ns / closed.attempted));
        const in_flight = [];
        for (const depth of this.depths) {
            in_flight.push(await this.#in_flight(depth));
        }
        await this.connection.close();
        return { kind: 'result', job: 'event_loop',
                 elapsed_ns: Math.round((performance.now() - this.started_ms) * 1e6), closed,
                 bare: { lateness }, paced, in_flight };
    }
}

/* The result line. */
export async function run_event_loop(worker, job) {
    return new EventLoop(worker, job).all();
}
