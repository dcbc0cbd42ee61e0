/**
 * The sentence above each chart, made from the data. It compares engines only where a verdict of
 * the result carries it; otherwise it only reports what was measured.
 */
import type { Cell, Comparison, ComparisonRow, Figure, Result } from "./result.ts";
import type { View } from "./series.ts";
import { duration, list, rate, ratio, share } from "./format.ts";

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

/** "In this one run", "In these 2 rounds", "Over 10 rounds". */
export function occasion(result: Result): string {
    const rounds = result.plan.rounds;
    if (rounds === 1) {
        return "In this one run";
    }
    return rounds < ROUNDS_FOR_A_VERDICT ? `In these ${rounds} rounds` : `Over ${rounds} rounds`;
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
            const reason = REASONS[cell.verdict ?? ""] ?? cell.note ?? cell.verdict ?? "no verdict";
            unsaid.set(reason, [...(unsaid.get(reason) ?? []), cell.engine]);
        }
    }
    if (same.length > 0) {
        parts.push(`between ${baseline} and ${list(same)} no difference in ${what} is shown`);
    }
    for (const [reason, engines] of unsaid) {
        parts.push(`nothing is said of ${list(engines)}: ${reason}`);
    }
    const text = parts.join("; ");
    return text === "" ? "" : `${text}.`;
}

interface Reported {
    label: string;
    figure: Figure;
}

function reported(what: string, values: readonly Reported[], show: (v: number) => string): string {
    const known = values.filter((v) => v.figure.median !== null);
    if (known.length === 0) {
        return `${what}: nothing was measured.`;
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
    const measured = `${occasion(result)}, operations/s: ${reported("operations/s", values, rate)}`;
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
    const measured = `${occasion(result)}, p99 of ${script}: ${reported("p99", values, duration)}`;
    const row = rowOf(result.comparison, kase.suite, "p99", caseIndex, role, script);
    return sentence(
        measured,
        row === null ? "" : verdicts(`p99 of ${script}`, result.comparison!.baseline, row.cells),
    );
}

export function cpuSentence(view: View): string {
    const values = of(view, (e) => e.summary.cpu_per_operation_ns);
    return `${occasion(view.result)}, CPU an operation: ${reported("CPU", values, duration)}`;
}

export function waitingSentence(view: View): string {
    const values = of(view, (e) => e.summary.slept_ns);
    const unknown = values.filter((v) => v.figure.median === null).map((v) => v.label);
    const queue = of(view, (e) => e.summary.run_queue_share);
    const parts = [
        `${occasion(view.result)}, waited for a core, of the connections' time: ${reported("run queue", queue, share)}`,
        `Slept waiting for locks, all connections of a round: ${reported("slept", values, duration)}`,
    ];
    if (unknown.length > 0) {
        parts.push(`Of ${list(unknown)} it cannot be measured.`);
    }
    return parts.join(" ");
}

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
        parts.push(`of ${rest} nothing is said`);
    }
    const noise =
        table.floor === null
            ? ""
            : ` Differences below ${share(table.floor)}, ${
                  table.floor_rows > 0
                      ? `the noise of ${comparison.baseline} against itself`
                      : `the least noise, as ${comparison.baseline} did not run against itself`
              }, count as none.`;
    return `Against ${comparison.baseline}, ${table.metric}, ${comparison.runs} rounds: ${list(parts)}.${noise}`;
}
