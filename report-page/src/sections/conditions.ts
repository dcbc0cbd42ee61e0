/** What was measured and on what: foldable, with the settings asked and taken. */
import { cell, dataTable, type Data } from "../datatable.ts";
import { element, isolated } from "../dom.ts";
import type { Engine, Numbers, Result } from "../result.ts";

function facts(pairs: readonly (readonly [string, unknown])[]): Data {
    return {
        columns: [{ title: "fact" }, { title: "value" }],
        rows: pairs
            .filter(([, value]) => value !== null && value !== undefined && value !== "")
            .map(([name, value]) => [cell(name), cell(String(value))]),
    };
}

function settingsOf(engine: Engine): Data {
    const seen = new Map<string, ReturnType<typeof cell>[]>();
    for (const run of engine.runs) {
        for (const connection of run.connections) {
            for (const s of connection.settings) {
                const got = s.got ?? "–";
                const row = [
                    cell(s.name),
                    cell(s.asked),
                    cell(s.got, got, s.agrees ? undefined : "slower"),
                    cell(s.required ? "required" : "informative"),
                    cell(s.agrees ? "taken" : "differs"),
                ];
                seen.set([s.name, s.asked, got].join("\n"), row);
            }
        }
    }
    return {
        columns: [
            { title: "setting" },
            { title: "asked" },
            { title: "got" },
            { title: "class" },
            { title: "outcome" },
        ],
        rows: [...seen.values()],
    };
}

function fold(title: string, ...content: (Node | null)[]): HTMLElement {
    return element("details", { "data-print": "" }, element("summary", {}, title), ...content);
}

function engineBlock(engine: Engine): HTMLElement {
    const settings = settingsOf(engine);
    return element(
        "section",
        { class: "engine" },
        element("h4", {}, isolated(engine.name)),
        dataTable(
            facts([
                ["status", engine.status],
                ["error", engine.error],
                ["version", engine.version],
                ["source", engine.source_id],
                ["through", engine.binding_version],
                ["runs in", engine.runtime],
                ["sync call", engine.sync_call],
                ["answers", engine.verify.status],
                ["options", engine.options.map((o) => `${o.name}=${o.value}`).join(", ")],
                ["compile options", engine.compile_options.join(", ")],
            ]),
            `Engine ${engine.name}`,
        ),
        settings.rows.length > 0 ? dataTable(settings, "Settings, on every timed connection") : null,
    );
}

function numbersBlock(numbers: Numbers): HTMLElement {
    const name = `SQLite ${numbers.version ?? "?"} (${numbers.name})`;
    return element(
        "section",
        { class: "engine" },
        element("h4", {}, isolated(name)),
        dataTable(
            facts([
                ["status", numbers.status],
                ["error", numbers.error],
                ["source", numbers.source_id],
                ["library", numbers.library],
                ["rows of a pass", numbers.rows],
                ["length of each kind of work", `${numbers.length_ns} ns`],
                ["compile options", numbers.compile_options.join(", ")],
            ]),
            name,
        ),
    );
}

export function conditions(result: Result): HTMLElement {
    const plan = Object.entries(result.plan)
        .filter(([, value]) => value === null || typeof value !== "object")
        .map(([key, value]) => [key, value] as const);
    const host = Object.entries(result.host).map(([key, value]) => [key, value] as const);
    return fold(
        "What was measured, and on what",
        dataTable(
            facts([
                ["command", result.command_line.join(" ")],
                ["started", result.started],
                ["took", `${result.elapsed_s} s`],
                ["pitot", `${result.pitot_version} (${result.build})`],
                ...host,
                ...plan,
            ]),
            "Host and plan",
        ),
        ...result.engines.map(engineBlock),
        ...result.numbers.map(numbersBlock),
    );
}

/** What must be read before any number: warnings, known faults, engines that failed. */
export function notices(result: Result): HTMLElement | null {
    const items: HTMLElement[] = [];
    const add = (subject: string | null, text: string, kind: string) => {
        items.push(
            element(
                "li",
                { class: kind },
                subject === null ? null : element("strong", {}, isolated(subject), ": "),
                isolated(text),
            ),
        );
    };
    if (result.partial) {
        add(null, "The run was ended early: this is what was measured until then.", "failed");
    }
    if (result.build !== "release") {
        add(null, `These numbers mean nothing: pitot is a ${result.build} build.`, "failed");
    }
    for (const engine of result.engines) {
        if (engine.status !== "ok" && engine.status !== null) {
            add(engine.name, `${engine.status}${engine.error === null ? "" : `: ${engine.error}`}`, "failed");
        }
        for (const fault of engine.known_faults) {
            add(engine.name, `known fault: ${fault}`, "fault");
        }
    }
    for (const numbers of result.numbers) {
        if (numbers.status !== "ok") {
            add(`SQLite of ${numbers.name}`, `${numbers.status}: ${numbers.error ?? "no reason given"}`, "failed");
        }
    }
    for (const warning of result.warnings) {
        add(warning.subject, warning.text, "warning");
    }
    return items.length === 0
        ? null
        : element(
              "section",
              { class: "notices", "aria-label": "Warnings" },
              element("h3", {}, "Read this first"),
              element("ul", {}, ...items),
          );
}
