/*
 * How late a timer of 1 ms is on the event loop of this thread. One timer is armed at a time, the
 * next as soon as it has fired.
 *
 * Node counts a timer's time in whole milliseconds of the clock that process.hrtime() reads: one
 * that is armed at any moment within a millisecond is due when the next one begins. Its lateness
 * is counted from there, so that it is what held the loop up and no rounding.
 */
import { OK, tally_new } from './account.mjs';

const NS_PER_MS = 1e6;
const NO_ROWS = { read: 0, changed: 0 };

export class Timer {
    #running = true;
    #due_ns = 0;
    #tally = tally_new(0, false);

    /* Runs from here on. `now()`: the clock, in ns from a whole second. */
    constructor(now) {
        this.now = now;
        this.#arm();
    }

    #arm() {
        this.#due_ns = (Math.floor(this.now() / NS_PER_MS) + 1) * NS_PER_MS;
        setTimeout(this.#fire, 1);
    }

    #fire = () => {
        if (this.#running) {
            const late_ns = Math.max(0, this.now() - this.#due_ns);
            this.#tally.attempt();
            this.#tally.add(OK, NO_ROWS, late_ns, 0);
            this.#arm();
        }
    };

    /* Ends it. Lateness of all timers that have fired, as a latency of the protocol. */
    stop() {
        this.#running = false;
        return this.#tally.to_json().latency;
    }
}
