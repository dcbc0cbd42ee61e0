/** All isolated workloads of one result in one chart: each is a case of its own. */
import { logDomain, ranges, type RangePoint } from "../charts.ts";
import { figureField, outcomeFields, rateCell, shareCell, stateCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { short, tick } from "../format.ts";
import type { Figure } from "../result.ts";
import { casesVerdicts, occasion } from "../sentences.ts";
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

interface Row extends Entry {
    view: View;
}

/** What bench shows is a script alone; with several the first one stands for the case. */
function table(cases: readonly View[]): Data {
    const rows: Row[] = cases.flatMap((view) => view.entries.map((entry) => ({ ...entry, view })));
    return tabulate(rows, [
        { title: "workload", of: (r) => cell(r.view.kase.label) },
        { title: "engine", of: (r) => cell(r.series.label) },
        figureField("operations/s", (r: Row) => r.summary.operations_per_second, rateCell),
        { title: "lowest round", numeric: true, of: (r) => rateCell(r.summary.operations_per_second.min) },
        { title: "highest round", numeric: true, of: (r) => rateCell(r.summary.operations_per_second.max) },
        ...(["p50", "p95", "p99"] as const).map((point) => ({
            title: point,
            numeric: true,
            of: ({ summary: { scripts } }: Row) =>
                timeCell(scripts[0]?.points_ns[point]?.median ?? null, scripts[0]?.point_thin[point]),
        })),
        figureField("CPU an operation", (r: Row) => r.summary.cpu_per_operation_ns, timeCell),
        figureField("off CPU", (r: Row) => r.summary.off_cpu_ns, timeCell),
        ...outcomeFields<Row>((r) => r.summary),
        figureField("CPU of others", (r: Row) => r.summary.cpu_others, shareCell),
        figureField("steal", (r: Row) => r.summary.steal, shareCell),
        { title: "how it ended", of: (r) => stateCell(r.summary, r.view.result.plan.rounds) },
    ]);
}

function sentence(cases: readonly View[], metric: Metric): string {
    const first = cases[0]!;
    return `${occasion(first.result)}, ${metric.title.replace(/^O/, "o")} in ${cases.length === 1 ? "one workload" : `${cases.length} workloads`}: the median of the rounds, and a line from the lowest to the highest round.`;
}

function figure(cases: readonly View[], all: readonly View[], metric: Metric): FigureSpec {
    const domain = logDomain(points(all, metric).flatMap((p) => [p.low, p.high]));
    return {
        id: slug(metric.id, cases[0]!.source.label, cases[0]!.kase.suite),
        title: metric.title,
        sentence: sentence(cases, metric),
        said: metric === THROUGHPUT ? casesVerdicts(cases, null) : [],
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
