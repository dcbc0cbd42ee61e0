/** Scaling: the same scenario with more and more threads, a chart a role. */
import { scaling, type LinePoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { count, duration, list, rate } from "../format.ts";
import { occasion, rowOf, verdicts } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

function scriptOf(entry: Entry, role: string) {
    return entry.summary.scripts.find((s) => s.role === role);
}

/** The connections of a role that did least and most in any round. */
function served(entry: Entry, role: string): { least: number; most: number } | null {
    const done = entry.runs.flatMap((run) =>
        run.connections.filter((c) => c.role === role).map((c) => c.operations),
    );
    return done.length === 0
        ? null
        : {
              least: done.reduce((a, b) => Math.min(a, b)),
              most: done.reduce((a, b) => Math.max(a, b)),
          };
}

function points(cases: readonly View[], role: string): LinePoint[] {
    return cases.flatMap((view) =>
        view.entries.flatMap((entry) => {
            const figure = scriptOf(entry, role)?.operations_per_second;
            if (figure === undefined || figure.median === null) {
                return [];
            }
            return [
                {
                    series: entry.series,
                    line: entry.series.key,
                    x: view.kase.threads,
                    y: figure.median,
                    low: figure.min ?? figure.median,
                    high: figure.max ?? figure.median,
                    tip: `${entry.series.label}, ${view.kase.threads} threads\n${role}, operations/s, median of rounds: ${figure.median}\nlowest round: ${figure.min}\nhighest round: ${figure.max}`,
                },
            ];
        }),
    );
}

function table(cases: readonly View[], role: string): Data {
    return {
        columns: [
            { title: "engine" },
            { title: "threads", numeric: true },
            { title: "operations/s", numeric: true },
            { title: "p50", numeric: true },
            { title: "p99", numeric: true },
            { title: "p99.9", numeric: true },
            { title: "busy", numeric: true },
            { title: "failed", numeric: true },
            { title: "slept for locks", numeric: true },
            { title: "CPU an operation", numeric: true },
            { title: "least served", numeric: true },
            { title: "most served", numeric: true },
        ],
        rows: cases.flatMap((view) =>
            view.entries.map((entry) => {
                const script = scriptOf(entry, role);
                const point = (name: string) => script?.points_ns[name]?.median ?? null;
                const fair = served(entry, role);
                const throughput = script?.operations_per_second.median ?? null;
                const slept = entry.summary.slept_ns.median;
                const spent = entry.summary.cpu_per_operation_ns.median;
                return [
                    cell(entry.series.label),
                    cell(view.kase.threads),
                    cell(throughput, rate(throughput)),
                    ...["p50", "p99", "p99.9"].map((p) => cell(point(p), duration(point(p)))),
                    cell(script?.busy ?? null),
                    cell(script?.failed ?? null),
                    cell(slept, slept === null ? "n/a" : duration(slept)),
                    cell(spent, duration(spent)),
                    cell(fair?.least ?? null, count(fair?.least ?? null)),
                    cell(fair?.most ?? null, count(fair?.most ?? null)),
                ];
            }),
        ),
    };
}

function sentence(cases: readonly View[], role: string): string {
    const first = cases[0]!;
    const threads = cases.map((v) => String(v.kase.threads));
    const head = `${occasion(first.result)}, ${role} throughput with ${list(threads)} ${threads.length === 1 && threads[0] === "1" ? "thread" : "threads"}: the median of the rounds, and a line from the lowest to the highest round.`;
    const said = cases.flatMap((view) => {
        const { comparison } = view.result;
        const row =
            rowOf(comparison, view.kase.suite, "throughput", view.caseIndex, role, null) ??
            rowOf(comparison, view.kase.suite, "throughput", view.caseIndex, null, null);
        const text = row === null ? "" : verdicts("throughput", comparison!.baseline, row.cells);
        return text === "" ? [] : [`${view.kase.label}: ${text}`];
    });
    return [head, ...said].join(" ");
}

/** `cases`: one scenario of one file, by threads; `all`: the same of every file. */
export function concurrentFigures(cases: readonly View[], all: readonly View[]): FigureSpec[] {
    const roles = new Set(cases.flatMap((v) => v.entries.flatMap((e) => e.summary.scripts.map((s) => s.role))));
    return [...roles].map((role) => {
        const max = points(all, role).reduce((most, p) => Math.max(most, p.high ?? p.y), 0);
        return {
            id: slug("scaling", cases[0]!.source.label, cases[0]!.kase.scenario, cases[0]!.kase.isolation, role),
            title: `${cases[0]!.kase.scenario}: ${role}s`,
            sentence: sentence(cases, role),
            draw: (width, shown) => {
                const drawn = points(cases, role).filter((p) => shown(p.series));
                return drawn.length === 0 || max <= 0
                    ? null
                    : scaling(drawn, width, max * 1.05, "operations/s");
            },
            data: table(cases, role),
        };
    });
}
