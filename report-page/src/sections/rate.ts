/** An open loop: what arrived, what was begun of it, and of what its latencies are made. */
import { bars, forLog, logDomain, ranges, type BarPoint, type RangePoint } from "../charts.ts";
import { countCell, figureField, rateCell, shareCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { tick } from "../format.ts";
import { groupBy } from "../group.ts";
import type { Figure, ScriptSummary } from "../result.ts";
import { partsSentence, saturationSentence, saturatedEngines } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

const POINTS = ["p50", "p95", "p99", "p99.9", "p99.99"] as const;

interface Part {
    name: string;
    points: Record<string, Figure>;
    max: Figure;
}

function partsOf(script: ScriptSummary): Part[] {
    return [
        { name: "latency", points: script.points_ns, max: script.max_ns },
        { name: "service", points: script.service.points_ns, max: script.service.max_ns },
        { name: "lag", points: script.lag.points_ns, max: script.lag.max_ns },
    ];
}

interface Row {
    entry: Entry;
    script: ScriptSummary;
    part: Part;
}

/** Script after script and part after part, its engines one below the other. */
function rowsOf(view: View): Row[] {
    const all = view.entries.flatMap((entry) =>
        entry.summary.scripts.flatMap((script) => partsOf(script).map((part) => ({ entry, script, part }))),
    );
    const groups = groupBy(all, (r) => `${r.script.role}\n${r.script.script}\n${r.part.name}`);
    const first = (row: Row) => view.entries.indexOf(row.entry);
    return [...groups.values()].flatMap((rows) => rows.sort((a, b) => first(a) - first(b)));
}

function partPoints(view: View): RangePoint[] {
    return rowsOf(view).flatMap(({ entry, script, part }) => {
        const p99 = part.points["p99"];
        if (p99 === undefined || p99.median === null || p99.min === null || p99.max === null) {
            return [];
        }
        const row = `${script.script}: ${part.name}`;
        return [
            {
                series: entry.series,
                row,
                value: p99.median,
                low: p99.min,
                high: p99.max,
                tip: `${row}, ${entry.series.label}\np99, median of rounds: ${p99.median} ns\nlowest round: ${p99.min} ns\nhighest round: ${p99.max} ns`,
            },
        ];
    });
}

function partTable(view: View): Data {
    return tabulate(rowsOf(view), [
        { title: "script", of: (r) => cell(r.script.script) },
        { title: "engine", of: (r) => cell(r.entry.series.label) },
        { title: "part", of: (r) => cell(r.part.name) },
        ...POINTS.map((point) => ({
            title: point,
            numeric: true,
            // As thin as the latencies, which are as many.
            of: (r: Row) => timeCell(r.part.points[point]?.median ?? null, r.script.point_thin[point] === true),
        })),
        { title: "max", numeric: true, of: (r) => timeCell(r.part.max.max) },
    ]);
}

function parts(view: View, views: readonly View[]): FigureSpec {
    const drawable = (v: View) => forLog(partPoints(v));
    const domain = logDomain(views.flatMap(drawable).flatMap((p) => [p.low, p.high]));
    return {
        id: slug("parts", view.source.label, view.kase.suite, view.kase.label),
        title: `Lag and service time beside latency${view.result.cases.length > 1 ? `, ${view.kase.label}` : ""}`,
        sentence: partsSentence(view),
        draw: (width, shown) => {
            const drawn = drawable(view).filter((p) => shown(p.series));
            return drawn.length === 0 || domain === null
                ? null
                : ranges(drawn, width, domain, { label: "p99", log: true, format: tick });
        },
        data: partTable(view),
    };
}

function begunPoints(view: View): BarPoint[] {
    return view.entries.flatMap(({ series, summary }) => {
        const { median, min, max } = summary.begun_share;
        return median === null || min === null || max === null
            ? []
            : [
                  {
                      series,
                      value: median * 100,
                      low: min * 100,
                      high: max * 100,
                      rounds: [],
                      tip: `${series.label}\nbegun of what was due, median of rounds: ${median}\nlowest round: ${min}\nhighest round: ${max}\ndue, all rounds: ${summary.offered}\nnever begun: ${summary.unstarted}`,
                  },
              ];
    });
}

function saturation(view: View): FigureSpec {
    const saturated = saturatedEngines(view);
    return {
        id: slug("saturation", view.source.label, view.kase.suite, view.kase.label),
        title: `Arrival rate and saturation${view.result.cases.length > 1 ? `, ${view.kase.label}` : ""}`,
        sentence: saturationSentence(view),
        draw: (width, shown) => {
            const drawn = begunPoints(view).filter((p) => shown(p.series));
            return drawn.length === 0 ? null : bars(drawn, width, 102, "begun of what was due, %", 100);
        },
        data: tabulate(view.entries, [
            { title: "engine", of: (e) => cell(e.series.label) },
            { title: "offered, operations/s", numeric: true, of: () => rateCell(view.kase.rate) },
            figureField("done, operations/s", (e: Entry) => e.summary.operations_per_second, rateCell),
            { title: "due, all rounds", numeric: true, of: (e) => countCell(e.summary.offered) },
            { title: "never begun", numeric: true, of: (e) => countCell(e.summary.unstarted) },
            figureField("begun of what was due", (e: Entry) => e.summary.begun_share, shareCell),
            { title: "saturated", of: (e) => cell(saturated.includes(e.engine.name) ? "yes" : "no") },
        ]),
    };
}

/** Nothing for a closed loop. */
export function rateFigures(view: View): FigureSpec[] {
    return view.kase.rate === null ? [] : [saturation(view)];
}

/** The same. `views` are the same case in every file. */
export function partsFigures(view: View, views: readonly View[]): FigureSpec[] {
    return view.kase.rate === null ? [] : [parts(view, views)];
}
