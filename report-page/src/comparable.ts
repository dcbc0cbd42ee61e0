/** What keeps two results from being compared, found by holding their records together. */
import { duration } from "./format.ts";
import type { Case, Result, Source } from "./result.ts";

interface Fact {
    what: string;
    of: (result: Result) => string;
}

function text(value: unknown): string {
    return value === null || value === undefined ? "–" : String(value);
}

/** Times with their unit. */
function shown(key: string, value: unknown): string {
    return key.endsWith("_ns") && value !== null && value !== undefined ? duration(Number(value)) : text(value);
}

function settings(result: Result): string {
    return result.plan.settings.map((s) => `${s.name}=${s.value}`).join(", ");
}

const PLAN = ["cache_size", "busy_timeout_ms", "max_tries", "latency_limit_ns", "seed"] as const;
const HOST = ["cpu_model", "cores", "kernel", "virtual_machine", "file_system", "clock_source"] as const;

const FACTS: readonly Fact[] = [
    ...HOST.map((key) => ({ what: `host: ${key}`, of: (r: Result) => text(r.host[key]) })),
    { what: "pitot's version", of: (r) => `${r.pitot_version} (${r.build})` },
    { what: "settings", of: settings },
    ...PLAN.map((key) => ({ what: `plan: ${key}`, of: (r: Result) => shown(key, r.plan[key]) })),
];

const CASE = [
    "suite_hash",
    "scale",
    "threads",
    "duration_ns",
    "operations",
    "warmup_ns",
    "warmup_operations",
    "rate",
    "isolation",
] as const;

export interface Difference {
    what: string;
    values: string[]; // by source
}

/** Everything in which the sources differ and that changes numbers; empty for one source. */
export function differences(sources: readonly Source[]): Difference[] {
    const found: Difference[] = [];
    const note = (what: string, values: string[]) => {
        if (new Set(values).size > 1) {
            found.push({ what, values });
        }
    };
    for (const fact of FACTS) {
        note(
            fact.what,
            sources.map((s) => fact.of(s.result)),
        );
    }
    const nameOf = (c: Case) => (c.suite === c.label ? c.label : `${c.suite} ${c.label}`);
    const labels = new Set(sources.flatMap((s) => s.result.cases.map(nameOf)));
    for (const label of labels) {
        const cases = sources.map((s) =>
            s.result.cases.find((c) => nameOf(c) === label),
        );
        if (cases.some((c) => c === undefined)) {
            note(
                label,
                cases.map((c) => (c === undefined ? "not measured" : "measured")),
            );
            continue;
        }
        for (const key of CASE) {
            note(
                `${label}: ${key}`,
                cases.map((c) => shown(key, c![key])),
            );
        }
        note(
            `${label}: variables`,
            cases.map((c) => c!.variables.map((v) => `${v.name}=${v.value}`).join(", ")),
        );
    }
    const engines = new Set(sources.flatMap((s) => s.result.engines.map((e) => e.name)));
    for (const name of engines) {
        note(
            `engine ${name}`,
            sources.map((s) => {
                const engine = s.result.engines.find((e) => e.name === name);
                return engine === undefined
                    ? "not measured"
                    : [engine.version, engine.source_id, engine.binding_version, engine.status]
                          .map(text)
                          .join(", ");
            }),
        );
    }
    const libraries = new Set(sources.flatMap((s) => s.result.numbers.map((n) => n.name)));
    for (const name of libraries) {
        note(
            `SQLite of ${name}`,
            sources.map((s) => {
                const numbers = s.result.numbers.find((n) => n.name === name);
                return numbers === undefined
                    ? "not measured"
                    : [numbers.version, numbers.source_id, `${numbers.rows} rows`, numbers.status]
                          .map(text)
                          .join(", ");
            }),
        );
    }
    return found;
}

/** The common baseline engine on all occasions, so that ratios to it could be set side by side. */
export function commonBaseline(sources: readonly Source[]): string | null {
    const first = sources[0]?.result.comparison?.baseline ?? null;
    return sources.every((s) => s.result.comparison?.baseline === first) ? first : null;
}
