/** Numbers as people read them. Three significant digits, the unit always beside the number. */

export const ABSENT = "–";

export function significant(value: number, digits = 3): string {
    if (value === 0) {
        return "0";
    }
    // Rounded first: 0.9996 has the magnitude of 1.
    const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
    const decimals = Math.max(0, digits - 1 - magnitude);
    const rounded = value.toFixed(Math.min(decimals, 12));
    const [whole, fraction] = rounded.split(".") as [string, string | undefined];
    const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
    // A value that would round up to the next unit's 1 belongs to that unit.
    for (const [size, unit] of steps) {
        if (Math.abs(value) >= size * 0.9995) {
            return `${significant(value / size)} ${unit}`;
        }
    }
    const [size, unit] = steps[steps.length - 1]!;
    return `${significant(value / size)} ${unit}`;
}

const TIMES = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
] as const;

const SIZES = [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
    [1, "B"],
] as const;

export function duration(ns: number | null): string {
    return ns === null ? ABSENT : scaled(ns, TIMES);
}

export function bytes(count: number | null): string {
    return count === null ? ABSENT : scaled(count, SIZES);
}

export function count(value: number | string | null): string {
    return value === null ? ABSENT : String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function rate(perSecond: number | null): string {
    return perSecond === null ? ABSENT : significant(perSecond);
}

export function share(value: number | null): string {
    return value === null ? ABSENT : `${significant(value * 100)} %`;
}

export function ratio(value: number | null): string {
    return value === null ? ABSENT : value.toFixed(value < 10 ? 3 : 1);
}

function shortest(value: number, steps: readonly (readonly [number, string])[]): string {
    for (const [size, unit] of steps) {
        if (value >= size) {
            return `${Number((value / size).toPrecision(3))} ${unit}`;
        }
    }
    return value === 0 ? "0" : `${Number(value.toPrecision(3))} ${steps.at(-1)![1]}`;
}

/** Axis ticks of a time: short, one digit where one does. */
export function tick(ns: number): string {
    return shortest(ns, TIMES);
}

/** Axis ticks of a size. */
export function sizeTick(count: number): string {
    return shortest(count, SIZES);
}

/** Axis ticks of a number: 1,200 as 1.2k. */
export function short(value: number): string {
    const steps = [
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
    ] as const;
    for (const [size, unit] of steps) {
        if (Math.abs(value) >= size) {
            return `${Number((value / size).toPrecision(3))}${unit}`;
        }
    }
    return String(Number(value.toPrecision(3)));
}

/** A number and its unit stay on one line. */
export function unbroken(text: string): string {
    return text.replace(/(\d) (?=(?:%|ns|µs|ms|s|B|kB|MB|GB)(?!\p{L}))/gu, "$1\u00a0");
}

/** "a, b and c" */
export function list(words: readonly string[]): string {
    if (words.length < 2) {
        return words.join("");
    }
    return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** An outcome and its reason, without what an engine adds to it: paths, numbers of processes. */
export function brief(text: string): string {
    return text.split(": ").slice(0, 2).join(": ");
}

export function exact(value: number | null): string {
    return value === null ? "" : String(value);
}
