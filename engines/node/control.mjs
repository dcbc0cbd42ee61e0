/*
 * What the main thread and those of the connections tell each other without messages: the stage
 * of the run, and moments of the clock.
 *
 *     OPENING -> all open, set, prepared -> WARMUP -> all warm -> RUN -> all left -> CLOSING
 */

export const STAGE = Object.freeze({ OPENING: 0, WARMUP: 1, RUN: 2, CLOSING: 3 });

/* In Control.signals, not 0 when it is wanted: to begin no further operation, to make no further
 * call. The hot loop reads both before each operation and call, with plain loads, which cost
 * nothing; a call into the engine lies between any two, so none is kept in a register. */
export const SIGNAL = Object.freeze({ STOP: 0, CUT: 1 });

/* For work that ends by itself. */
export function no_signals() {
    return new Int32Array(2);
}

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
        this.signals = this.#words.subarray(STOP, CUT + 1);
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
