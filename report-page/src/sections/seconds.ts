/** What happened second by second: a line each round. */
import { overTime, type LinePoint } from "../charts.ts";
import { cell, type Data } from "../datatable.ts";
import { slug } from "../dom.ts";
import { bytes, short, significant, sizeTick } from "../format.ts";
import type { Second } from "../result.ts";
import type { View } from "../series.ts";
import type { FigureSpec } from "../stage.ts";

interface Kind {
    id: string;
    title: string;
    label: string;
    sentence: string;
    unit: string;
    format: (value: number) => string; // of a tick
    shown: (value: number) => string; // in the table
    /** `width_s`: of the interval that ends at the second. */
    of: (second: Second, width_s: number) => number | null;
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

const KINDS: readonly Kind[] = [
    {
        id: "throughput-over-time",
        title: "Throughput over time",
        label: "operations/s",
        sentence: "Operations that ended ok in each interval, a line each round.",
        unit: "operations/s",
        format: short,
        shown: significant,
        of: (second, width_s) => (width_s > 0 ? sum(second.operations) / width_s : null),
    },
    {
        id: "slow-over-time",
        title: "Slow operations over time",
        label: "slow operations/s",
        sentence: "Operations over the latency limit in each interval, a line each round.",
        unit: "slow operations/s",
        format: short,
        shown: significant,
        of: (second, width_s) => (width_s > 0 ? sum(second.slow) / width_s : null),
    },
    {
        id: "wal-over-time",
        title: "Size of the write-ahead log over time",
        label: "bytes",
        sentence: "Size of the file beside the database, -wal or -log, a line each round.",
        unit: "bytes",
        format: sizeTick,
        shown: bytes,
        of: (second) => (second.wal_bytes === null ? null : Number(second.wal_bytes)),
    },
];

/** The last interval may be so short that its rate says nothing. */
const SHORTEST_S = 0.5;

function points(view: View, kind: Kind): LinePoint[] {
    return view.entries.flatMap(({ series, runs }) =>
        runs.flatMap((run) => {
            let before = 0;
            return run.seconds.flatMap((second) => {
                // The run may have ended within the interval.
                const end_s = Math.min(second.at_s, Number(run.window_ns ?? 0) / 1e9);
                const width_s = end_s - before;
                before = second.at_s;
                const value = width_s < SHORTEST_S ? null : kind.of(second, width_s);
                return value === null
                    ? []
                    : [
                          {
                              series,
                              line: `${series.key} ${run.round}`,
                              x: second.at_s,
                              y: value,
                              tip: `${series.label}, round ${run.round}\nat ${second.at_s} s: ${value} ${kind.unit}`,
                          },
                      ];
            });
        }),
    );
}

function table(view: View, kind: Kind): Data {
    return {
        columns: [
            { title: "engine" },
            { title: "round", numeric: true },
            { title: "seconds", numeric: true },
            { title: kind.unit, numeric: true },
        ],
        rows: points(view, kind).map((p) => [
            cell(p.series.label),
            cell(Number(p.line.slice(p.line.lastIndexOf(" ") + 1))),
            cell(p.x, p.x.toFixed(1)),
            cell(p.y, kind.shown(p.y)),
        ]),
    };
}

export function overTimeFigures(view: View, views: readonly View[]): FigureSpec[] {
    return KINDS.flatMap((kind) => {
        const all = views.flatMap((v) => points(v, kind));
        if (all.length === 0) {
            return [];
        }
        const max = all.reduce((most, p) => Math.max(most, p.y), 0);
        const end = all.reduce((most, p) => Math.max(most, p.x), 0);
        return [
            {
                id: slug(kind.id, view.source.label, view.kase.label),
                title: kind.title,
                sentence: kind.sentence,
                draw: (width, shown) => {
                    const drawn = points(view, kind).filter((p) => shown(p.series));
                    return drawn.length === 0
                        ? null
                        : overTime(drawn, width, {
                              label: kind.label,
                              format: kind.format,
                              max: max > 0 ? max * 1.05 : 1,
                              end,
                          });
                },
                data: table(view, kind),
            },
        ];
    });
}
