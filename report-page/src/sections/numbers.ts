/** `pitot numbers`: libpitot beside the plain way, one SQLite library after the other. */
import { curves, logDomain, nines, PERCENTILE_END, ranges, type LinePoint, type RangePoint } from "../charts.ts";
import { cell, type Data, type Value } from "../datatable.ts";
import { slug } from "../dom.ts";
import { count, duration, rate, ratio, tick } from "../format.ts";
import type { Numbers, NumbersLine, NumbersSide, Source } from "../result.ts";
import { SIDES, type Series } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

/** The series of a side, for one file. */
export type SeriesOf = (name: string) => Series;

/** The line whose other side are connections with SQLite's defaults. */
const isDefaults = (line: NumbersLine) => line.name.endsWith("SQLite's defaults");
const isService = (line: NumbersLine) => line.name.endsWith("service time");

const nameOf = (line: NumbersLine) => `${line.group}: ${line.name}`;

function sidesOf(line: NumbersLine): { name: string; side: NumbersSide }[] {
    return [
        { name: SIDES.pitot, side: line.pitot },
        { name: isDefaults(line) ? SIDES.defaults : SIDES.plain, side: line.plain },
    ];
}

/** Times alone: a rate says the same once more. */
export function timePoints(numbers: Numbers, series: SeriesOf): RangePoint[] {
    return numbers.lines
        .filter((line) => line.unit === "ns")
        .flatMap((line) =>
            sidesOf(line).flatMap(({ name, side }) =>
                side.median === null || side.p99 === null
                    ? []
                    : [
                          {
                              series: series(name),
                              row: nameOf(line),
                              value: side.median,
                              low: side.median,
                              high: side.p99,
                              tip: `${nameOf(line)}\n${name}\nmedian: ${side.median} ns\np99: ${side.p99} ns${side.p99_thin ? " (few samples above it)" : ""}\nslowest: ${side.slowest} ns\nsamples: ${side.count}`,
                          },
                      ],
            ),
        );
}

/** The distributions of the reads beside a writer: latency from the moment at which each was due. */
export function busyPoints(numbers: Numbers, series: SeriesOf): LinePoint[] {
    const busy = numbers.lines.filter((line) => line.pitot.passes !== null && !isService(line));
    return busy.flatMap((line) =>
        sidesOf(line)
            // libpitot's is the same in each of these lines.
            .filter(({ name }) => name !== SIDES.pitot || !isDefaults(line))
            .flatMap(({ name, side }) =>
                side.curve
                    .filter((p) => p.percentile <= PERCENTILE_END && p.value_ns > 0)
                    .map(({ percentile, value_ns: ns }) => ({
                        series: series(name),
                        line: series(name).key,
                        x: nines(percentile),
                        y: ns,
                        tip: `${name}\np${percentile}: ${ns} ns\n${duration(ns)}`,
                    })),
            ),
    );
}

function value(line: NumbersLine, of: number | null, thin = false): Value {
    const shown = line.unit === "ns" ? duration(of) : rate(of);
    return cell(of, thin && of !== null ? `~${shown}` : shown, thin ? "thin" : undefined);
}

const counted = (of: number | string | null) => cell(of, count(of));

export function numbersTable(numbers: Numbers): Data {
    return {
        columns: [
            { title: "line" },
            { title: "side" },
            { title: "unit" },
            { title: "median", numeric: true },
            { title: "p99", numeric: true },
            { title: "slowest", numeric: true },
            { title: "samples", numeric: true },
            { title: "ratio", numeric: true },
            { title: "due", numeric: true },
            { title: "missed", numeric: true },
            { title: "failed for a lock", numeric: true },
            { title: "passes", numeric: true },
            { title: "note" },
        ],
        rows: numbers.lines.flatMap((line) =>
            sidesOf(line).map(({ name, side }, i) => [
                cell(nameOf(line)),
                cell(name),
                cell(line.unit),
                value(line, side.median),
                value(line, side.p99, side.p99_thin),
                value(line, side.slowest),
                counted(side.count),
                i === 0 ? cell(line.ratio, ratio(line.ratio)) : cell(null),
                counted(side.due),
                counted(side.missed),
                counted(side.busy),
                counted(side.passes),
                cell(i === 0 ? line.note : null),
            ]),
        ),
    };
}

/** "50 rows …: 0.982": the ratios in words, as they were measured. */
export function busySentence(numbers: Numbers): string {
    const line = numbers.lines.find((l) => isDefaults(l));
    const head = "How long a read of 50 rows took from the moment at which it was due, while passes were committed back to back.";
    if (line === undefined) {
        return head;
    }
    const { due, missed, busy } = line.plain;
    const ratios =
        numbers.busy_p50 === null || numbers.busy_p99 === null
            ? ""
            : ` libpitot's reads beside a busy writer through those beside an idle one in the same round: p50 ${ratio(numbers.busy_p50)}, p99 ${ratio(numbers.busy_p99)}.`;
    return `${head}${ratios} With SQLite's defaults ${count(missed)} of ${count(due)} reads were never begun and ${count(busy)} failed for a lock: these have no place on the curve.`;
}

export function numbersFigures(source: Source, all: readonly Source[], series: SeriesOf): FigureSpec[] {
    const every = all.flatMap((s) => s.result.numbers);
    const times = logDomain(every.flatMap((n) => timePoints(n, series)).flatMap((p) => [p.low, p.high]));
    const busy = logDomain(every.flatMap((n) => busyPoints(n, series)).map((p) => p.y));
    return source.result.numbers
        .filter((numbers) => numbers.lines.length > 0)
        .flatMap((numbers) => {
            const library = `SQLite ${numbers.version ?? "?"} (${numbers.name})`;
            return [
                {
                    id: slug("numbers", source.label, numbers.name),
                    title: `libpitot and the plain way, ${library}`,
                    sentence: `Passes of ${count(numbers.rows)} rows. A mark is the median of all samples, a line goes from it to p99. The plain way is a loop of prepared statements, in the same run and in turns.`,
                    draw: (width: number, shown: (s: Series) => boolean) => {
                        const points = timePoints(numbers, series).filter((p) => shown(p.series));
                        return points.length === 0 || times === null
                            ? null
                            : ranges(points, width, times, { label: "time", log: true, format: tick });
                    },
                    data: numbersTable(numbers),
                },
                {
                    id: slug("numbers-busy", source.label, numbers.name),
                    title: `Reads beside a writer, ${library}`,
                    sentence: busySentence(numbers),
                    draw: (width: number, shown: (s: Series) => boolean) => {
                        const points = busyPoints(numbers, series).filter((p) => shown(p.series));
                        return points.length === 0 || busy === null ? null : curves(points, width, busy);
                    },
                    data: numbersTable({
                        ...numbers,
                        lines: numbers.lines.filter((line) => line.pitot.passes !== null),
                    }),
                },
            ];
        });
}
