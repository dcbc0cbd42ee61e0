import { bars, type BarPoint } from "../charts.ts";
import { bytesCell, figureField, outcomeFields, rateCell, shareCell, stateCell, timeCell } from "../cells.ts";
import { cell, tabulate, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import type { Run } from "../result.ts";
import { arrivalSentence, throughputSentence } from "../sentences.ts";
import type { Entry, View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

/** Operations of a run that ended ok, a second of its window; null: nothing was measured. */
function roundRate(run: Run): number | null {
    const window = Number(run.window_ns);
    const done = run.scripts.reduce((sum, s) => sum + s.ok * s.operations_each, 0);
    return run.window_ns === null || window <= 0 ? null : (done * 1e9) / window;
}

function points(view: View): BarPoint[] {
    return view.entries.flatMap(({ series, summary, runs }) => {
        const { median, min, max } = summary.operations_per_second;
        if (median === null || min === null || max === null) {
            return [];
        }
        return [
            {
                series,
                value: median,
                low: min,
                high: max,
                rounds: runs.map(roundRate).filter((r) => r !== null),
                tip: `${series.label}\noperations/s, median of rounds: ${median}\nlowest round: ${min}\nhighest round: ${max}`,
            },
        ];
    });
}

function table(view: View): Data {
    const rounds = view.result.plan.rounds;
    const of = (e: Entry) => e.summary;
    return tabulate(view.entries, [
        { title: "engine", of: (e) => cell(e.series.label) },
        figureField("operations/s", (e) => of(e).operations_per_second, rateCell),
        { title: "lowest round", numeric: true, of: (e) => rateCell(of(e).operations_per_second.min) },
        { title: "highest round", numeric: true, of: (e) => rateCell(of(e).operations_per_second.max) },
        figureField("reads/s", (e) => of(e).reads_per_second, rateCell),
        figureField("writes/s", (e) => of(e).writes_per_second, rateCell),
        figureField("CPU an operation", (e) => of(e).cpu_per_operation_ns, timeCell),
        { title: "rounds", numeric: true, of: (e) => cell(of(e).rounds_ok, `${of(e).rounds_ok} of ${rounds}`) },
        ...outcomeFields<Entry>(of),
        figureField("CPU of others", (e) => of(e).cpu_others, shareCell),
        figureField("steal", (e) => of(e).steal, shareCell),
        figureField("peak memory", (e) => of(e).peak_memory_bytes, bytesCell),
        { title: "how it ended", of: (e) => stateCell(of(e), rounds) },
    ]);
}

/** `views` are the same case in every file: they share the axis. */
export function throughput(view: View, views: readonly View[]): FigureSpec {
    const offered = view.kase.rate;
    const max = Math.max(
        0,
        ...views.map((v) => v.kase.rate ?? 0),
        ...views.flatMap(points).flatMap((p) => [p.high, ...p.rounds]),
    );
    const marks = ` A bar is the median, circles are the rounds${offered === null ? "" : ", the dashes what was offered"}.`;
    return {
        id: slug("throughput", view.source.label, view.kase.suite, view.kase.label),
        title: "Throughput",
        sentence: (offered === null ? throughputSentence(view) : arrivalSentence(view)) + marks,
        draw: (width, shown) => {
            const drawn = points(view).filter((p) => shown(p.series));
            return drawn.length === 0 || max <= 0 ? null : bars(drawn, width, max * 1.04, "operations/s", offered);
        },
        data: table(view),
    };
}
