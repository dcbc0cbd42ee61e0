/** All isolated workloads of one result in one chart: each is a case of its own. */
import { logDomain, ranges, type RangePoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, rate, share, short, tick } from "../format.ts";
import type { Figure } from "../result.ts";
import { occasion, rowOf, verdicts } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

interface Metric {
    id: string;
    title: string;
    label: string;
    unit: string;
    of: (entry: Entry) => Figure;
    format: (value: number) => string;
}

const THROUGHPUT: Metric = {
    id: "bench-throughput",
    title: "Operations a second",
    label: "operations/s",
    unit: "operations/s",
    of: (e) => e.summary.operations_per_second,
    format: short,
};

const CPU: Metric = {
    id: "bench-cpu",
    title: "CPU an operation",
    label: "CPU time",
    unit: "ns",
    of: (e) => e.summary.cpu_per_operation_ns,
    format: tick,
};

function points(cases: readonly View[], metric: Metric): RangePoint[] {
    return cases.flatMap((view) =>
        view.entries.flatMap((entry) => {
            const { median, min, max } = metric.of(entry);
            return median === null || min === null || max === null
                ? []
                : [
                      {
                          series: entry.series,
                          row: view.kase.label,
                          value: median,
                          low: min,
                          high: max,
                          tip: `${view.kase.label}, ${entry.series.label}\nmedian of rounds: ${median} ${metric.unit}\nlowest round: ${min} ${metric.unit}\nhighest round: ${max} ${metric.unit}`,
                      },
                  ];
        }),
    );
}

function table(cases: readonly View[]): Data {
    const p = (e: Entry, point: string) => e.summary.scripts[0]?.points_ns[point]?.median ?? null;
    return {
        columns: [
            { title: "workload" },
            { title: "engine" },
            { title: "operations/s", numeric: true },
            { title: "lowest round", numeric: true },
            { title: "highest round", numeric: true },
            { title: "p50", numeric: true },
            { title: "p95", numeric: true },
            { title: "p99", numeric: true },
            { title: "CPU an operation", numeric: true },
            { title: "CPU of others", numeric: true },
        ],
        rows: cases.flatMap((view) =>
            view.entries.map((e) => [
                cell(view.kase.label),
                cell(e.series.label),
                cell(e.summary.operations_per_second.median, rate(e.summary.operations_per_second.median)),
                cell(e.summary.operations_per_second.min, rate(e.summary.operations_per_second.min)),
                cell(e.summary.operations_per_second.max, rate(e.summary.operations_per_second.max)),
                cell(p(e, "p50"), duration(p(e, "p50"))),
                cell(p(e, "p95"), duration(p(e, "p95"))),
                cell(p(e, "p99"), duration(p(e, "p99"))),
                cell(e.summary.cpu_per_operation_ns.median, duration(e.summary.cpu_per_operation_ns.median)),
                cell(e.summary.cpu_others.median, share(e.summary.cpu_others.median)),
            ]),
        ),
    };
}

/** Sentences of every workload that carries a verdict; else only what was measured. */
function sentence(cases: readonly View[], metric: Metric): string {
    const first = cases[0]!;
    const head = `${occasion(first.result)}, ${metric.title.replace(/^O/, "o")} in ${cases.length === 1 ? "one workload" : `${cases.length} workloads`}: the median of the rounds, and a line from the lowest to the highest round.`;
    if (metric !== THROUGHPUT) {
        return head;
    }
    const said = cases.flatMap((view) => {
        const { comparison } = view.result;
        const row = rowOf(comparison, view.kase.suite, "throughput", view.caseIndex, null, null);
        const text = row === null ? "" : verdicts("throughput", comparison!.baseline, row.cells);
        return text === "" ? [] : [`${view.kase.label}: ${text}`];
    });
    return [head, ...said].join(" ");
}

function figure(cases: readonly View[], all: readonly View[], metric: Metric): FigureSpec {
    const domain = logDomain(points(all, metric).flatMap((p) => [p.low, p.high]));
    return {
        id: slug(metric.id, cases[0]!.source.label, cases[0]!.kase.suite),
        title: metric.title,
        sentence: sentence(cases, metric),
        draw: (width, shown) => {
            const drawn = points(cases, metric).filter((p) => shown(p.series));
            return drawn.length === 0 || domain === null
                ? null
                : ranges(drawn, width, domain, { label: metric.label, log: true, format: metric.format });
        },
        data: table(cases),
    };
}

/** `cases`: of one file; `all`: of every file. */
export function benchFigures(cases: readonly View[], all: readonly View[]): FigureSpec[] {
    return [figure(cases, all, THROUGHPUT), figure(cases, all, CPU)];
}
