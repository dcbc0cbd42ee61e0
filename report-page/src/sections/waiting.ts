/** Where the connections' time went: what stands beside a tail. */
import { logDomain, ranges, type RangePoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, share, tick } from "../format.ts";
import type { Figure } from "../result.ts";
import { cpuSentence, waitingSentence } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

interface Row {
    row: string;
    of: (entry: Entry) => Figure;
}

function rangePoints(view: View, rows: readonly Row[]): RangePoint[] {
    return rows.flatMap(({ row, of }) =>
        view.entries.flatMap((entry) => {
            const { median, min, max } = of(entry);
            return median === null || min === null || max === null
                ? []
                : [
                      {
                          series: entry.series,
                          row,
                          value: median,
                          low: min,
                          high: max,
                          tip: `${row}, ${entry.series.label}\nmedian of rounds: ${median} ns\nlowest round: ${min} ns\nhighest round: ${max} ns`,
                      },
                  ];
        }),
    );
}

const WAITS: readonly Row[] = [
    { row: "waited for a core", of: (e) => e.summary.run_queue_ns },
    { row: "slept for locks", of: (e) => e.summary.slept_ns },
    { row: "closing", of: (e) => e.summary.close_ns },
];

function waitingTable(view: View): Data {
    return {
        columns: [
            { title: "engine" },
            { title: "CPU an operation", numeric: true },
            { title: "slept for locks", numeric: true },
            { title: "waited for a core", numeric: true },
            { title: "share waited for a core", numeric: true },
            { title: "closing", numeric: true },
        ],
        rows: view.entries.map(({ series, summary: s }) => [
            cell(series.label),
            cell(s.cpu_per_operation_ns.median, duration(s.cpu_per_operation_ns.median)),
            cell(s.slept_ns.median, s.slept_ns.median === null ? "n/a" : duration(s.slept_ns.median)),
            cell(s.run_queue_ns.median, duration(s.run_queue_ns.median)),
            cell(s.run_queue_share.median, share(s.run_queue_share.median)),
            cell(s.close_ns.median, duration(s.close_ns.median)),
        ]),
    };
}

export function waiting(view: View, views: readonly View[]): FigureSpec {
    const domain = logDomain(views.flatMap((v) => rangePoints(v, WAITS)).flatMap((p) => [p.low, p.high]));
    return {
        id: slug("waiting", view.source.label, view.kase.label),
        title: "Waiting: sleeping for locks, waiting for a core, closing",
        sentence: waitingSentence(view),
        draw: (width, shown) => {
            // A logarithmic axis has no place for "nothing": the table says 0.
            const drawn = rangePoints(view, WAITS).filter((p) => shown(p.series) && p.low > 0);
            return drawn.length === 0 || domain === null
                ? null
                : ranges(drawn, width, domain, { label: "time, all connections", log: true, format: tick });
        },
        data: waitingTable(view),
    };
}

export function cpu(view: View, views: readonly View[]): FigureSpec {
    const rows: Row[] = [{ row: "CPU an operation", of: (e) => e.summary.cpu_per_operation_ns }];
    const all = views.flatMap((v) => rangePoints(v, rows));
    const max = all.reduce((most, p) => Math.max(most, p.high), 0);
    return {
        id: slug("cpu", view.source.label, view.kase.label),
        title: "CPU an operation",
        sentence: cpuSentence(view),
        draw: (width, shown) => {
            const drawn = rangePoints(view, rows).filter((p) => shown(p.series));
            return drawn.length === 0
                ? null
                : ranges(drawn, width, [0, max * 1.05], { label: "CPU time", log: false, format: tick });
        },
        data: waitingTable(view),
    };
}
