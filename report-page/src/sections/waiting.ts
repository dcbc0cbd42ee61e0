/** Where the connections' time went, and what it cost: what stands beside a tail. */
import { forLog, logDomain, ranges, type RangePoint } from "../charts.ts";
import { bytesCell, figureField, shareCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { duration, sizeTick, tick } from "../format.ts";
import type { Figure } from "../result.ts";
import { cpuSentence, memorySentence, waitingSentence } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

interface Row {
    row: string;
    of: (entry: Entry) => Figure;
}

function rangePoints(view: View, rows: readonly Row[], unit: string): RangePoint[] {
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
                          tip: `${row}, ${entry.series.label}\nmedian of rounds: ${median} ${unit}\nlowest round: ${min} ${unit}\nhighest round: ${max} ${unit}`,
                      },
                  ];
        }),
    );
}

function logRanges(
    view: View,
    views: readonly View[],
    rows: readonly Row[],
    options: { unit: string; label: string; format: (value: number) => string },
): FigureSpec["draw"] {
    const drawable = (v: View) => forLog(rangePoints(v, rows, options.unit));
    const domain = logDomain(views.flatMap(drawable).flatMap((p) => [p.low, p.high]));
    return (width, shown) => {
        const drawn = drawable(view).filter((p) => shown(p.series));
        return drawn.length === 0 || domain === null
            ? null
            : ranges(drawn, width, domain, { label: options.label, log: true, format: options.format });
    };
}

const WAITS: readonly Row[] = [
    { row: "waited for a core", of: (e) => e.summary.run_queue_ns },
    { row: "off CPU", of: (e) => e.summary.off_cpu_ns },
    { row: "slept for locks", of: (e) => e.summary.slept_ns },
    { row: "closing", of: (e) => e.summary.close_ns },
];

/** Not every engine's sleep and every thread can be seen. */
const orUnknown = (ns: number | null) => cell(ns, ns === null ? "n/a" : duration(ns));

function waitingTable(view: View): Data {
    return tabulate(view.entries, [
        { title: "engine", of: (e) => cell(e.series.label) },
        figureField("CPU an operation", (e: Entry) => e.summary.cpu_per_operation_ns, timeCell),
        figureField("off CPU", (e: Entry) => e.summary.off_cpu_ns, orUnknown),
        figureField("slept for locks", (e: Entry) => e.summary.slept_ns, orUnknown),
        figureField("waited for a core", (e: Entry) => e.summary.run_queue_ns, timeCell),
        figureField("share waited for a core", (e: Entry) => e.summary.run_queue_share, shareCell),
        figureField("closing", (e: Entry) => e.summary.close_ns, timeCell),
    ]);
}

export function waiting(view: View, views: readonly View[]): FigureSpec {
    return {
        id: slug("waiting", view.source.label, view.kase.label),
        title: "Waiting: for a core, off CPU, for locks; closing",
        sentence: waitingSentence(view),
        draw: logRanges(view, views, WAITS, { unit: "ns", label: "time, all connections", format: tick }),
        data: waitingTable(view),
    };
}

const MEMORY: readonly Row[] = [
    { row: "peak memory", of: (e) => e.summary.peak_memory_bytes },
    { row: "bytes written", of: (e) => e.summary.write_bytes },
    { row: "largest WAL", of: (e) => e.summary.largest_wal_bytes },
    { row: "final size", of: (e) => e.summary.final_bytes },
];

export function memory(view: View, views: readonly View[]): FigureSpec {
    return {
        id: slug("memory", view.source.label, view.kase.label),
        title: "Memory and files",
        sentence: memorySentence(view),
        draw: logRanges(view, views, MEMORY, { unit: "bytes", label: "bytes", format: sizeTick }),
        data: tabulate(view.entries, [
            { title: "engine", of: (e) => cell(e.series.label) },
            ...MEMORY.map(({ row, of }) => figureField(row, of, bytesCell)),
        ]),
    };
}

export function cpu(view: View, views: readonly View[]): FigureSpec {
    const rows: Row[] = [{ row: "CPU an operation", of: (e) => e.summary.cpu_per_operation_ns }];
    const all = views.flatMap((v) => rangePoints(v, rows, "ns"));
    const max = all.reduce((most, p) => Math.max(most, p.high), 0);
    return {
        id: slug("cpu", view.source.label, view.kase.label),
        title: "CPU an operation",
        sentence: cpuSentence(view),
        draw: (width, shown) => {
            const drawn = rangePoints(view, rows, "ns").filter((p) => shown(p.series));
            return drawn.length === 0
                ? null
                : ranges(drawn, width, [0, max * 1.05], { label: "CPU time", log: false, format: tick });
        },
        data: waitingTable(view),
    };
}
