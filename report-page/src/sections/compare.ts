/** Ratios to the baseline with their intervals, and what they amount to. */
import { ratioDomain, ratios, type RatioPoint } from "../charts.ts";
import { countCell, rateCell, shareCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data, type Value } from "../datatable.ts";
import { slug } from "../dom.ts";
import { ABSENT, brief, ratio, share } from "../format.ts";
import type { AgainstRow, Cell, Comparison, ComparisonRow, ComparisonTable, Result, Source } from "../result.ts";
import { comparisonRounds, comparisonSentence, metricOf } from "../sentences.ts";
import type { Series } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

/**
 * The case and, where they differ, its part; of one script in two roles, the role as well. Where all
 * rows are of one case, the part alone.
 */
export function rowLabel(result: Result, row: ComparisonRow, rows: readonly ComparisonRow[] = []): string {
    const label = result.cases[row.case]?.label ?? `case ${row.case}`;
    const part = row.script ?? row.role;
    if (part === null || part === label) {
        return label;
    }
    const twins = rows.filter((r) => r.case === row.case && r.script === row.script && row.script !== null);
    const name = twins.length > 1 ? `${row.role}, ${part}` : part;
    return rows.length > 1 && rows.every((r) => r.case === row.case) ? name : `${label}, ${name}`;
}

const BEYOND_EDGE = " Intervals that reach the edge of the chart go on beyond it.";

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
                    row: rowLabel(result, row, table.rows),
                    value: c.ratio,
                    low: c.ratio_low ?? c.ratio,
                    high: c.ratio_high ?? c.ratio,
                    verdict: c.verdict ?? "",
                    tip: `${rowLabel(result, row, table.rows)}, ${series.label}\nratio to ${baseline}: ${c.ratio}\ninterval: ${c.ratio_low ?? "–"} to ${c.ratio_high ?? "–"}\n${c.verdict ?? "no verdict"}`,
                },
            ];
        }),
    );
}

interface Judged {
    verdict: string | null;
    note: string | null;
}

/** The verdict, or why there is none. */
function verdictCell({ verdict, note }: Judged): Value {
    const mark = verdict === "faster" || verdict === "slower" ? verdict : undefined;
    const shown = [verdict, note].filter((part) => part !== null).join(": ");
    return cell(shown === "" ? null : shown, shown === "" ? ABSENT : brief(shown), mark);
}

const ratioCell = (of: number | null): Value => cell(of, ratio(of));

/** A line of the table: a cell of a row, or a mean over them all. */
interface Line extends Judged {
    row: string;
    engine: string;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    cell: Cell | null;
    lead: string | null;
}

function linesOf(result: Result, table: ComparisonTable): Line[] {
    const lines: Line[] = table.rows.flatMap((row) =>
        row.cells.map((c) => ({
            ...c,
            row: rowLabel(result, row, table.rows),
            cell: c,
            lead:
                c.engine === row.best
                    ? `${share(row.best_lead)} (${share(row.best_lead_low)} to ${share(row.best_lead_high)})`
                    : null,
        })),
    );
    const means = table.geometric_means.map((mean) => ({
        ...mean,
        row: `geometric mean of ${mean.rows} ${mean.rows === 1 ? "row" : "rows"}`,
        cell: null,
        lead: null,
    }));
    return table.rows.length > 1 ? [...lines, ...means] : lines;
}

function data(result: Result, table: ComparisonTable): Data {
    const median = ({ cell: c }: Line) =>
        c === null ? cell(null) : table.unit === "ns" ? timeCell(c.median, c.thin) : rateCell(c.median);
    return tabulate(linesOf(result, table), [
        { title: "row", of: (l) => cell(l.row) },
        { title: "engine", of: (l) => cell(l.engine) },
        { title: `median, ${table.unit}`, numeric: true, of: median },
        { title: "spread", numeric: true, of: (l) => shareCell(l.cell?.spread ?? null) },
        { title: "ratio", numeric: true, of: (l) => ratioCell(l.ratio) },
        { title: "from", numeric: true, of: (l) => ratioCell(l.ratio_low) },
        { title: "to", numeric: true, of: (l) => ratioCell(l.ratio_high) },
        { title: "could show", numeric: true, of: (l) => shareCell(l.cell?.smallest_difference ?? null) },
        { title: "verdict", of: verdictCell },
        { title: "best, ahead by", of: (l) => cell(l.lead) },
        { title: "more rounds would separate", numeric: true, of: (l) => countCell(l.cell?.more_rounds ?? null) },
        { title: "rounds", numeric: true, of: (l) => cell(l.cell?.rounds ?? null) },
    ]);
}

function means(result: Result, table: ComparisonTable): string {
    const said = table.geometric_means
        .filter((g) => g.engine !== result.comparison!.baseline && g.ratio !== null)
        .map((g) => `${g.engine} ${ratio(g.ratio)} (${ratio(g.ratio_low)} to ${ratio(g.ratio_high)}; ${g.verdict ?? g.note})`);
    return said.length === 0 || table.rows.length < 2
        ? ""
        : ` Geometric mean of the ratios over all rows: ${said.join(", ")}.`;
}

/** What holds for all tables: the rounds, and whether a row is slower than was allowed. */
export function comparisonLead(comparison: Comparison): string {
    const parts = [
        `Ratios are to ${comparison.baseline} in the same round (${comparisonRounds(comparison)}); all intervals of a table hold together with ${Number((comparison.confidence * 100).toPrecision(3))} %.`,
    ];
    if (comparison.rounds_repeated > 0 || comparison.rounds_disturbed > 0) {
        parts.push(
            `Rounds of a case measured again because of the host: ${comparison.rounds_repeated}; disturbed ones that are in the figures: ${comparison.rounds_disturbed}.`,
        );
    }
    if (comparison.slower !== null) {
        const than = `slower by more than the noise and ${share(comparison.threshold ?? 0)}`;
        parts.push(
            Number(comparison.slower) === 0
                ? `No row is shown to be ${than}.`
                : `${comparison.slower} ${Number(comparison.slower) === 1 ? "row is" : "rows are"} ${than}.`,
        );
    }
    return parts.join(" ");
}

/** Ratios now through those of an older result. */
function againstFigures(source: Source, find: (engine: string) => Series | null): FigureSpec[] {
    const { baseline, against } = source.result.comparison!;
    return against.tables.map((table) => {
        const drawable = table.rows.slice(0, ROWS_DRAWN).flatMap((row): RatioPoint[] => {
            const series = find(row.engine);
            return series === null || row.ratio === null
                ? []
                : [
                      {
                          series,
                          row: row.row,
                          value: row.ratio,
                          low: row.ratio_low ?? row.ratio,
                          high: row.ratio_high ?? row.ratio,
                          verdict: row.verdict ?? "",
                          tip: `${row.row}, ${series.label}\nratio now through then: ${row.ratio}\ninterval: ${row.ratio_low ?? ABSENT} to ${row.ratio_high ?? ABSENT}\n${row.verdict ?? row.note ?? ""}`,
                      },
                  ];
        });
        const rows = [...new Set(table.rows.slice(0, ROWS_DRAWN).map((row) => row.row))];
        const { domain, cut } = ratioDomain(drawable);
        return {
            id: slug("against", source.label, table.suite, table.metric),
            title: `${table.suite}: ${metricOf(table.metric).name}, against ${against.file}`,
            sentence: `The ratio to ${baseline} now, through that of then (${against.started ?? ABSENT}). Differences up to ${share(table.floor)}, the larger of both noise floors and the threshold, are no verdict.${cut ? BEYOND_EDGE : ""}`,
            draw: (width, shown) => {
                const drawn = drawable.filter((p) => shown(p.series));
                return drawn.length === 0
                    ? null
                    : ratios(drawn, rows, width, domain, table.floor, `ratio, ${metricOf(table.metric).better} (filled: a verdict)`);
            },
            data: tabulate(table.rows, [
                { title: "row", of: (r: AgainstRow) => cell(r.row) },
                { title: "engine", of: (r) => cell(r.engine) },
                { title: "ratio", numeric: true, of: (r) => ratioCell(r.ratio) },
                { title: "from", numeric: true, of: (r) => ratioCell(r.ratio_low) },
                { title: "to", numeric: true, of: (r) => ratioCell(r.ratio_high) },
                { title: "could show", numeric: true, of: (r) => shareCell(r.smallest_difference) },
                { title: "verdict", of: verdictCell },
            ]),
        };
    });
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
    const tables = comparison.tables.map((table): FigureSpec => {
        const twins = sources.flatMap((s) =>
            (s.result.comparison?.tables ?? []).filter(
                (t) => t.suite === table.suite && t.metric === table.metric,
            ),
        );
        const rows = [...new Set(table.rows.slice(0, ROWS_DRAWN).map((row) => rowLabel(result, row, table.rows)))];
        const { domain, cut } = ratioDomain(
            twins.flatMap((t) =>
                t.rows.flatMap((r) =>
                    r.cells.flatMap(({ ratio: value, ratio_low: low, ratio_high: high }) =>
                        value === null ? [] : [{ value, low: low ?? value, high: high ?? value }],
                    ),
                ),
            ),
        );
        return {
            id: slug("compare", source.label, table.suite, table.metric),
            title: `${table.suite}: ${metricOf(table.metric).name}, ratio to ${comparison.baseline}`,
            sentence: `${comparisonSentence(comparison, table)}${means(result, table)}${
                table.rows.length > ROWS_DRAWN
                    ? ` The chart shows the first ${ROWS_DRAWN} of ${table.rows.length} rows.`
                    : ""
            }${cut ? BEYOND_EDGE : ""}`,
            draw: (width, shown) => {
                const drawn = points(result, table, find).filter((p) => shown(p.series));
                return drawn.length === 0
                    ? null
                    : ratios(drawn, rows, width, domain, table.floor, `ratio, ${metricOf(table.metric).better} (filled: a verdict)`);
            },
            data: data(result, table),
        };
    });
    return [...tables, ...againstFigures(source, find)];
}
