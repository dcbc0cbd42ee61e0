/*
 * A job that is one piece of work, on a thread of its own: check or verify. The main thread keeps
 * its hands free for the coordinator; see tend() there. A `stop` ends the process, since half of
 * such a job is of no use.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { check } from './check.mjs';
import { load_driver } from './drivers.mjs';
import { failure_line, failure_of } from './failure.mjs';
import { verify } from './verify.mjs';

const DONE = 0;
const TOTAL = 1;

/* What the main thread may look at while the work goes on. */
export class Progress {
    #numbers;

    constructor(memory) {
        this.#numbers = new Float64Array(memory);
    }

    get done() {
        return this.#numbers[DONE];
    }

    set done(done) {
        this.#numbers[DONE] = done;
    }

    /* null: it is not known. */
    get total() {
        return this.#numbers[TOTAL] === 0 ? null : this.#numbers[TOTAL];
    }

    set total(total) {
        this.#numbers[TOTAL] = total ?? 0;
    }

    /* Names the table that is read; null: none is. */
    set table(table) {
        parentPort.postMessage({ table });
    }
}

const WORK = { check, verify };

if (workerData?.part === 'task') {
    const { binding, bigint, job, progress } = workerData;
    try {
        const { driver } = await load_driver(binding);
        const line = await WORK[job.job](driver, job, bigint, new Progress(progress));
        parentPort.postMessage({ line });
    } catch (error) {
        parentPort.postMessage({ failed: failure_line(failure_of(error, job.job)) });
    }
}
