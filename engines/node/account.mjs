/*
 * What a connection counts, in memory that the main thread can read: a synchronous binding may
 * never come back from a call, and then its thread can say nothing any more.
 *
 * Identities, checked in run_result.mjs:
 *     attempted = ok + busy + conflict + failed + skipped + open
 *     latency.count = ok
 *     in an open loop: service.count = lag.count = ok, latency.sum = service.sum + lag.sum
 * The thread of the connection writes with plain stores; others read after it has left or been
 * given up (see Account.begin), and `done` and the tasks' progress at any time. Everything is a
 * double, so that nothing is torn, and whole up to 2^53. Sums of a histogram may be larger: in an
 * open loop that falls behind, each of millions waits for seconds. They are kept in two parts.
 */
import { HISTOGRAM_BUCKETS, HISTOGRAM_MAX_NS, histogram_index } from './histogram.mjs';
import { whole_number } from './wire.mjs';

export const OK = 0;
export const BUSY = 1;
export const CONFLICT = 2;
export const FAILED = 3;
export const SKIPPED = 4;
export const OPEN = 5;
export const OUTCOMES = ['ok', 'busy', 'conflict', 'failed', 'skipped', 'open'];

const ERRORS_MAX = 8;
const ERROR_SIZE = 1024; /* a kept message with its statement and code, as JSON */
const MESSAGE_MAX = 240;

/* Numbers of a tally, behind the outcomes. */
const RETRIES = 6;
const ROWS_READ = 7;
const ROWS_CHANGED = 8;
const TIME_NS = 9;
const SLOW = 10;
const ERRORS_BEYOND = 11;
const ATTEMPTED = 12;
const ERROR_COUNTS = 13;
const ERROR_LENGTHS = ERROR_COUNTS + ERRORS_MAX;
const LATENCY = ERROR_LENGTHS + ERRORS_MAX;

/* Numbers of a histogram, from its place on. */
const COUNT = 0;
const OVERFLOW = 1;
const SUM = 2; /* below SUM_PART */
const SUM_PARTS = 3;
const MIN = 4;
const MAX = 5;
const BUCKETS = 6;
const HISTOGRAM = BUCKETS + HISTOGRAM_BUCKETS;

/* Behind the latency: the parts of it in an open loop, then what is acknowledged, which stands
 * where the service times stand otherwise. */
const SERVICE = LATENCY + HISTOGRAM;
const LAG = SERVICE + HISTOGRAM;

const SUM_PART = 2 ** 52;

function record(n, at, ns) {
    n[at + SUM] += ns;
    if (n[at + SUM] >= SUM_PART) {
        n[at + SUM] -= SUM_PART;
        n[at + SUM_PARTS]++;
    }
    if (n[at + COUNT]++ === 0 || ns < n[at + MIN]) {
        n[at + MIN] = ns;
    }
    if (ns > n[at + MAX]) {
        n[at + MAX] = ns;
    }
    if (ns > HISTOGRAM_MAX_NS) {
        n[at + OVERFLOW]++;
    } else {
        n[at + BUCKETS + histogram_index(ns)]++;
    }
}

function histogram_json(n, at) {
    const buckets = [];
    for (let i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (n[at + BUCKETS + i] > 0) {
            buckets.push([i, n[at + BUCKETS + i]]);
        }
    }
    const any = n[at + COUNT] > 0;
    const sum = BigInt(n[at + SUM_PARTS]) * BigInt(SUM_PART) + BigInt(n[at + SUM]);
    return { count: n[at + COUNT], overflow: n[at + OVERFLOW], sum: whole_number(sum),
             min: any ? n[at + MIN] : null, max: any ? n[at + MAX] : null, buckets };
}

/* ---- the account of one script --------------------------------------------------------- */

export class Tally {
    static numbers(statements, paced) {
        return (paced ? LAG + HISTOGRAM : SERVICE) + 2 * statements;
    }

    /* `numbers` and `texts` are this tally's parts of the shared memory; `paced`: for an open
     * loop. */
    constructor(numbers, texts, statements, paced) {
        this.numbers = numbers;
        this.texts = texts;
        this.statements = statements;
        this.histograms = paced ? [LATENCY, SERVICE, LAG] : [LATENCY];
        this.acknowledged = paced ? LAG + HISTOGRAM : SERVICE;
        this.timed = paced ? SERVICE : LATENCY; /* histogram of the time from the start */
        this.pending = this.acknowledged + statements;
        this.messages = []; /* of the slots in use: what tells them apart */
    }

    /* Empties everything but what is acknowledged: what warm-up wrote stays written. */
    restart() {
        this.numbers.fill(0, 0, this.acknowledged);
        this.messages = [];
    }

    attempt() {
        this.numbers[ATTEMPTED]++;
    }

    /* Accounts for one execution that has been counted as an attempt. In an open loop add_parts()
     * follows, which counts its latency. */
    add(outcome, effect, time_ns, slow) {
        const n = this.numbers;
        n[outcome]++;
        n[TIME_NS] += time_ns;
        if (outcome === OK) {
            n[ROWS_READ] += effect.read;
            n[ROWS_CHANGED] += effect.changed;
            n[SLOW] += slow;
            record(n, this.timed, time_ns);
        }
    }

    /* The lag is from when it was due to when it began, the service time from there. */
    add_parts(outcome, service_ns, lag_ns) {
        if (outcome === OK) {
            record(this.numbers, LATENCY, service_ns + lag_ns);
            record(this.numbers, LAG, lag_ns);
        }
    }

    retried() {
        this.numbers[RETRIES]++;
    }

    committed() {
        for (let i = 0; i < this.statements; i++) {
            this.numbers[this.acknowledged + i] += this.numbers[this.pending + i];
            this.numbers[this.pending + i] = 0;
        }
    }

    rolled_back() {
        this.numbers.fill(0, this.pending, this.pending + this.statements);
    }

    /* Keeps the first different messages; `statement` null: begin, commit or rollback. */
    failed(statement, code, message) {
        const kept = { statement, code, message: message.slice(0, MESSAGE_MAX) };
        let text = JSON.stringify(kept);
        while (Buffer.byteLength(text) > ERROR_SIZE) {
            kept.message = kept.message.slice(0, kept.message.length / 2);
            text = JSON.stringify(kept);
        }
        let slot = this.messages.indexOf(text);
        if (slot < 0 && this.messages.length < ERRORS_MAX) {
            slot = this.messages.push(text) - 1;
            const bytes = Buffer.from(text);
            this.texts.set(bytes, slot * ERROR_SIZE);
            this.numbers[ERROR_LENGTHS + slot] = bytes.length;
        }
        this.numbers[slot < 0 ? ERRORS_BEYOND : ERROR_COUNTS + slot]++;
    }

    /* ---- for the reader -------------------------------------------------------------- */

    merge(from) {
        const ends = this.histograms.map((at) => [
            at, Math.min(...[this, from].filter(({ numbers }) => numbers[at + COUNT] > 0)
                .map(({ numbers }) => numbers[at + MIN])),
            Math.max(this.numbers[at + MAX], from.numbers[at + MAX]),
        ]);
        for (let i = 0; i < this.numbers.length; i++) {
            if (i < ERROR_COUNTS || i >= LATENCY) {
                this.numbers[i] += from.numbers[i];
            }
        }
        for (const [at, min, max] of ends) {
            if (this.numbers[at + SUM] >= SUM_PART) {
                this.numbers[at + SUM] -= SUM_PART;
                this.numbers[at + SUM_PARTS]++;
            }
            this.numbers[at + MIN] = this.numbers[at + COUNT] > 0 ? min : 0;
            this.numbers[at + MAX] = max;
        }
        for (const { count, ...error } of from.errors_kept()) {
            this.add_error(error, count);
        }
    }

    add_error(error, count) {
        this.failed(error.statement, error.code, error.message);
        const slot = this.messages.indexOf(JSON.stringify(error));
        this.numbers[slot < 0 ? ERRORS_BEYOND : ERROR_COUNTS + slot] += count - 1;
    }

    errors_kept() {
        const errors = [];
        for (let slot = 0; slot < ERRORS_MAX && this.numbers[ERROR_COUNTS + slot] > 0; slot++) {
            const from = slot * ERROR_SIZE;
            const bytes = this.texts.slice(from, from + this.numbers[ERROR_LENGTHS + slot]);
            errors.push({ ...JSON.parse(Buffer.from(bytes).toString()),
                          count: this.numbers[ERROR_COUNTS + slot] });
        }
        return errors;
    }

    errors() {
        const beyond = this.numbers[ERRORS_BEYOND];
        const rest = { statement: null, code: null,
                       message: `other messages than the first ${ERRORS_MAX}`, count: beyond };
        return beyond > 0 ? [...this.errors_kept(), rest] : this.errors_kept();
    }

    outcome(outcome) {
        return this.numbers[outcome];
    }

    acknowledged_rows(statement) {
        return this.numbers[this.acknowledged + statement];
    }

    /* The counts, `acknowledged`, `errors` and histograms of the protocol. */
    to_json() {
        const n = this.numbers;
        const json = { attempted: n[ATTEMPTED] };
        OUTCOMES.forEach((name, outcome) => {
            json[name] = n[outcome];
        });
        const names = ['latency', 'service', 'lag'];
        return {
            ...json, retries: n[RETRIES], rows_read: n[ROWS_READ], rows_changed: n[ROWS_CHANGED],
            time_ns: n[TIME_NS], slow: n[SLOW],
            acknowledged: Array.from({ length: this.statements },
                                     (_, i) => this.acknowledged_rows(i)),
            errors: this.errors(),
            ...Object.fromEntries(this.histograms.map((at, i) =>
                [names[i], histogram_json(n, at)])),
        };
    }
}

/* A tally of its own memory, to add others up in. */
export function tally_new(statements, paced) {
    return new Tally(new Float64Array(Tally.numbers(statements, paced)),
                     new Uint8Array(ERRORS_MAX * ERROR_SIZE), statements, paced);
}

/* ---- seconds ------------------------------------------------------------------------------ */

const SECONDS_CAPACITY = 3600; /* even */
const NS_PER_S = 1e9;

/* Executions and slow ones of each second, by entry. When the intervals are used up, each two
 * become one of twice the width. `state` holds the index and the width, for the reader. */
export class Seconds {
    static capacity(limit_ns) {
        const needed = Math.ceil(limit_ns / NS_PER_S) + 3;
        return needed < SECONDS_CAPACITY ? needed + (needed % 2) : SECONDS_CAPACITY;
    }

    constructor(counts, state, entries) {
        this.counts = counts;
        this.state = state;
        this.entries = entries;
        this.row = 2 * entries;
        this.capacity = counts.length / this.row;
        this.start_ns = 0;
        this.end_ns = NS_PER_S;
        this.at = 0;
    }

    restart(start_ns) {
        this.counts.fill(0);
        this.state[0] = 0;
        this.state[1] = NS_PER_S;
        this.start_ns = start_ns;
        this.end_ns = start_ns + NS_PER_S;
        this.at = 0;
    }

    add(entry, slow, now_ns) {
        if (now_ns >= this.end_ns) {
            this.move(now_ns);
        }
        this.counts[this.at + entry]++;
        this.counts[this.at + this.entries + entry] += slow;
    }

    move(now_ns) {
        while (now_ns >= this.end_ns) {
            if (this.state[0] + 1 === this.capacity) {
                this.halve();
                continue;
            }
            this.state[0]++;
            this.end_ns += this.state[1];
        }
        this.at = this.state[0] * this.row;
    }

    halve() {
        const used = this.state[0] + 1;
        for (let i = 0; i < used; i++) {
            for (let k = 0; k < this.row; k++) {
                const count = this.counts[i * this.row + k];
                const into = (i >> 1) * this.row + k;
                this.counts[into] = count + (i % 2 === 0 ? 0 : this.counts[into]);
            }
        }
        this.counts.fill(0, ((used + 1) >> 1) * this.row, used * this.row);
        this.state[1] *= 2;
        this.state[0] = this.state[0] >> 1;
        this.end_ns = this.start_ns + (this.state[0] + 1) * this.state[1];
    }

    /* [operations, slow] of an interval, which may lie beyond the last. */
    get(index, entry) {
        return index > this.state[0] ? [0, 0]
            : [this.counts[index * this.row + entry],
               this.counts[index * this.row + this.entries + entry]];
    }
}

/* ---- the account of one connection ----------------------------------------------------------- */

const HEAD = 8;
const DONE = 0;
const FIRST_NS = 1;
const ENDED_NS = 2;
const SETTLED_NS = 3;
const BEGAN_NS = 4;
const SECONDS_STATE = 5; /* two */
const UNSTARTED = 7;

const IDLE = 0;
const GIVEN_UP = -1;

/* `shape`: statements by entry, for how long the seconds can last, base_s, the whole second from
 * which all moments are counted (clock.mjs), and whether it is for an open loop. */
export function account_memory(shape) {
    const entries = shape.statements.length;
    const tallies = shape.statements.reduce((sum, count) => sum + Tally.numbers(count, shape.paced),
                                            0);
    const seconds = Seconds.capacity(shape.limit_ns) * 2 * entries;
    return {
        shape,
        numbers: new SharedArrayBuffer((HEAD + tallies + seconds) * 8),
        texts: new SharedArrayBuffer(entries * ERRORS_MAX * ERROR_SIZE),
        current: new SharedArrayBuffer(4),
    };
}

export class Account {
    constructor({ shape, numbers, texts, current }) {
        const all = new Float64Array(numbers);
        let from = HEAD;
        this.base_s = shape.base_s;
        this.head = all.subarray(0, HEAD);
        this.current = new Int32Array(current);
        this.tallies = shape.statements.map((count, i) => {
            const part = all.subarray(from, from + Tally.numbers(count, shape.paced));
            from += part.length;
            const size = ERRORS_MAX * ERROR_SIZE;
            return new Tally(part, new Uint8Array(texts, i * size, size), count,
                             shape.paced);
        });
        this.seconds = new Seconds(all.subarray(from),
                                   this.head.subarray(SECONDS_STATE, SECONDS_STATE + 2),
                                   shape.statements.length);
    }

    restart() {
        this.tallies.forEach((tally) => tally.restart());
        this.seconds.restart(0);
        this.head.fill(0, 0, SECONDS_STATE);
        this.head[UNSTARTED] = 0;
    }

    start(start_ns) {
        this.seconds.restart(start_ns);
        this.head[ENDED_NS] = start_ns;
        this.head[SETTLED_NS] = start_ns;
    }

    /* An operation of an entry is inside the engine from here on. */
    begin(entry, start_ns) {
        this.tallies[entry].attempt();
        this.head[BEGAN_NS] = start_ns;
        this.current[0] = entry + 1;
    }

    /* It came back. False: too late, the main thread has given it up and counts it itself; the
     * caller must touch nothing any more. */
    back() {
        return Atomics.exchange(this.current, 0, IDLE) !== GIVEN_UP;
    }

    /* For the main thread: gives up on what is inside the engine and counts it as open. False:
     * nothing is, so the thread is on its way. */
    give_up(now_ns) {
        const current = Atomics.load(this.current, 0);
        if (current === IDLE ||
            Atomics.compareExchange(this.current, 0, current, GIVEN_UP) !== current) {
            return false;
        }
        this.tallies[current - 1].add(OPEN, null, now_ns - this.head[BEGAN_NS], 0);
        this.ended(now_ns, false);
        if (this.first_ns === null) {
            this.head[FIRST_NS] = this.head[BEGAN_NS];
        }
        this.head[DONE]++;
        return true;
    }

    ended(now_ns, settled) {
        this.head[ENDED_NS] = now_ns;
        if (settled) {
            this.head[SETTLED_NS] = now_ns;
        }
    }

    set_done(done) {
        this.head[DONE] = done;
    }

    set_first(start_ns) {
        this.head[FIRST_NS] = start_ns;
    }

    /* Operations of an open loop that were due and never began. */
    set_unstarted(count) {
        this.head[UNSTARTED] = count;
    }

    get unstarted() {
        return this.head[UNSTARTED];
    }

    get done() {
        return this.head[DONE];
    }

    /* Start of the first operation; null: there was none. */
    get first_ns() {
        return this.head[FIRST_NS] === 0 ? null : this.head[FIRST_NS];
    }

    get ended_ns() {
        return this.head[ENDED_NS];
    }

    get settled_ns() {
        return this.head[SETTLED_NS];
    }
}
