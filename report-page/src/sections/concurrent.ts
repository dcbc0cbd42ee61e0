/** Scaling: the same scenario with more and more threads, charts for each role. */
import { scaling, type LinePoint } from "../charts.ts";
import { figureField, outcomeFields, rateCell, shareCell, stateCell, stateOf, timeCell } from "../cells.ts";
import { cell, tabulate, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { brief, duration, list } from "../format.ts";
import type { Figure, RoleSummary } from "../result.ts";
import { casesVerdicts, occasion } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

function roleOf(entry: Entry, role: string): RoleSummary | undefined {
    return entry.summary.roles.find((r) => r.role === role);
}

interface Metric {
    name: string;
    of: (role: RoleSummary) => Figure;
}

const THROUGHPUT: Metric = { name: "operations/s", of: (r) => r.operations_per_second };
const FAIRNESS: Metric = { name: "least through most served", of: (r) => r.fairness };

function points(cases: readonly View[], role: string, metric: Metric): LinePoint[] {
    return cases.flatMap((view) =>
        view.entries.flatMap((entry) => {
            const found = roleOf(entry, role);
            const figure = found === undefined ? null : metric.of(found);
            if (figure === null || figure.median === null) {
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
                    tip: `${entry.series.label}, ${view.kase.threads} threads\n${role}, ${metric.name}, median of rounds: ${figure.median}\nlowest round: ${figure.min}\nhighest round: ${figure.max}`,
                },
            ];
        }),
    );
}

interface Row extends Entry {
    view: View;
    role: RoleSummary | undefined;
}

function table(cases: readonly View[], role: string): Data {
    const rows: Row[] = cases.flatMap((view) =>
        view.entries.map((entry) => ({ ...entry, view, role: roleOf(entry, role) })),
    );
    const script = (row: Row) => row.summary.scripts.find((s) => s.role === role);
    const orUnknown = (ns: number | null) => cell(ns, ns === null ? "n/a" : duration(ns));
    return tabulate(rows, [
        { title: "engine", of: (r) => cell(r.series.label) },
        { title: "threads", numeric: true, of: (r) => cell(r.view.kase.threads) },
        { title: "connections", numeric: true, of: (r) => cell(r.role?.connections ?? null) },
        figureField("operations/s", (r: Row) => r.role?.operations_per_second, rateCell),
        { title: "lowest round", numeric: true, of: (r) => rateCell(r.role?.operations_per_second.min ?? null) },
        { title: "highest round", numeric: true, of: (r) => rateCell(r.role?.operations_per_second.max ?? null) },
        figureField("scaling", (r: Row) => r.role?.scaling, (v) => cell(v, v === null ? "–" : `× ${v.toFixed(2)}`)),
        figureField("least served/s", (r: Row) => r.role?.least_served_per_second, rateCell),
        figureField("most served/s", (r: Row) => r.role?.most_served_per_second, rateCell),
        figureField("fairness", (r: Row) => r.role?.fairness, shareCell),
        ...(["p50", "p99", "p99.9"] as const).map((point) => ({
            title: point,
            numeric: true,
            of: (r: Row) => timeCell(script(r)?.points_ns[point]?.median ?? null, script(r)?.point_thin[point]),
        })),
        figureField("CPU an operation", (r: Row) => r.role?.cpu_per_operation_ns, timeCell),
        figureField("off CPU", (r: Row) => r.role?.off_cpu_ns, orUnknown),
        figureField("slept for locks", (r: Row) => r.role?.slept_ns, orUnknown),
        figureField("waited for a core", (r: Row) => r.role?.run_queue_ns, timeCell),
        ...outcomeFields<Row>((r) => r.role),
        { title: "how it ended", of: (r) => stateCell(r.summary, r.view.result.plan.rounds) },
    ]);
}

/** Engines that did not run all of the cases as they should have, each with its reason once. */
export function leftOut(cases: readonly View[]): string {
    const said = new Map<string, string[]>();
    for (const view of cases) {
        for (const { engine, summary } of view.entries) {
            if (summary.status !== "ok" && summary.status !== null) {
                const what = `${engine.name}: ${brief(stateOf(summary, view.result.plan.rounds))}`;
                said.set(what, [...(said.get(what) ?? []), String(view.kase.threads)]);
            }
        }
    }
    return [...said]
        .map(([what, threads]) => ` With ${list(threads)} ${threads.join() === "1" ? "thread" : "threads"} ${what}.`)
        .join("");
}

function sentence(cases: readonly View[], role: string): string {
    const first = cases[0]!;
    const threads = cases.map((v) => String(v.kase.threads));
    return `${occasion(first.result)}, ${role} throughput with ${list(threads)} ${threads.join() === "1" ? "thread" : "threads"}${first.kase.isolation === "processes" ? ", each connection in a process of its own" : ""}: the median of the rounds, and a line from the lowest to the highest round.${leftOut(cases)}`;
}

function throughput(cases: readonly View[], all: readonly View[], role: string): FigureSpec {
    const max = points(all, role, THROUGHPUT).reduce((most, p) => Math.max(most, p.high ?? p.y), 0);
    const { kase, source } = cases[0]!;
    return {
        id: slug("scaling", source.label, kase.scenario, kase.isolation, role),
        title: `${kase.scenario}: ${role}s`,
        sentence: sentence(cases, role),
        said: casesVerdicts(cases, role),
        draw: (width, shown) => {
            const drawn = points(cases, role, THROUGHPUT).filter((p) => shown(p.series));
            return drawn.length === 0 || max <= 0
                ? null
                : scaling(drawn, width, max * 1.05, { x: "threads", y: "operations/s" });
        },
        data: table(cases, role),
    };
}

/** Of a role that has several connections somewhere: one alone is served as much as itself. */
function fairness(cases: readonly View[], role: string): FigureSpec[] {
    const connections = cases.flatMap((v) => v.entries.map((e) => roleOf(e, role)?.connections ?? 0));
    const { kase, source } = cases[0]!;
    if (connections.every((count) => count < 2)) {
        return [];
    }
    return [
        {
            id: slug("fairness", source.label, kase.scenario, kase.isolation, role),
            title: `${kase.scenario}: how evenly ${role}s were served`,
            sentence: `${occasion(cases[0]!.result)}, operations/s of the ${role} that was served least through those of the one that was served most: 1 when all were served alike. The median of the rounds, and a line from the lowest to the highest round.`,
            draw: (width, shown) => {
                const drawn = points(cases, role, FAIRNESS).filter((p) => shown(p.series));
                return drawn.length === 0
                    ? null
                    : scaling(drawn, width, 1.05, { x: "threads", y: "least through most served" });
            },
            data: table(cases, role),
        },
    ];
}

/** `cases`: one scenario of one file, by threads; `all`: the same of every file. */
export function concurrentFigures(cases: readonly View[], all: readonly View[]): FigureSpec[] {
    const roles = new Set(cases.flatMap((v) => v.entries.flatMap((e) => e.summary.roles.map((r) => r.role))));
    if (roles.size === 0) {
        return [throughput(cases, all, "connection")]; // nobody ran: it says why
    }
    return [...roles].flatMap((role) => [throughput(cases, all, role), ...fairness(cases, role)]);
}
