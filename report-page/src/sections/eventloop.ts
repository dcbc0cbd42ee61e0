/** One connection on the main thread of a Node program: how long its event loop is held up. */
import { forLog, logDomain, ranges, scaling, type LinePoint, type RangePoint } from "../charts.ts";
import { countCell, rateCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data, type Field } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, list, tick } from "../format.ts";
import type { Engine, LoopPart, Result, Source, Tail } from "../result.ts";
import type { Series } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

export type Find = (engine: string) => Series | null;

interface Entry {
    engine: Engine;
    series: Series;
}

function measured({ result }: Source, find: Find): Entry[] {
    return result.engines.flatMap((engine) => {
        const series = find(engine.name);
        return series === null || engine.event_loop.status !== "ok" ? [] : [{ engine, series }];
    });
}

const ROWS: readonly { row: string; of: (engine: Engine) => Tail }[] = [
    { row: "beside calls", of: (e) => e.event_loop.lateness },
    { row: "idle loop", of: (e) => e.event_loop.bare_lateness },
];

export function latenessPoints(entries: readonly Entry[]): RangePoint[] {
    return ROWS.flatMap(({ row, of }) =>
        entries.flatMap(({ engine, series }) => {
            const { p50_ns: low, p99_ns: value, max_ns: high, p99_thin } = of(engine);
            return low === null || value === null || high === null
                ? []
                : [
                      {
                          series,
                          row,
                          value,
                          low,
                          high,
                          tip: `timer of 1 ms, ${row}, ${series.label}\nlate, p50: ${low} ns\np99: ${value} ns${p99_thin ? " (few samples above it)" : ""}\nlatest: ${high} ns`,
                      },
                  ];
        }),
    );
}

function tailFields(name: string, of: (entry: Entry) => Tail): Field<Entry>[] {
    return [
        { title: `${name} p50`, numeric: true, of: (e) => timeCell(of(e).p50_ns) },
        { title: `${name} p99`, numeric: true, of: (e) => timeCell(of(e).p99_ns, of(e).p99_thin) },
        { title: `${name} max`, numeric: true, of: (e) => timeCell(of(e).max_ns) },
    ];
}

function table(entries: readonly Entry[]): Data {
    return tabulate(entries, [
        { title: "engine", of: (e) => cell(e.series.label) },
        ...tailFields("late", (e) => e.engine.event_loop.lateness),
        ...tailFields("idle loop late", (e) => e.engine.event_loop.bare_lateness),
        { title: "closed loop, calls/s", numeric: true, of: (e) => rateCell(e.engine.event_loop.closed.executions_per_second) },
        { title: "paced, calls/s", numeric: true, of: (e) => rateCell(e.engine.event_loop.paced.executions_per_second) },
        ...tailFields("paced call", (e) => e.engine.event_loop.paced.tail),
        { title: "paced calls", numeric: true, of: (e) => countCell(e.engine.event_loop.paced.attempted) },
        { title: "of these ok", numeric: true, of: (e) => countCell(e.engine.event_loop.paced.ok) },
    ]);
}

/** Engines that were to be measured and were not, with the reason. */
function unmeasured(result: Result): string {
    const said = result.engines
        .filter(({ event_loop: loop }) => loop.status !== null && loop.status !== "ok")
        .map(({ name, event_loop: loop }) => `${name} (${loop.status}: ${loop.error ?? "no reason is known"})`);
    return said.length === 0 ? "" : ` Not measured: ${list(said)}.`;
}

export function eventLoopSentence(result: Result, entries: readonly Entry[]): string {
    const head =
        "One connection on the main thread, a call a macrotask, paced at half of what a closed loop did; one run of each, so no difference is claimed. A mark is the p99 of how late a timer of 1 ms fired, a line goes from its p50 to the latest.";
    const late = entries
        .filter(({ engine }) => engine.event_loop.lateness.p99_ns !== null)
        .map(
            ({ engine }) =>
                `${engine.name} ${duration(engine.event_loop.lateness.p99_ns)} (${duration(engine.event_loop.bare_lateness.p99_ns)} on the same loop without calls)`,
        );
    return `${head}${late.length === 0 ? "" : ` Late at p99 beside calls: ${list(late)}.`}${unmeasured(result)}`;
}

interface InFlight extends Entry {
    part: LoopPart;
}

function inFlight(entries: readonly Entry[]): InFlight[] {
    return entries.flatMap((entry) => entry.engine.event_loop.in_flight.map((part) => ({ ...entry, part })));
}

export function flightPoints(entries: readonly Entry[]): LinePoint[] {
    return inFlight(entries).flatMap(({ series, part }) => {
        const y = part.executions_per_second;
        return y === null
            ? []
            : [
                  {
                      series,
                      line: series.key,
                      x: part.in_flight,
                      y,
                      tip: `${series.label}, ${part.in_flight} in flight\nexecutions/s: ${y}\np50: ${part.tail.p50_ns} ns\np99: ${part.tail.p99_ns} ns`,
                  },
              ];
    });
}

function flightTable(entries: readonly Entry[]): Data {
    const of = (e: InFlight) => e.part;
    return tabulate(inFlight(entries), [
        { title: "engine", of: (e) => cell(e.series.label) },
        { title: "in flight", numeric: true, of: (e) => countCell(of(e).in_flight) },
        { title: "executions/s", numeric: true, of: (e) => rateCell(of(e).executions_per_second) },
        { title: "p50", numeric: true, of: (e) => timeCell(of(e).tail.p50_ns) },
        { title: "p99", numeric: true, of: (e) => timeCell(of(e).tail.p99_ns, of(e).tail.p99_thin) },
        { title: "max", numeric: true, of: (e) => timeCell(of(e).tail.max_ns) },
        { title: "executions", numeric: true, of: (e) => countCell(of(e).attempted) },
        { title: "ok", numeric: true, of: (e) => countCell(of(e).ok) },
    ]);
}

/** Nothing where it was not asked for. `finds`: the series of each source. */
export function eventLoopFigures(file: number, sources: readonly Source[], finds: readonly Find[]): FigureSpec[] {
    const source = sources[file]!;
    if (source.result.engines.every((e) => e.event_loop.status === null)) {
        return [];
    }
    const all = sources.flatMap((s, i) => measured(s, finds[i]!));
    const mine = measured(source, finds[file]!);
    const domain = logDomain(forLog(latenessPoints(all)).flatMap((p) => [p.low, p.high]));
    const max = flightPoints(all).reduce((most, p) => Math.max(most, p.y), 0);
    const figures: FigureSpec[] = [
        {
            id: slug("event-loop", source.label),
            title: "Delay of the event loop",
            sentence: eventLoopSentence(source.result, mine),
            draw: (width, shown) => {
                const drawn = forLog(latenessPoints(mine)).filter((p) => shown(p.series));
                return drawn.length === 0 || domain === null
                    ? null
                    : ranges(drawn, width, domain, { label: "lateness of a 1 ms timer", log: true, format: tick });
            },
            data: table(mine),
        },
    ];
    if (flightPoints(mine).length > 0) {
        figures.push({
            id: slug("in-flight", source.label),
            title: "Executions in flight",
            sentence:
                "So many executions at once on that one connection, each begun when one ended (closed loop). Engines whose calls block until they are done are not here.",
            draw: (width, shown) => {
                const drawn = flightPoints(mine).filter((p) => shown(p.series));
                return drawn.length === 0 || max <= 0
                    ? null
                    : scaling(drawn, width, max * 1.05, { x: "executions in flight", y: "executions/s" });
            },
            data: flightTable(mine),
        });
    }
    return figures;
}
