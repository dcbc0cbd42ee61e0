/*
 * What the main thread and those of the connections tell each other without messages: the stage
 * of the run, and moments of the clock.
 *
 *     OPENING -> all open, set, prepared -> WARMUP -> all warm -> RUN -> all left -> CLOSING
 */

export const STAGE = Object.freeze({ OPENING: 0, WARMUP: 1, RUN: 2, CLOSING: 3 });

const STAGE_AT = 0;
const STOP = 1;
const CUT = 2;
const RUNNING = 3;

const NONE = -1n;

export function control_memory(connections) {
    const memory = { words: new SharedArrayBuffer(16), moments: new SharedArrayBuffer(24) };
    Atomics.store(new Int32Array(memory.words), RUNNING, connections);
    return memory;
}

export class Control {
    #words;
    #moments;

    constructor({ words, moments }) {
        this.#words = new Int32Array(words);
        this.#moments = new BigInt64Array(moments);
    }

    /* ---- the main thread ------------------------------------------------------------ */

    open(stage) {
        Atomics.store(this.#words, STAGE_AT, stage);
        Atomics.notify(this.#words, STAGE_AT);
    }

    /* Begin no further operation. */
    stop() {
        Atomics.store(this.#words, STOP, 1);
    }

    /* Make no further call. */
    cut() {
        Atomics.store(this.#words, CUT, 1);
    }

    /* null: there is none. */
    set_moments({ warmup_ns = null, at_ns = null, deadline_ns = null }) {
        [warmup_ns, at_ns, deadline_ns].forEach((moment, i) => {
            this.#moments[i] = moment ?? NONE;
        });
    }

    /* ---- the threads ------------------------------------------------------------------ */

    /* Waits for a stage. False: that stage is left out, for the end has come. */
    await_stage(stage) {
        for (;;) {
            const now = Atomics.load(this.#words, STAGE_AT);
            if (now >= stage) {
                return now === stage;
            }
            Atomics.wait(this.#words, STAGE_AT, now);
        }
    }

    /* Both are asked in the hot loop. */
    stopped = () => Atomics.load(this.#words, STOP) !== 0;
    is_cut = () => Atomics.load(this.#words, CUT) !== 0;

    get warmup_ns() {
        return this.#moment(0);
    }

    get at_ns() {
        return this.#moment(1);
    }

    get deadline_ns() {
        return this.#moment(2);
    }

    /* True for the thread that leaves the measured part last. */
    leave() {
        return Atomics.sub(this.#words, RUNNING, 1) === 1;
    }

    #moment(index) {
        return this.#moments[index] === NONE ? null : this.#moments[index];
    }
}

/* Blocks the calling thread for good. */
export function park() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
