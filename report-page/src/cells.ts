/** Cells of numbers with their units, and what tables of engines have in common. */
import { cell, type Field, type Value } from "./datatable.ts";
import { brief, bytes, count, duration, rate, share, ABSENT } from "./format.ts";
import type { Figure, Outcomes, Summary } from "./result.ts";

/** Marked where it rests on too few samples. */
export function timeCell(ns: number | null, thin = false): Value {
    const few = thin && ns !== null;
    return cell(ns, `${few ? "~" : ""}${duration(ns)}`, few ? "thin" : undefined);
}

export const rateCell = (perSecond: number | null): Value => cell(perSecond, rate(perSecond));
export const shareCell = (of: number | null): Value => cell(of, share(of));
export const bytesCell = (of: number | null): Value => cell(of, bytes(of));
export const countCell = (of: number | string | null): Value => cell(of, count(of));

/** A figure of a summary as a column of medians. */
export function figureField<T>(
    title: string,
    of: (item: T) => Figure | undefined,
    show: (median: number | null) => Value,
): Field<T> {
    return { title, numeric: true, of: (item) => show(of(item)?.median ?? null) };
}

const OUTCOMES = ["ok", "busy", "conflict", "failed", "skipped", "open", "retries"] as const;

/** What became of all executions, over all rounds. */
export function outcomeFields<T>(of: (item: T) => Outcomes | undefined): Field<T>[] {
    return OUTCOMES.map((name) => ({
        title: name === "open" ? "open at the end" : name === "ok" ? "ok, all rounds" : name,
        numeric: true,
        of: (item) => {
            const value = of(item)?.[name] ?? null;
            return cell(value, count(value), name === "failed" && value !== null && value > 0 ? "slower" : undefined);
        },
    }));
}

/** "ok", "partial, 2 of 3 rounds", "unable: it locks its file". */
export function stateOf(summary: Summary, rounds: number): string {
    const status = summary.status ?? ABSENT;
    const part = summary.rounds_ok < rounds && summary.rounds_ok > 0 ? `, ${summary.rounds_ok} of ${rounds} rounds` : "";
    return `${status}${part}${summary.error === null ? "" : `: ${summary.error}`}`;
}

export function stateCell(summary: Summary, rounds: number): Value {
    const state = stateOf(summary, rounds);
    return cell(state, brief(state), summary.status === "ok" ? undefined : "slower");
}
