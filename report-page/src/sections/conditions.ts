/** What was measured and on what: foldable, with the settings asked and taken. */
import { rateCell } from "../cells.ts";
import { cell, dataTable, tabulate, type Data } from "../datatable.ts";
import { element, isolated } from "../dom.ts";
import { ABSENT, bytes, count, duration } from "../format.ts";
import { groupBy } from "../group.ts";
import type { Case, Count, Engine, Numbers, Pair, Result } from "../result.ts";

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

const pairs = (of: readonly Pair[]) => of.map((p) => `${p.name}=${p.value}`).join(", ");

/** What was found in the copies after the runs. */
function checked({ runs }: Engine): string | null {
    const problem = runs.find((run) => run.check.problem !== null)?.check.problem ?? null;
    return problem ?? (runs.some((run) => run.check.kind !== null) ? "as the engine acknowledged it" : null);
}

/** "12 again, 3 disturbed": runs that are in no figure. */
function setAside({ aside }: Engine): string {
    const reasons = groupBy(aside, (run) => run.aside ?? "without a reason");
    return [...reasons].map(([reason, of]) => `${of.length} ${reason}`).join(", ");
}

function casesTable(cases: readonly Case[]): Data {
    const length = (ns: Count, operations: Count) =>
        ns !== null ? duration(Number(ns)) : operations !== null ? `${count(operations)} operations` : ABSENT;
    return tabulate(cases, [
        { title: "case", of: (c) => cell(c.label) },
        { title: "suite", of: (c) => cell(c.suite_folder === null ? c.suite : `${c.suite} from ${c.suite_folder}`) },
        { title: "scale", of: (c) => cell(c.scale) },
        { title: "threads", numeric: true, of: (c) => cell(c.threads) },
        { title: "length", of: (c) => cell(length(c.duration_ns, c.operations)) },
        { title: "warm-up", of: (c) => cell(length(c.warmup_ns, c.warmup_operations)) },
        { title: "offered, operations/s", numeric: true, of: (c) => rateCell(c.rate) },
        { title: "connections are", of: (c) => cell(c.isolation) },
        { title: "variables", of: (c) => cell(pairs(c.variables)) },
    ]);
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
                ["data after the runs", checked(engine)],
                ["runs in no figure", setAside(engine)],
                ["options", pairs(engine.options)],
                ["libraries", engine.libraries.map((l) => l.real ?? l.asked ?? ABSENT).join(", ")],
                ["built with", pairs(engine.library_build)],
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
                ["length of each kind of work", duration(numbers.length_ns)],
                ["values of a pass", numbers.own_bytes === null ? null : bytes(numbers.own_bytes)],
                ["staged for them", numbers.staged_bytes === null ? null : bytes(numbers.staged_bytes)],
                [
                    "kept by merge between passes",
                    numbers.kept_bytes === null ? null : `${bytes(numbers.kept_bytes)} for ${count(numbers.kept_rows)} rows`,
                ],
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
                ["settings", pairs(result.plan.settings)],
            ]),
            "Host and plan",
        ),
        result.cases.length > 0 ? dataTable(casesTable(result.cases), "Cases") : null,
        ...result.engines.map(engineBlock),
        ...result.numbers.map(numbersBlock),
    );
}
