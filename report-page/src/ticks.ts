/** Where an axis has ticks: as many as their labels leave room for. */

type Domain = readonly [number, number];

export interface Axis {
    domain: Domain;
    log: boolean;
    format: (value: number) => string;
    room: number; // pixels from end to end
}

/** About what a letter of a label is wide; and what must be free between two labels. */
const LETTER = 7.3;
const GAP = 10;

/** Within a decade, from many to few; then every decade, every second one, and so on. */
const DECADES: readonly (readonly number[])[] = [
    [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
    [1, 1.2, 1.5, 2, 3, 5, 7],
    [1, 2, 5],
    [1],
];

function within(values: readonly number[], [low, high]: Domain): number[] {
    return values.filter((v) => v >= low && v <= high);
}

function decades(domain: Domain, steps: readonly number[], stride: number): number[] {
    const first = Math.floor(Math.log10(domain[0]));
    const last = Math.ceil(Math.log10(domain[1]));
    const all: number[] = [];
    for (let e = first; e <= last; e++) {
        if (e % stride === 0) {
            // Through text, so that 3 × 10^-1 is 0.3.
            all.push(...steps.map((step) => Number(`${step}e${e}`)));
        }
    }
    return within(all, domain);
}

/** Multiples of 1, 2 or 5 times a power of ten, at most about `count` of them. */
function even(domain: Domain, count: number): number[] {
    const rough = (domain[1] - domain[0]) / count;
    const power = Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((s) => Number(`${s}e${power}`)).find((s) => s >= rough * 0.999)!;
    const all: number[] = [];
    for (let i = Math.ceil(domain[0] / step); i * step <= domain[1]; i++) {
        all.push(Number((i * step).toPrecision(12)));
    }
    return all;
}

function fits(ticks: readonly number[], { domain, log, format, room }: Axis): boolean {
    const place = (v: number) => (log ? Math.log(v) : v);
    const [low, high] = [place(domain[0]), place(domain[1])];
    const labels = ticks.map((v) => ({
        at: ((place(v) - low) / (high - low)) * room,
        half: (format(v).length * LETTER) / 2,
    }));
    return labels.every((label, i) => {
        const before = labels[i - 1];
        return before === undefined || label.at - label.half - before.at - before.half >= GAP;
    });
}

/** The most that fit; where nothing round lies within the domain, none. */
export function ticksOf(axis: Axis): number[] {
    const { domain, log } = axis;
    if (!(domain[1] > domain[0])) {
        return [];
    }
    if (!log) {
        for (let count = 8; count > 1; count--) {
            const ticks = even(domain, count);
            if (fits(ticks, axis)) {
                return ticks;
            }
        }
        return even(domain, 1);
    }
    for (const steps of DECADES) {
        const ticks = decades(domain, steps, 1);
        if (fits(ticks, axis)) {
            return ticks;
        }
    }
    for (let stride = 2; ; stride++) {
        const ticks = decades(domain, [1], stride);
        if (fits(ticks, axis)) {
            return ticks;
        }
    }
}
