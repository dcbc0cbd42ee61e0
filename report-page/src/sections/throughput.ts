import { bars, type BarPoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, rate, share } from "../format.ts";
import type { Run } from "../result.ts";
import { throughputSentence } from "../sentences.ts";
import type { View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

/** Operations of a run that ended ok, a second of its window; null: nothing was measured. */
function roundRate(run: Run): number | null {
    const window = Number(run.window_ns);
    const done = run.scripts.reduce((sum, s) => sum + s.ok * s.operations_each, 0);
    return run.window_ns === null || window <= 0 ? null : (done * 1e9) / window;
}

function points(view: View): BarPoint[] {
    return view.entries.flatMap(({ series, summary, runs }) => {
        const { median, min, max } = summary.operations_per_second;
        if (median === null || min === null || max === null) {
            return [];
        }
        return [
            {
                series,
                value: median,
                low: min,
                high: max,
                rounds: runs.map(roundRate).filter((r) => r !== null),
                tip: `${series.label}\noperations/s, median of rounds: ${median}\nlowest round: ${min}\nhighest round: ${max}`,
            },
        ];
    });
}

function table(view: View): Data {
    return {
        columns: [
            { title: "engine" },
            { title: "operations/s", numeric: true },
            { title: "lowest round", numeric: true },
            { title: "highest round", numeric: true },
            { title: "reads/s", numeric: true },
            { title: "writes/s", numeric: true },
            { title: "CPU an operation", numeric: true },
            { title: "rounds", numeric: true },
            { title: "busy", numeric: true },
            { title: "conflict", numeric: true },
            { title: "failed", numeric: true },
            { title: "CPU of others", numeric: true },
        ],
        rows: view.entries.map(({ series, summary: s }) => [
            cell(series.label),
            cell(s.operations_per_second.median, rate(s.operations_per_second.median)),
            cell(s.operations_per_second.min, rate(s.operations_per_second.min)),
            cell(s.operations_per_second.max, rate(s.operations_per_second.max)),
            cell(s.reads_per_second.median, rate(s.reads_per_second.median)),
            cell(s.writes_per_second.median, rate(s.writes_per_second.median)),
            cell(s.cpu_per_operation_ns.median, duration(s.cpu_per_operation_ns.median)),
            cell(s.rounds_ok),
            cell(s.busy),
            cell(s.conflict),
            cell(s.failed),
            cell(s.cpu_others.median, share(s.cpu_others.median)),
        ]),
    };
}

/** `views` are the same case in every file: they share the axis. */
export function throughput(view: View, views: readonly View[]): FigureSpec {
    const max = Math.max(0, ...views.flatMap(points).flatMap((p) => [p.high, ...p.rounds]));
    return {
        id: slug("throughput", view.source.label, view.kase.suite, view.kase.label),
        title: "Throughput",
        sentence: throughputSentence(view),
        draw: (width, shown) => {
            const drawn = points(view).filter((p) => shown(p.series));
            return drawn.length === 0 || max <= 0
                ? null
                : bars(drawn, width, max * 1.04, "operations/s (bar: median; circles: rounds)");
        },
        data: table(view),
    };
}
