/** Ratios to the baseline with their intervals, and what they amount to. */
import { logDomain, ratios, type RatioPoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { ratio, share, significant } from "../format.ts";
import type { Cell, ComparisonRow, ComparisonTable, Result, Source } from "../result.ts";
import { comparisonSentence } from "../sentences.ts";
import type { Series } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

export function rowLabel(result: Result, row: ComparisonRow): string {
    const label = result.cases[row.case]?.label ?? `case ${row.case}`;
    const part = row.script ?? row.role;
    return part === null || part === label ? label : `${label}, ${part}`;
}

/** More rows than this are in the table only. */
const ROWS_DRAWN = 60;

function points(result: Result, table: ComparisonTable, find: (engine: string) => Series | null): RatioPoint[] {
    const baseline = result.comparison!.baseline;
    return table.rows.slice(0, ROWS_DRAWN).flatMap((row) =>
        row.cells.flatMap((c) => {
            const series = find(c.engine);
            if (series === null || c.engine === baseline || c.ratio === null) {
                return [];
            }
            return [
                {
                    series,
                    row: rowLabel(result, row),
                    value: c.ratio,
                    low: c.ratio_low ?? c.ratio,
                    high: c.ratio_high ?? c.ratio,
                    verdict: c.verdict ?? "",
                    tip: `${rowLabel(result, row)}, ${series.label}\nratio to ${baseline}: ${c.ratio}\ninterval: ${c.ratio_low ?? "–"} to ${c.ratio_high ?? "–"}\n${c.verdict ?? "no verdict"}`,
                },
            ];
        }),
    );
}

function verdictCell(c: Cell) {
    const mark = c.verdict === "faster" || c.verdict === "slower" ? c.verdict : undefined;
    const shown = [c.verdict, c.note].filter((part) => part !== null).join(": ");
    return cell(c.verdict, shown === "" ? "–" : shown, mark);
}

function data(result: Result, table: ComparisonTable): Data {
    return {
        columns: [
            { title: "row" },
            { title: "engine" },
            { title: `median, ${table.unit}`, numeric: true },
            { title: "spread", numeric: true },
            { title: "ratio", numeric: true },
            { title: "from", numeric: true },
            { title: "to", numeric: true },
            { title: "verdict" },
            { title: "smallest difference", numeric: true },
            { title: "more rounds", numeric: true },
            { title: "rounds", numeric: true },
        ],
        rows: table.rows.flatMap((row) =>
            row.cells.map((c) => [
                cell(rowLabel(result, row)),
                cell(c.engine),
                cell(c.median, c.median === null ? "–" : significant(c.median)),
                cell(c.spread, share(c.spread)),
                cell(c.ratio, ratio(c.ratio)),
                cell(c.ratio_low, ratio(c.ratio_low)),
                cell(c.ratio_high, ratio(c.ratio_high)),
                verdictCell(c),
                cell(c.smallest_difference, share(c.smallest_difference)),
                cell(c.more_rounds === null ? null : Number(c.more_rounds)),
                cell(c.rounds),
            ]),
        ),
    };
}

function means(result: Result, table: ComparisonTable): string {
    const said = table.geometric_means
        .filter((g) => g.engine !== result.comparison!.baseline && g.ratio !== null)
        .map((g) => `${g.engine} ${ratio(g.ratio)} (${ratio(g.ratio_low)} to ${ratio(g.ratio_high)})`);
    return said.length === 0 ? "" : ` Geometric mean of the ratios over all rows: ${said.join(", ")}.`;
}

export function comparisonFigures(
    source: Source,
    sources: readonly Source[],
    find: (engine: string) => Series | null,
): FigureSpec[] {
    const { result } = source;
    const comparison = result.comparison;
    if (comparison === null) {
        return [];
    }
    return comparison.tables.map((table) => {
        const twins = sources.flatMap((s) =>
            (s.result.comparison?.tables ?? []).filter(
                (t) => t.suite === table.suite && t.metric === table.metric,
            ),
        );
        const domain = logDomain([
            1,
            ...twins.flatMap((t) =>
                t.rows.flatMap((r) =>
                    r.cells.flatMap((c) => [c.ratio, c.ratio_low, c.ratio_high].filter((v) => v !== null)),
                ),
            ),
        ]);
        return {
            id: slug("compare", source.label, table.suite, table.metric),
            title: `${table.suite}: ${table.metric}, ratio to ${comparison.baseline}`,
            sentence: `${comparisonSentence(comparison, table)}${means(result, table)}${
                table.rows.length > ROWS_DRAWN
                    ? ` The chart shows the first ${ROWS_DRAWN} of ${table.rows.length} rows.`
                    : ""
            }`,
            draw: (width, shown) => {
                const drawn = points(result, table, find).filter((p) => shown(p.series));
                return drawn.length === 0 || domain === null
                    ? null
                    : ratios(drawn, width, domain, table.floor, `ratio to ${comparison.baseline} (filled: a verdict)`);
            },
            data: data(result, table),
        };
    });
}
