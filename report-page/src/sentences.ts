/**
 * The sentence above each chart, made from the data. It compares engines only where a verdict of
 * the result carries it; otherwise it only reports what was measured.
 */
import type { Cell, Comparison, ComparisonRow, Figure, Result } from "./result.ts";
import type { View } from "./series.ts";
import { brief, bytes, duration, list, rate, ratio, share } from "./format.ts";

/** Fewer rounds than this carry no verdict. */
export const ROUNDS_FOR_A_VERDICT = 3;

/** The row of a comparison that speaks of one figure; role and script null: of the whole case. */
export function rowOf(
    comparison: Comparison | null,
    suite: string,
    metric: string,
    caseIndex: number,
    role: string | null,
    script: string | null,
): ComparisonRow | null {
    const table = comparison?.tables.find((t) => t.suite === suite && t.metric === metric);
    return (
        table?.rows.find(
            (r) => r.case === caseIndex && r.role === role && r.script === script,
        ) ?? null
    );
}

/** Most rounds that any engine's figures are made of: whole ones, else those that ended early. */
function roundsOf(result: Result): number {
    const rounds = result.engines.flatMap((engine) =>
        engine.summaries.map((summary, of) =>
            summary.rounds_ok > 0
                ? summary.rounds_ok
                : engine.runs.filter((run) => run.case === of && run.status === "partial").length,
        ),
    );
    return rounds.reduce((a, b) => Math.max(a, b), 0);
}

/** "In this one run", "In these 2 rounds", "Over 10 rounds". */
export function occasion(result: Result): string {
    const rounds = roundsOf(result);
    if (rounds < 2) {
        return rounds === 0 ? "No run ended well" : "In this one run";
    }
    return rounds < ROUNDS_FOR_A_VERDICT ? `In these ${rounds} rounds` : `Over ${rounds} rounds`;
}

/** Of how many rounds the ratios of a comparison are, and what that allows to say. */
export function comparisonRounds({ tables }: Comparison): string {
    const rounds = tables
        .flatMap((table) => table.rows.flatMap((row) => row.cells.map((c) => c.rounds)))
        .reduce((a, b) => Math.max(a, b), 0);
    if (rounds < 2) {
        return rounds === 0 ? "no round in common" : "one run: no difference is claimed";
    }
    return rounds < ROUNDS_FOR_A_VERDICT
        ? `${rounds} rounds, and a verdict needs ${ROUNDS_FOR_A_VERDICT}`
        : `${rounds} rounds`;
}

function interval(cell: Cell): string {
    return cell.ratio_low === null || cell.ratio_high === null
        ? ""
        : ` (${ratio(cell.ratio_low)} to ${ratio(cell.ratio_high)})`;
}

const REASONS: Record<string, string> = {
    "closed loop":
        "in a closed loop the engines ran at different throughput, so their tails are not compared",
    "too few rounds": `under ${ROUNDS_FOR_A_VERDICT} rounds no difference is claimed`,
};

/**
 * What the cells of a row say of `what` ("throughput", "p99 of insert_order"). The baseline's own
 * second run is its noise, not an engine to compare with. Empty where nothing can be said.
 */
export function verdicts(what: string, baseline: string, cells: readonly Cell[]): string {
    const parts: string[] = [];
    const same: string[] = [];
    const unsaid = new Map<string, string[]>();
    for (const cell of cells) {
        if (cell.engine === baseline) {
            continue;
        }
        if ((cell.verdict === "faster" || cell.verdict === "slower") && cell.ratio !== null) {
            parts.push(
                `${cell.engine}'s ${what} is ${ratio(cell.ratio)} times ${baseline}'s${interval(cell)}: ${cell.verdict}`,
            );
        } else if (cell.verdict === "no difference shown") {
            same.push(cell.engine);
        } else {
            const reason = REASONS[cell.verdict ?? ""] ?? brief(cell.note ?? cell.verdict ?? "no verdict");
            unsaid.set(reason, [...(unsaid.get(reason) ?? []), cell.engine]);
        }
    }
    if (same.length > 0) {
        parts.push(`between ${baseline} and ${same.join(" or ")} no difference in ${what} is shown`);
    }
    for (const [reason, engines] of unsaid) {
        parts.push(`nothing is said of ${list(engines)}: ${reason}`);
    }
    const text = parts.join("; ");
    return text === "" ? "" : `${text}.`;
}

/** What the verdicts say of the throughput of each case, or of a role in it. */
export function casesVerdicts(cases: readonly View[], role: string | null): string[] {
    return cases.flatMap(({ result: { comparison }, kase, caseIndex }) => {
        const row =
            rowOf(comparison, kase.suite, "throughput", caseIndex, role, null) ??
            rowOf(comparison, kase.suite, "throughput", caseIndex, null, null);
        const text = row === null ? "" : verdicts("throughput", comparison!.baseline, row.cells);
        return text === "" ? [] : [`${kase.label}: ${text}`];
    });
}

interface Reported {
    label: string;
    figure: Figure;
}

function reported(values: readonly Reported[], show: (v: number) => string): string {
    const known = values.filter((v) => v.figure.median !== null);
    if (known.length === 0) {
        return "nothing was measured.";
    }
    return `${list(known.map((v) => `${v.label} ${show(v.figure.median!)}`))}.`;
}

function of(view: View, pick: (entry: View["entries"][number]) => Figure | undefined): Reported[] {
    return view.entries.flatMap((entry) => {
        const figure = pick(entry);
        return figure === undefined ? [] : [{ label: entry.engine.name, figure }];
    });
}

/** The measured numbers, then what may be concluded from them. */
function sentence(measured: string, said: string): string {
    return said === "" ? measured : `${measured} ${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}

export function throughputSentence(view: View, role: string | null = null): string {
    const { result, caseIndex, kase } = view;
    const values = of(view, (e) =>
        role === null
            ? e.summary.operations_per_second
            : e.summary.scripts.find((s) => s.role === role)?.operations_per_second,
    );
    const measured = `${occasion(result)}, operations/s: ${reported(values, rate)}`;
    const row = rowOf(result.comparison, kase.suite, "throughput", caseIndex, role, null);
    return sentence(
        measured,
        row === null ? "" : verdicts("throughput", result.comparison!.baseline, row.cells),
    );
}

export function tailSentence(view: View, role: string, script: string): string {
    const { result, caseIndex, kase } = view;
    const values = of(
        view,
        (e) => e.summary.scripts.find((s) => s.role === role && s.script === script)?.points_ns["p99"],
    );
    const measured = `${occasion(result)}, p99 of ${script}: ${reported(values, duration)}`;
    const row = rowOf(result.comparison, kase.suite, "p99", caseIndex, role, script);
    return sentence(
        measured,
        row === null ? "" : verdicts(`p99 of ${script}`, result.comparison!.baseline, row.cells),
    );
}

export function cpuSentence(view: View): string {
    const values = of(view, (e) => e.summary.cpu_per_operation_ns);
    return `${occasion(view.result)}, CPU an operation: ${reported(values, duration)}`;
}

/** A figure of all connections of a round, and the engines of which it cannot be known. */
function summed(what: string, values: readonly Reported[]): string {
    const unknown = values.filter((v) => v.figure.median === null).map((v) => v.label);
    const known = unknown.length === values.length && unknown.length > 0 ? "" : ` ${reported(values, duration)}`;
    return `${what}:${known}${unknown.length === 0 ? "" : ` Of ${list(unknown)} it cannot be told.`}`;
}

export function waitingSentence(view: View): string {
    const queue = of(view, (e) => e.summary.run_queue_share);
    return [
        `${occasion(view.result)}, waited for a core, of the connections' time: ${reported(queue, share)}`,
        "All connections of a round together.",
        summed(
            "Neither on a core nor waiting for one (off CPU)",
            of(view, (e) => e.summary.off_cpu_ns),
        ),
        summed(
            "Of that, slept waiting for locks",
            of(view, (e) => e.summary.slept_ns),
        ),
    ].join(" ");
}

export function memorySentence(view: View): string {
    const values = of(view, (e) => e.summary.peak_memory_bytes);
    return `${occasion(view.result)}, the most memory of the process that called the engine: ${reported(values, bytes)}`;
}

/** "All engines were offered 640 operations/s, 70 % of what the slowest did in a closed loop (…)." */
function offered({ kase }: View): string {
    const loops = kase.closed_loops.map((l) => `${l.engine} ${rate(l.operations_per_second)}/s`);
    const of =
        kase.rate_share === null
            ? ""
            : `, ${share(kase.rate_share)} of what the slowest did in a closed loop (${list(loops)})`;
    return `All engines were offered ${rate(kase.rate)} operations/s, whether they kept up or not${of}.`;
}

/** Throughput where it was asked for. */
export function arrivalSentence(view: View): string {
    return `${offered(view)} ${throughputSentence(view)}`;
}

/** Engines of which the result warns that they could not keep up in the case. */
export function saturatedEngines({ result, kase }: View): string[] {
    const alone = result.cases.length === 1;
    return result.engines
        .map((e) => e.name)
        .filter((name) =>
            result.warnings.some(
                (w) => w.subject === name && w.text.includes("saturated:") && (alone || w.text.includes(kase.label)),
            ),
        );
}

export function saturationSentence(view: View): string {
    const saturated = saturatedEngines(view);
    const begun = of(view, (e) => e.summary.begun_share);
    const said =
        saturated.length === 0
            ? begun.some((v) => v.figure.median !== null)
                ? "None of them is saturated."
                : ""
            : `${list(saturated)} ${saturated.length === 1 ? "is" : "are"} saturated: latencies of such an engine grow with the length of the run and tell only that it cannot keep up.`;
    return `${offered(view)} ${occasion(view.result)}, begun of what was due: ${reported(begun, share)} ${said}`.trim();
}

export function partsSentence(view: View): string {
    return `${occasion(view.result)}, p99 of each query: latency counts from the moment at which an execution was due, service time from its start, lag is the wait between the two. The median of the rounds, and a line from the lowest to the highest round. All engines were asked for the same operations at the same moments, so their tails are comparable.`;
}

const METRICS: Record<string, { name: string; better: "more" | "less" }> = {
    throughput: { name: "throughput", better: "more" },
    p99: { name: "p99 of the latency", better: "less" },
    cpu: { name: "CPU time an operation", better: "less" },
};

/** What a table of a comparison is of, and which way is better. */
export function metricOf(metric: string): { name: string; better: string } {
    const known = METRICS[metric];
    return known === undefined ? { name: metric, better: "" } : { ...known, better: `${known.better} is better` };
}

const SAID = ["faster", "slower", "no difference shown"];

/** The whole table in words: how many rows were told apart. */
export function comparisonSentence(comparison: Comparison, table: Comparison["tables"][number]): string {
    const cells = table.rows
        .flatMap((row) => row.cells)
        .filter((cell) => cell.engine !== comparison.baseline);
    const faster = cells.filter((c) => c.verdict === "faster").length;
    const slower = cells.filter((c) => c.verdict === "slower").length;
    const same = cells.filter((c) => c.verdict === "no difference shown").length;
    const rest = cells.length - faster - slower - same;
    const parts = [
        `${faster} ${faster === 1 ? "row is" : "rows are"} faster than ${comparison.baseline}`,
        `${slower} slower`,
        `in ${same} no difference is shown`,
    ];
    if (rest > 0) {
        const reasons = cells
            .filter((c) => !SAID.includes(c.verdict ?? ""))
            .map((c) => c.verdict ?? c.note?.replace(/:.*/s, "") ?? "no verdict");
        parts.push(`of ${rest} nothing is said (${list([...new Set(reasons)])})`);
    }
    const noise =
        table.floor === null
            ? ""
            : ` Differences below ${share(table.floor)}, ${
                  table.floor_rows > 0
                      ? `the noise of ${comparison.baseline} against itself`
                      : `the least noise, as ${comparison.baseline} did not run against itself`
              }, count as none.`;
    const { name, better } = metricOf(table.metric);
    return `Against ${comparison.baseline}, ${name} (${better}), ${comparisonRounds(comparison)}: ${list(parts)}.${noise}`;
}
