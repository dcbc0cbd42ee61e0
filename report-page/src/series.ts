/**
 * Which engine has which colour. The colours are those of Okabe and Ito, which people with
 * any common colour blindness can tell apart; yellow and black are left out since they vanish on
 * white and on dark paper. Beyond their number the symbol and the dashes differ too.
 */
import type { Case, Engine, Result, Run, Source, Summary } from "./result.ts";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"] as const;
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross"] as const;
const DASHES = ["", "6 3", "2 3", "8 3 2 3"] as const;

export interface Series {
    key: string; // unique on the page
    engine: string;
    label: string; // with the file's name when there are several
    colour: string;
    symbol: (typeof SYMBOLS)[number];
    dash: string;
}

/** One engine in one case of one result. */
export interface Entry {
    series: Series;
    engine: Engine;
    summary: Summary;
    runs: Run[];
}

/** One case of one result: what a figure shows. */
export interface View {
    source: Source;
    result: Result;
    caseIndex: number;
    kase: Case;
    entries: Entry[];
}

/** What `pitot numbers` sets beside each other. */
export const SIDES = { pitot: "libpitot", plain: "plain", defaults: "plain, SQLite's defaults" } as const;

function namesOf(result: Result): string[] {
    return [...result.engines.map((e) => e.name), ...(result.numbers.length > 0 ? Object.values(SIDES) : [])];
}

/** In words an engine that is called by a path, sqlite=/a/b/new.so, is sqlite=…/new.so, if no other is. */
export function shortNames(names: readonly string[]): (text: string) => string {
    const paths = [...new Set(names)].filter((name) => name.includes("=/"));
    const short = (name: string) => `${name.slice(0, name.indexOf("=/") + 1)}…${name.slice(name.lastIndexOf("/"))}`;
    const alone = paths.filter((name) => paths.every((other) => other === name || short(other) !== short(name)));
    // A name may be the beginning of another.
    alone.sort((a, b) => b.length - a.length);
    return (text) => alone.reduce((said, name) => said.replaceAll(name, short(name)), text);
}

/** An engine has the same colour in every file; another file has other symbols and dashes. */
export function seriesOf(sources: readonly Source[]): Map<string, Series> {
    const names: string[] = [];
    for (const { result } of sources) {
        for (const name of namesOf(result)) {
            if (!names.includes(name)) {
                names.push(name);
            }
        }
    }
    const all = new Map<string, Series>();
    sources.forEach(({ label, result }, file) => {
        for (const name of namesOf(result)) {
            const place = names.indexOf(name);
            const turn = Math.floor(place / COLOURS.length) + file;
            const key = `${file}:${name}`;
            all.set(key, {
                key,
                engine: name,
                label: sources.length > 1 ? `${name} (${label})` : name,
                colour: COLOURS[place % COLOURS.length]!,
                symbol: SYMBOLS[(place + turn) % SYMBOLS.length]!,
                dash: DASHES[turn % DASHES.length]!,
            });
        }
    });
    return all;
}

export function viewOf(
    sources: readonly Source[],
    all: ReadonlyMap<string, Series>,
    file: number,
    caseIndex: number,
): View {
    const source = sources[file]!;
    const entries: Entry[] = [];
    for (const engine of source.result.engines) {
        const summary = engine.summaries[caseIndex];
        const series = all.get(`${file}:${engine.name}`);
        if (summary !== undefined && series !== undefined) {
            const runs = engine.runs.filter((run) => run.case === caseIndex);
            entries.push({ series, engine, summary, runs });
        }
    }
    const kase = source.result.cases[caseIndex]!;
    return { source, result: source.result, caseIndex, kase, entries };
}
