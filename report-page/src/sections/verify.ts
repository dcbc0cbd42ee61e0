/** Answers that were compared, engine after engine: all there is in a result of `pitot verify`. */
import { brief } from "../format.ts";
import { countCell } from "../cells.ts";
import { cell, dataTable, tabulate, type Data } from "../datatable.ts";
import { element } from "../dom.ts";
import type { Engine, Result, VerifiedDatabase } from "../result.ts";

interface Row {
    engine: Engine;
    database: VerifiedDatabase;
}

/** "user_by_id (12 of 1,000), table orders": what is not as it should be. */
function differing({ scripts, tables }: VerifiedDatabase): string | null {
    const found = [
        ...scripts.filter((s) => s.status === "differs").map((s) => `${s.script} (${s.differing} operations)`),
        ...tables.filter((t) => t.status === "differs").map((t) => `table ${t.table}`),
    ];
    return found.length === 0 ? null : found.join(", ");
}

export function verifyTable(result: Result): Data {
    const rows: Row[] = result.engines.flatMap((engine) =>
        engine.verify.databases.map((database) => ({ engine, database })),
    );
    return tabulate(rows, [
        { title: "engine", of: (r) => cell(r.engine.name) },
        { title: "suite", of: (r) => cell(r.database.suite) },
        { title: "scenarios", of: (r) => cell(r.database.scenarios.join(", ")) },
        { title: "compared with", of: (r) => cell(r.database.reference) },
        {
            title: "answers",
            of: ({ database: { status, error } }) => {
                const bad = status === "differs" || status === "failed";
                const said = error === null ? status : `${status}: ${error}`;
                return cell(said, brief(said), bad ? "slower" : undefined);
            },
        },
        { title: "operations of each script", numeric: true, of: (r) => countCell(r.database.operations) },
        { title: "what differs", of: (r) => cell(differing(r.database)) },
    ]);
}

/** Nothing of a result that was timed: its block of conditions tells how its answers were. */
export function verified(result: Result): HTMLElement | null {
    const data = verifyTable(result);
    return timed(result) || data.rows.length === 0
        ? null
        : element("section", { class: "suite" }, element("h2", {}, "Answers"), dataTable(data, "Answers of the engines"));
}

/** Anything was to be timed. */
export function timed(result: Result): boolean {
    return result.engines.some((engine) => engine.summaries.length > 0);
}
