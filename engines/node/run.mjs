/*
 * The main thread of a run; src/worker/run.c. It starts a thread for every connection, opens one
 * stage after the other, tells of progress, and ends what goes on too long.
 */
import { Account, account_memory } from './account.mjs';
import { clock_base_s, now_ns, since } from './clock.mjs';
import { Control, STAGE, control_memory } from './control.mjs';
import { Failure, failure_from_line } from './failure.mjs';
import { run_ready, run_result } from './run_result.mjs';
import { peak_memory_bytes, usage_now } from './usage.mjs';

const NS_PER_MS = 1e6;
const GO_AHEAD_MAX_NS = 60000000000n;
const GO_PAST_MAX_NS = 1000000000n;
/* The figures of the process are taken this much before `go`'s moment. */
const SNAPSHOT_AHEAD_MS = 5;
/* Threads that are between two calls come by themselves; how long those inside one are given
 * before they are given up, and how long a stop before `go` waits. */
const GIVE_UP_MS = 100;
const STOP_PATIENCE_MS = 2000;
const PROGRESS_MS = 1000;

function longest_ns(job) {
    return job.duration_ns === null ? Infinity : job.duration_ns + job.grace_ns;
}

class Run {
    constructor(worker, job) {
        this.worker = worker;
        this.inbox = worker.inbox;
        this.job = job;
        this.base_s = clock_base_s();
        const memory = control_memory(job.connection_count);
        this.control = new Control(memory);
        this.connections = [];
        this.given_up = false;
        this.partial = false;
        this.warmup_ns = 0;
        this.close_ns = null;
        this.at_ns = null;
        this.usage_start = null;
        this.usage_end = null;
        this.peak_memory_bytes = null;
        this.#start(memory);
    }

    #start(control) {
        const { job, worker } = this;
        let number = job.first_connection;
        for (const [role, { connections, scripts }] of job.roles.entries()) {
            for (let i = 0; i < connections; i++) {
                const account = account_memory({
                    statements: scripts.map(({ script }) => job.scripts[script].statements.length),
                    limit_ns: longest_ns(job), base_s: this.base_s, paced: job.rate !== null,
                });
                const connection = { number, role, account: new Account(account), settings: null,
                                     warmup_operations: 0, cpu_ns: null, run_queue_ns: null,
                                     off_cpu_ns: null, left: false, closed: null, given_up: false };
                this.connections.push(connection);
                const data = { part: 'connection', ...worker.binding, job, role, number, account,
                               control };
                worker.start_thread('./connection.mjs', data, connection,
                                    `${i + 1} of ${connections} of role ${job.roles[role].name}`);
                number++;
            }
        }
    }

    get done() {
        return this.connections.reduce((sum, { account }) => sum + account.done, 0);
    }

    /* Executions of all connections, each of which does what `of` says of its role; null: for a
     * time. */
    #planned(of) {
        return this.job.roles.reduce((sum, role) => (sum === null || of(role) === null
            ? null : sum + of(role) * role.connections), 0);
    }

    /* Takes a message of a thread into its connection. */
    #take(connection, message) {
        if (message.failed !== undefined) {
            throw failure_from_line(message.failed);
        }
        switch (message.reached) {
        case 'open':
            connection.settings = message.settings;
            break;
        case 'warm':
            connection.warmup_operations = message.operations;
            break;
        case 'left':
            connection.left = true;
            connection.cpu_ns = message.cpu_ns;
            connection.run_queue_ns = message.run_queue_ns;
            connection.off_cpu_ns = message.off_cpu_ns;
            this.usage_end = message.usage ?? this.usage_end;
            break;
        default:
            connection.closed = message;
        }
        connection.reached = message.reached;
    }

    /* Waits until `over()`; gives the coordinator's line that came before, 'time', or null. */
    async #until(over, phase, total, limit_ms = Infinity) {
        while (!over()) {
            const next_ms = Math.min(limit_ms, this.progress.next_ms);
            const event = await this.inbox.next(next_ms);
            if (event.message !== undefined) {
                this.#take(event.from, event.message);
            } else if (event.line !== undefined) {
                return event.line;
            } else if (performance.now() >= limit_ms) {
                return 'time';
            }
            this.#tell(phase, total);
        }
        return null;
    }

    #phase(phase) {
        const now = performance.now();
        this.progress = { started_ms: now, next_ms: now + PROGRESS_MS };
        this.worker.phase = phase;
    }

    #tell(phase, total) {
        const now = performance.now();
        if (now >= this.progress.next_ms) {
            this.progress.next_ms = now + PROGRESS_MS;
            this.worker.progress(phase, this.done, total, null, now - this.progress.started_ms);
        }
    }

    /* All connections have reached a stage; false: `stop` came first. */
    async #await_all(stage, phase, total) {
        const line = await this.#until(
            () => this.connections.every(({ reached }) => reached === stage), phase, total);
        if (line !== null) {
            this.worker.take_stop(line);
        }
        return line === null;
    }

    /* ---- stages ------------------------------------------------------------------------- */

    async #prepare() {
        const { job, control } = this;
        this.#phase('open');
        if (!await this.#await_all('open', 'open', null)) {
            return false;
        }
        this.#phase('warmup');
        const started_ns = now_ns();
        const { time_ns, operations } = job.warmup;
        control.set_moments({ warmup_ns: time_ns === null ? null : started_ns + BigInt(time_ns) });
        control.open(STAGE.WARMUP);
        const warm = await this.#await_all('warm', 'warmup', this.#planned(() => operations));
        this.warmup_ns = Number(now_ns() - started_ns);
        return warm;
    }

    async #await_go() {
        this.worker.phase = 'go';
        const line = await this.worker.next_line();
        if (line.kind !== 'go') {
            this.worker.take_stop(line);
            return false;
        }
        const at = line.at_ns;
        const whole = Number.isSafeInteger(at) || (typeof at === 'string' && /^\d{1,18}$/.test(at));
        const now = now_ns();
        if (!whole || BigInt(at) > now + GO_AHEAD_MAX_NS || BigInt(at) + GO_PAST_MAX_NS < now) {
            throw new Failure('protocol', `go: at_ns is ${JSON.stringify(at)} and the monotonic ` +
                                          `clock ${now}: it must lie ahead, at most a minute`);
        }
        this.at_ns = BigInt(at);
        return true;
    }

    async #measure() {
        const { job, control } = this;
        this.#phase('run');
        const deadline_ns = job.duration_ns === null ? null : this.at_ns + BigInt(job.duration_ns);
        /* In case that the moment is past before the wait below ends. */
        this.usage_start = usage_now();
        control.set_moments({ at_ns: this.at_ns, deadline_ns });
        control.open(STAGE.RUN);
        const to_ms = (moment_ns) => performance.now() + Number(moment_ns - now_ns()) / NS_PER_MS;
        const total = this.#planned((role) => role.operations);
        const grace_ms = job.grace_ns / NS_PER_MS;
        let cut_ms = deadline_ns === null ? Infinity : to_ms(deadline_ns) + grace_ms;
        const snapshot_ms = to_ms(this.at_ns) - SNAPSHOT_AHEAD_MS;
        const all_left = () => this.connections.every(({ left }) => left);
        let line = await this.#until(all_left, 'run', total, snapshot_ms);
        if (line === 'time') {
            this.usage_start = usage_now();
        }
        while (!all_left()) {
            if (line !== null && line !== 'time') {
                this.worker.take_stop(line);
                control.stop();
                this.partial ||= deadline_ns === null || now_ns() < deadline_ns;
                cut_ms = Math.min(cut_ms, performance.now() + grace_ms);
            } else if (performance.now() >= cut_ms) {
                await this.#cut(all_left);
                return;
            }
            line = await this.#until(all_left, 'run', total, cut_ms);
        }
    }

    /* Ends what is still running: calls that come back now are the last of their operation, and
     * those that do not are given up. */
    async #cut(all_left) {
        this.control.cut();
        const over = () => this.connections.every(({ left, given_up }) => left || given_up);
        while (!over()) {
            const line = await this.#until(over, 'run', null, performance.now() + GIVE_UP_MS);
            if (line !== null && line !== 'time') {
                this.worker.take_stop(line);
            }
            for (const connection of this.connections) {
                if (!connection.left && !connection.given_up) {
                    const now = since(this.base_s, now_ns());
                    connection.given_up = connection.account.give_up(now);
                }
            }
        }
        if (!all_left()) {
            this.given_up = true;
            this.usage_end = usage_now();
        }
    }

    /* `stop` came before `go`: a result without a measured part, its window empty. */
    async #without_measuring() {
        this.partial = true;
        this.control.stop();
        this.control.open(STAGE.CLOSING);
        const limit_ms = performance.now() + STOP_PATIENCE_MS;
        const closed = () => this.connections.every((connection) => connection.closed !== null);
        const line = await this.#until(closed, this.worker.phase, null, limit_ms);
        if (line !== null) {
            throw new Failure('open',
                              'stopped by the coordinator; a connection does not come back');
        }
        this.at_ns = now_ns();
        this.usage_start = usage_now();
        this.usage_end = this.usage_start;
    }

    /* Connections that were given up stay as they are. */
    async #close() {
        this.#phase('close');
        this.control.open(STAGE.CLOSING);
        const closing = this.connections.filter(({ given_up }) => !given_up);
        const all_closed = () => closing.every(({ closed }) => closed !== null);
        const line = await this.#until(all_closed, 'close', null);
        if (line !== null) {
            this.worker.take_stop(line);
            await this.#close();
            return;
        }
        if (!this.given_up) {
            const began = closing.map(({ closed }) => closed.began_ns);
            const ended = closing.map(({ closed }) => closed.ended_ns);
            const first = began.reduce((a, b) => (a < b ? a : b));
            this.close_ns = Number(ended.reduce((a, b) => (a > b ? a : b)) - first);
        }
    }

    async all() {
        if (await this.#prepare()) {
            this.worker.send(run_ready(this));
            if (await this.#await_go()) {
                await this.#measure();
                await this.#close();
                this.peak_memory_bytes = peak_memory_bytes();
                this.worker.phase = 'result';
                return run_result(this);
            }
        }
        await this.#without_measuring();
        this.peak_memory_bytes = peak_memory_bytes();
        this.worker.phase = 'result';
        return run_result(this);
    }
}

/* The result line. */
export async function run_job(worker, job) {
    const run = new Run(worker, job);
    return run.all();
}
