import { curves, logDomain, nines, PERCENTILE_END, ranges, type LinePoint, type RangePoint } from "../charts.ts";
import { figureField, outcomeFields, rateCell, shareCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data, type Field } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, tick } from "../format.ts";
import type { ScriptSummary } from "../result.ts";
import { rowOf, tailSentence, occasion } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

const POINTS = ["p50", "p90", "p95", "p99", "p99.9", "p99.99"] as const;

export interface Script {
    role: string;
    script: string;
}

/** Every role and script that any engine of the view has a summary of, in the suite's order. */
export function scriptsOf(view: View): Script[] {
    const found: Script[] = [];
    for (const { summary } of view.entries) {
        for (const { role, script } of summary.scripts) {
            if (!found.some((f) => f.role === role && f.script === script)) {
                found.push({ role, script });
            }
        }
    }
    return found;
}

function summaryOf(entry: Entry, which: Script): ScriptSummary | undefined {
    return entry.summary.scripts.find((s) => s.role === which.role && s.script === which.script);
}

function curvePoints(view: View, which: Script): LinePoint[] {
    return view.entries.flatMap((entry) => {
        const script = summaryOf(entry, which);
        return (script?.curve ?? [])
            .filter((p) => p.percentile <= PERCENTILE_END && p.value_ns > 0)
            .map(({ percentile, value_ns: ns }) => ({
                series: entry.series,
                line: entry.series.key,
                x: nines(percentile),
                y: ns,
                tip: `${entry.series.label}\np${percentile}: ${ns} ns\n${duration(ns)}`,
            }));
    });
}

interface Row {
    entry: Entry;
    which: Script;
    script: ScriptSummary;
}

function percentileTable(view: View, scripts: readonly Script[]): Data {
    const rows: Row[] = scripts.flatMap((which) =>
        view.entries.flatMap((entry) => {
            const script = summaryOf(entry, which);
            return script === undefined ? [] : [{ entry, which, script }];
        }),
    );
    const named: Field<Row>[] = scripts.length > 1 ? [{ title: "script", of: (r) => cell(r.which.script) }] : [];
    return tabulate(rows, [
        ...named,
        { title: "engine", of: (r) => cell(r.entry.series.label) },
        ...POINTS.map((point) => ({
            title: point,
            numeric: true,
            of: ({ script }: Row) =>
                timeCell(script.points_ns[point]?.median ?? null, script.point_thin[point]),
        })),
        { title: "max", numeric: true, of: (r) => timeCell(r.script.max_ns.max) },
        figureField("share of the time", (r: Row) => r.script.time_share, shareCell),
        figureField(
            "rows an operation",
            (r: Row) => (r.script.write ? r.script.rows_changed_each : r.script.rows_read_each),
            rateCell,
        ),
        figureField("over the latency limit", (r: Row) => r.script.slow, rateCell),
        ...outcomeFields<Row>((r) => r.script),
    ]);
}

export function latencyCurve(view: View, views: readonly View[], which: Script): FigureSpec {
    const domain = logDomain(views.flatMap((v) => curvePoints(v, which)).map((p) => p.y));
    return {
        id: slug("latency", view.source.label, view.kase.label, which.role, which.script),
        title: `Latency of ${which.script}`,
        sentence: tailSentence(view, which.role, which.script),
        draw: (width, shown) => {
            const drawn = curvePoints(view, which).filter((p) => shown(p.series));
            return drawn.length === 0 || domain === null ? null : curves(drawn, width, domain);
        },
        data: percentileTable(view, [which]),
    };
}

function tailPoints(view: View, scripts: readonly Script[]): RangePoint[] {
    return scripts.flatMap((which) =>
        view.entries.flatMap((entry) => {
            const p99 = summaryOf(entry, which)?.points_ns["p99"];
            if (p99 === undefined || p99.median === null || p99.min === null || p99.max === null) {
                return [];
            }
            return [
                {
                    series: entry.series,
                    row: which.script,
                    value: p99.median,
                    low: p99.min,
                    high: p99.max,
                    tip: `${which.script}, ${entry.series.label}\np99, median of rounds: ${p99.median} ns\nlowest round: ${p99.min} ns\nhighest round: ${p99.max} ns`,
                },
            ];
        }),
    );
}

/** p99 by script, or of each workload of an isolated suite. */
export function tails(view: View, views: readonly View[]): FigureSpec {
    const scripts = scriptsOf(view);
    const domain = logDomain(
        views.flatMap((v) => tailPoints(v, scriptsOf(v))).flatMap((p) => [p.low, p.high]),
    );
    const said = scripts.some((s) => {
        const row = rowOf(view.result.comparison, view.kase.suite, "p99", view.caseIndex, s.role, s.script);
        return row !== null && row.cells.some((c) => c.verdict === "closed loop");
    });
    return {
        id: slug("p99", view.source.label, view.kase.label),
        title: "p99 by query",
        sentence:
            `${occasion(view.result)}, the 99th percentile of each query: the median of the rounds, and a line from the lowest to the highest round.` +
            (said
                ? " In a closed loop the engines ran at different throughput: their tails are not compared."
                : ""),
        draw: (width, shown) => {
            const drawn = tailPoints(view, scripts).filter((p) => shown(p.series));
            return drawn.length === 0 || domain === null
                ? null
                : ranges(drawn, width, domain, { label: "p99", log: true, format: tick });
        },
        data: percentileTable(view, scripts),
    };
}
