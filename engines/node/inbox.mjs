/* What happens to the main thread, one after the other: lines of the coordinator, messages of
 * threads, and times. */

export class Inbox {
    #events = [];
    #wake = null;

    push(event) {
        this.#events.push(event);
        this.#wake?.();
    }

    /* The next event; { time: true } when the moment (of performance.now()) comes first. */
    async next(until_ms = Infinity) {
        if (this.#events.length === 0) {
            await this.#wait(until_ms);
        }
        return this.#events.shift() ?? { time: true };
    }

    /* The next event that is there already; undefined: none is. */
    take() {
        return this.#events.shift();
    }

    #wait(until_ms) {
        return new Promise((resolve) => {
            const left_ms = Math.max(0, until_ms - performance.now());
            const timer = until_ms === Infinity ? null
                : setTimeout(() => this.#wake(), Math.min(left_ms, 0x7FFFFFFF));
            this.#wake = () => {
                clearTimeout(timer);
                this.#wake = null;
                resolve();
            };
        });
    }
}
