/** What must be read before any number: warnings, known faults, what failed and where. */
import { element, isolated } from "../dom.ts";
import { list } from "../format.ts";
import type { Engine, Result } from "../result.ts";

export interface Notice {
    subject: string | null;
    text: string;
    kind: "failed" | "fault" | "warning";
    log: readonly string[]; // the last lines of a program
}

/** The lines that the last of its runs left. */
function lastLog(engine: Engine): readonly string[] {
    return engine.runs.findLast((run) => run.log.length > 0)?.log ?? [];
}

/** Cases and rounds that failed; those that failed alike are told once. */
function failures(result: Result, engine: Engine): string[] {
    const lead = (of: number) => (result.cases.length > 1 ? `${result.cases[of]?.label ?? `case ${of}`}, ` : "");
    const said: string[] = [];
    let before = engine.error;
    const tell = (what: string, error: string) => {
        if (error !== before) {
            said.push(`${what}: ${error}`);
            before = error;
        }
    };
    engine.summaries.forEach((summary, of) => {
        const ran = engine.runs.some((run) => run.case === of);
        if (!ran && summary.error !== null && result.cases.length > 1) {
            tell(`${lead(of)}${summary.status ?? "failed"}`, summary.error);
        }
    });
    for (const run of engine.runs) {
        if (run.status !== "ok") {
            tell(`${lead(run.case)}round ${run.round} ${run.status ?? "failed"}`, run.error ?? run.status ?? "failed");
        }
    }
    return said;
}

function ofEngine(result: Result, engine: Engine): Notice[] {
    const { name, status, error, event_loop: loop } = engine;
    const found: Notice[] = [];
    const log = lastLog(engine);
    const told = failures(result, engine);
    if ((status !== "ok" && status !== null) || error !== null || told.length > 0) {
        const word = status === "ok" || status === null ? "failed in a round" : status;
        found.push({ subject: name, text: `${word}${error === null ? "" : `: ${error}`}`, kind: "failed", log });
        found.push(...told.map((text) => ({ subject: name, text, kind: "failed", log: [] }) as const));
    }
    if (loop.status === "failed") {
        found.push({ subject: name, text: `event loop failed: ${loop.error ?? "no reason is known"}`, kind: "failed", log: loop.log });
    }
    return found;
}

/** A fault of several engines, or of several versions of one, is told once. */
function faultsOf(result: Result): Notice[] {
    const faults = new Set(result.engines.flatMap((e) => e.known_faults));
    return [...faults].map((fault) => ({
        subject: list(result.engines.filter((e) => e.known_faults.includes(fault)).map((e) => e.name)),
        text: `known fault: ${fault}`,
        kind: "fault",
        log: [],
    }));
}

export function noticesOf(result: Result): Notice[] {
    const all: Notice[] = [];
    const plain = (text: string) => all.push({ subject: null, text, kind: "failed", log: [] });
    if (result.partial) {
        plain("The run was ended early: this is what was measured until then.");
    }
    if (result.build !== "release") {
        plain(`These numbers mean nothing: pitot is a ${result.build} build.`);
    }
    all.push(...result.engines.flatMap((engine) => ofEngine(result, engine)));
    for (const numbers of result.numbers) {
        if (numbers.status !== "ok") {
            all.push({
                subject: `SQLite of ${numbers.name}`,
                text: `${numbers.status}: ${numbers.error ?? "no reason given"}`,
                kind: "failed",
                log: numbers.log,
            });
        }
    }
    all.push(...faultsOf(result));
    all.push(...result.warnings.map(({ subject, text }) => ({ subject, text, kind: "warning", log: [] }) as const));
    return all;
}

export function notices(result: Result): HTMLElement | null {
    const items = noticesOf(result).map(({ subject, text, kind, log }) =>
        element(
            "li",
            { class: kind },
            subject === null ? null : element("strong", {}, isolated(subject), ": "),
            isolated(text),
            log.length === 0
                ? null
                : element(
                      "details",
                      { "data-print": "" },
                      element("summary", {}, "The last lines of its worker"),
                      element("pre", {}, log.join("\n")),
                  ),
        ),
    );
    return items.length === 0
        ? null
        : element(
              "section",
              { class: "notices", "aria-label": "Warnings" },
              element("h3", {}, "Read this first"),
              element("ul", {}, ...items),
          );
}
