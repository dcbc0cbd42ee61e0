/*
 * CLOCK_MONOTONIC in nanoseconds, the clock of all workers.
 *
 * The hot loop calls process.hrtime() itself and computes (t[0] - base_s) * 1e9 + t[1]: a double
 * that is exact to the nanosecond for 104 days from `base_s`. Of the three ways to read this clock
 * it is the cheapest that is exact (27 ns a reading here, where process.hrtime.bigint() takes 38 ns
 * and leaves a BigInt behind, and performance.now() takes 32 to 38 ns and counts from an origin of
 * its own that cannot be known better than to the 80 ns between two readings).
 */
export function now_ns() {
    return process.hrtime.bigint();
}

/* Whole seconds to count from, so that differences stay exact. */
export function clock_base_s() {
    return process.hrtime()[0];
}

/* The same in nanoseconds from `base_s`, a double, as the hot loop computes it itself. */
export function clock_ns(base_s) {
    const t = process.hrtime();
    return (t[0] - base_s) * 1e9 + t[1];
}

/* A moment of now_ns() as nanoseconds from `base_s`. */
export function since(base_s, moment_ns) {
    return Number(moment_ns - BigInt(base_s) * 1000000000n);
}

/* Cost of a reading and the smallest step between two that differ, in ns. */
export function clock_measure() {
    const rounds = 20000;
    const base_s = clock_base_s();
    let cost_ns = Infinity;
    let resolution_ns = Infinity;
    for (let batch = 0; batch < 5; batch++) {
        const started = process.hrtime();
        let last = 0;
        for (let i = 0; i < rounds; i++) {
            const t = process.hrtime();
            const now = (t[0] - base_s) * 1e9 + t[1];
            if (now > last && now - last < resolution_ns) {
                resolution_ns = now - last;
            }
            last = now;
        }
        const took = process.hrtime(started);
        cost_ns = Math.min(cost_ns, (took[0] * 1e9 + took[1]) / rounds);
    }
    return { call: 'process.hrtime', cost_ns: Math.round(cost_ns), resolution_ns };
}

const NAP = new Int32Array(new SharedArrayBuffer(4));

export function sleep_ms(milliseconds) {
    Atomics.wait(NAP, 0, 0, milliseconds);
}

/* A sleep ends some 60 us late; the last part is spent looking at the clock. */
const LOOK_NS = 200000n;

export function sleep_until_ns(moment_ns) {
    for (;;) {
        const left = moment_ns - now_ns();
        if (left <= 0n) {
            return;
        }
        if (left > LOOK_NS) {
            sleep_ms(Number(left - LOOK_NS) / 1e6);
        }
    }
}
