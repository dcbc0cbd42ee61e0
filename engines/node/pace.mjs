/*
 * When the operations of a connection are due in an open loop, and the wait for them;
 * src/worker/pace.h. Moments are nanoseconds from base_s (clock.mjs).
 *
 * The wait of a thread blocks it, its event loop included: nothing is under way meanwhile, since
 * a connection has one operation at a time. Where connections share cores, a gap that is too short
 * for a sleep that ends early is slept as it is, and ends late.
 */
import { availableParallelism } from 'node:os';
import { readlinkSync, writeFileSync } from 'node:fs';

import { clock_ns, sleep_ms } from './clock.mjs';
import { PURPOSE, Random } from './random.mjs';

const SLICE_NS = 50e6;
const EARLY_FIRST_NS = 60e3;
const EARLY_STEP_NS = 500;
const EARLY_MAX_NS = 200e3;

/* Arrivals that never began are counted one by one so far, over all connections, and on each of
 * many; how many further ones there are is told from the time that is left. */
const COUNTED = 10e6;
const COUNTED_EACH = 10e3;

/* Between two executions that are due on one connection; null: the job is a closed loop. */
export function gap_ns(job) {
    return job.rate === null ? null : job.connections_total * 1e9 / job.rate;
}

/* For the calling thread: a sleep is not to be put off so that it ends together with another. The
 * kernel may refuse; sleeps then end later. */
export function prepare_thread() {
    try {
        const task = readlinkSync('/proc/thread-self').split('/').pop();
        writeFileSync(`/proc/${task}/timerslack_ns`, '1');
    } catch {
        /* The lag shows it. */
    }
}

export class Pace {
    #random;
    #base_s;
    #mean_ns;
    #sum_ns = 0;
    #start_ns;
    #early_ns = EARLY_FIRST_NS;
    #sharing_cores;

    constructor(job, number, base_s, start_ns) {
        this.#random = new Random(job.seed, PURPOSE.PACING, number, 0);
        this.#base_s = base_s;
        this.#mean_ns = gap_ns(job);
        this.#start_ns = start_ns;
        this.#sharing_cores = job.connections_total > availableParallelism();
        this.due_ns = 0; /* of the first operation that has not begun */
        this.next();
    }

    next() {
        this.#sum_ns += this.#random.gap() * this.#mean_ns;
        this.due_ns = this.#start_ns + Math.floor(this.#sum_ns);
    }

    /* Until the next operation is due or the limit is reached; early when it is stopped(). */
    wait(limit_ns, stopped) {
        const until_ns = Math.min(this.due_ns, limit_ns);
        let now_ns = clock_ns(this.#base_s);
        while (until_ns - now_ns > SLICE_NS && !stopped()) {
            sleep_ms(SLICE_NS / 1e6);
            now_ns = clock_ns(this.#base_s);
        }
        const left_ns = until_ns - now_ns;
        if (left_ns <= 0 || stopped()) {
            return;
        }
        if (left_ns > this.#early_ns) {
            sleep_ms((left_ns - this.#early_ns) / 1e6);
            const late = clock_ns(this.#base_s) > until_ns;
            this.#early_ns = late ? Math.min(this.#early_ns + 9 * EARLY_STEP_NS, EARLY_MAX_NS)
                                  : Math.max(this.#early_ns - EARLY_STEP_NS, EARLY_STEP_NS);
        } else if (this.#sharing_cores) {
            sleep_ms(left_ns / 1e6);
        }
        while (clock_ns(this.#base_s) < until_ns && !stopped()) {
            /* look again */
        }
    }

    /* How many operations are due before a moment and have not begun; to be asked once. */
    backlog(until_ns, connections) {
        const most = Math.max(COUNTED_EACH, COUNTED / connections);
        let count = 0;
        while (this.due_ns < until_ns && count < most) {
            this.next();
            count++;
        }
        if (this.due_ns < until_ns) {
            count += 1 + Math.floor((until_ns - this.due_ns) / this.#mean_ns);
        }
        return count;
    }
}
