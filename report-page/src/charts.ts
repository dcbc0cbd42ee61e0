/**
 * The kinds of charts. Each takes plain points that were made from the result and draws them;
 * every point carries the text of its tooltip, so that what is shown can be held against the file.
 */
import * as Plot from "@observablehq/plot";

import { short, tick } from "./format.ts";
import type { Series } from "./series.ts";
import { ticksOf, type Axis } from "./ticks.ts";

export type Drawing = SVGSVGElement | HTMLElement;

interface Point {
    series: Series;
    tip: string; // exact values, lines separated by \n
}

export interface BarPoint extends Point {
    value: number;
    low: number;
    high: number;
    rounds: number[]; // the same figure of each round
}

export interface RangePoint extends Point {
    row: string;
    value: number;
    low: number;
    high: number;
}

export interface LinePoint extends Point {
    line: string; // points of one line have the same
    x: number;
    y: number;
    low?: number;
    high?: number;
}

export interface RatioPoint extends Point {
    row: string;
    value: number;
    low: number;
    high: number;
    verdict: string;
}

type Domain = [number, number];

const FONT = "13px system-ui, sans-serif";
const RIGHT = 20; // margin
const HEIGHT = 300; // of curves

const times = (ratio: number) => (ratio >= 1000 ? short(ratio) : String(Number(ratio.toPrecision(3))));

/** About as wide as the longest label is drawn, within what a narrow screen can give. */
function margin(labels: readonly string[], width: number): number {
    const longest = Math.max(0, ...labels.map((l) => l.length));
    return Math.min(Math.round(width * 0.42), 14 + Math.round(longest * 7.2));
}

/** Of a path the end tells more than the beginning: "sqlite=…/new.so". */
export function shortened(label: string, letters: number): string {
    if (label.length <= letters) {
        return label;
    }
    const head = label.indexOf("=/") + 1;
    const tail = letters - head - 1;
    return head > 0 && tail >= 10
        ? `${label.slice(0, head)}…${label.slice(-tail)}`
        : `${label.slice(0, letters - 1)}…`;
}

/** As margin() leaves room for it. */
function cut(label: string, width: number): string {
    return shortened(label, Math.max(6, Math.floor((width * 0.42 - 14) / 7.2)));
}

function base(width: number, height: number): Plot.PlotOptions {
    return {
        width,
        height: height + 14,
        marginBottom: 46,
        style: { font: FONT, background: "none", overflow: "visible" },
    };
}

/** SVG elements keep what the tooltip says in an attribute of their own. */
function tips(points: readonly Point[]): { render: Plot.RenderFunction } {
    return {
        render(index, scales, values, dimensions, context, next) {
            const group = next!(index, scales, values, dimensions, context)!;
            [...group.children].forEach((child, i) => {
                const point = points[index[i]!];
                if (point !== undefined) {
                    child.setAttribute("data-tip", point.tip);
                    child.setAttribute("data-engine", point.series.label);
                }
            });
            return group;
        },
    };
}

/** Marks of an axis and its grid. Plot's own axis leaves out labels of a logarithmic scale. */
function axisX(axis: Axis, label: string): Plot.Markish[] {
    const ticks = ticksOf(axis);
    return [
        Plot.gridX(ticks, { strokeOpacity: 0.12 }),
        Plot.axisX(ticks, { label, text: (v: number) => axis.format(v) }),
    ];
}

function axisY(axis: Axis, label: string): Plot.Markish[] {
    // Labels are three times as wide as high.
    const ticks = ticksOf({ ...axis, room: 3 * axis.room });
    return [
        Plot.gridY(ticks, { strokeOpacity: 0.12 }),
        Plot.axisY(ticks, { label, text: (v: number) => axis.format(v) }),
    ];
}

const colour = (p: Point) => p.series.colour;

/** The range of positive numbers, a little wider; for a logarithmic axis. */
export function logDomain(values: readonly number[]): Domain | null {
    const positive = values.filter((v) => v > 0 && Number.isFinite(v));
    if (positive.length === 0) {
        return null;
    }
    // Not Math.min(...): the list may be longer than a call can take.
    let [low, high] = [Infinity, -Infinity];
    for (const value of positive) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    return [low / 1.25, high * 1.25];
}

/** Intervals of few rounds may be a thousand times as wide as all ratios: so far they are shown. */
const BEYOND = 5;

/** The domain of ratios with their intervals, and whether some go on beyond it. */
export function ratioDomain(
    points: readonly { value: number; low: number; high: number }[],
): { domain: Domain; cut: boolean } {
    const values = logDomain([1, ...points.map((p) => p.value)])!;
    const all = logDomain([1, ...points.flatMap((p) => [p.value, p.low, p.high])])!;
    const domain: Domain = [Math.max(all[0], values[0] / BEYOND), Math.min(all[1], values[1] * BEYOND)];
    return { domain, cut: domain[0] > all[0] || domain[1] < all[1] };
}

/** What a logarithmic axis can show: it has no place for nothing, which tables tell. */
export function forLog(points: readonly RangePoint[]): RangePoint[] {
    return points.filter((p) => p.value > 0).map((p) => (p.low > 0 ? p : { ...p, low: p.value }));
}

/** `offered`: the rate that all were asked for, as a line across; null: none. */
export function bars(
    points: readonly BarPoint[],
    width: number,
    max: number,
    label: string,
    offered: number | null = null,
): Drawing {
    const labels = points.map((p) => p.series.label);
    const left = margin(labels, width);
    const rounds = points.flatMap((p) =>
        p.rounds.map((value, i) => ({
            series: p.series,
            value,
            tip: `${p.series.label}\nround ${i + 1}: ${value}`,
        })),
    );
    return Plot.plot({
        ...base(width, 60 + points.length * 34),
        marginLeft: left,
        marginRight: RIGHT,
        x: { domain: [0, max] },
        y: { domain: labels, label: null, tickFormat: (l: string) => cut(l, width) },
        marks: [
            ...axisX({ domain: [0, max], log: false, format: short, room: width - left - RIGHT }, label),
            Plot.barX(points, {
                x: "value",
                y: (p: BarPoint) => p.series.label,
                fill: colour,
                fillOpacity: 0.75,
                ...tips(points),
            }),
            Plot.ruleY(points, {
                y: (p: BarPoint) => p.series.label,
                x1: "low",
                x2: "high",
                stroke: "currentColor",
            }),
            Plot.dot(rounds, {
                x: "value",
                y: (p: Point) => p.series.label,
                r: 4,
                fill: "var(--paper)",
                stroke: "currentColor",
                ...tips(rounds),
            }),
            Plot.ruleX(offered === null ? [] : [offered], {
                stroke: "currentColor",
                strokeWidth: 2,
                strokeDasharray: "5 3",
                className: "offered",
            }),
        ],
    });
}

/** Narrower charts have the labels of their lanes above the marks: beside them they would be cut. */
const LABELS_BESIDE = 500;

/** The place of a label among the engines of a lane. */
const ABOVE = "\u0000";

interface Lanes {
    options: Plot.PlotOptions;
    labels: Plot.Markish;
    room: number; // from end to end of the x axis
}

/** A lane a row, with its engines one below the other. */
function lanes(rows: string[], engines: string[], width: number): Lanes {
    const beside = width >= LABELS_BESIDE;
    const left = beside ? margin(rows, width) : 12;
    const letters = Math.floor((width - left - RIGHT) / 7.2);
    const slots = engines.length + (beside ? 0 : 1);
    return {
        options: {
            ...base(width, 58 + rows.length * (12 + slots * 17)),
            marginLeft: left,
            marginRight: RIGHT,
            y: { domain: beside ? engines : [ABOVE, ...engines], axis: null, padding: 0.6 },
            fy: { domain: rows, label: null, padding: 0.12, ...(beside ? {} : { axis: null }) },
        },
        labels: beside
            ? Plot.axisFy({ anchor: "left", label: null, tickFormat: (l: string) => cut(l, width) })
            : Plot.text(rows, {
                  fy: (l: string) => l,
                  y: () => ABOVE,
                  text: (l: string) => shortened(l, letters),
                  frameAnchor: "left",
                  textAnchor: "start",
                  dx: 6,
              }),
        room: width - left - RIGHT,
    };
}

/** Rows of figures with their range over rounds; the engines of a row below each other. */
export function ranges(
    points: readonly RangePoint[],
    width: number,
    domain: Domain,
    options: { label: string; log: boolean; format: (value: number) => string },
): Drawing {
    const rows = [...new Set(points.map((p) => p.row))];
    const engines = [...new Set(points.map((p) => p.series.label))];
    const lane = lanes(rows, engines, width);
    return Plot.plot({
        ...lane.options,
        x: { domain, type: options.log ? "log" : "linear" },
        marks: [
            ...axisX({ domain, log: options.log, format: options.format, room: lane.room }, options.label),
            lane.labels,
            Plot.frame({ stroke: "currentColor", strokeOpacity: 0.15 }),
            Plot.ruleY(points, {
                y: (p: RangePoint) => p.series.label,
                fy: "row",
                x1: "low",
                x2: "high",
                stroke: colour,
                strokeWidth: 2,
            }),
            Plot.dot(points, {
                x: "value",
                y: (p: RangePoint) => p.series.label,
                fy: "row",
                r: 4.5,
                fill: colour,
                symbol: (p: RangePoint) => p.series.symbol,
                ...tips(points),
            }),
        ],
        symbol: { type: "identity" },
    });
}

/** Percentiles on an axis on which each further 9 takes the same room, up to 99.999. */
export const PERCENTILE_END = 99.999;
const NINES = [50, 90, 99, 99.9, 99.99, 99.999];

export function nines(percentile: number): number {
    return Math.abs(Math.log10(1 - Math.min(percentile, PERCENTILE_END) / 100));
}

export function curves(points: readonly LinePoint[], width: number, domain: Domain): Drawing {
    return Plot.plot({
        ...base(width, HEIGHT),
        marginLeft: 62,
        marginTop: 30, // for the label of the axis above its highest tick
        marginRight: 20,
        x: {
            domain: [0, nines(PERCENTILE_END)],
            label: "percentile",
            // On a narrow screen the last labels would run into each other.
            ticks: NINES.filter((p) => width > 450 || p !== 99.99).map(nines),
            tickFormat: (v: number) => `${Number((100 * (1 - 10 ** -v)).toFixed(3))}`,
            grid: true,
        },
        y: { type: "log", domain },
        marks: [
            ...axisY({ domain, log: true, format: tick, room: HEIGHT }, "latency"),
            ...lineMarks(points, 5),
            Plot.frame({ strokeOpacity: 0.2 }),
        ],
        symbol: { type: "identity" },
    });
}

function lineMarks(points: readonly LinePoint[], radius: number): Plot.Markish[] {
    return [
        Plot.line(points, {
            x: "x",
            y: "y",
            z: "line",
            stroke: colour,
            strokeWidth: 1.8,
            render(index, scales, values, dimensions, context, next) {
                const group = next!(index, scales, values, dimensions, context)!;
                // One path a line, in the order of first points.
                const lines = [...new Set(points.map((p) => p.line))];
                [...group.children].forEach((path, i) => {
                    const first = points.find((p) => p.line === lines[i]);
                    path.setAttribute("class", "series");
                    if (first !== undefined && first.series.dash !== "") {
                        path.setAttribute("stroke-dasharray", first.series.dash);
                    }
                });
                return group;
            },
        }),
        // Wider than what is seen: what the pointer and the arrow keys find.
        Plot.dot(points, { x: "x", y: "y", r: radius, fill: colour, fillOpacity: 0, ...tips(points) }),
    ];
}

export function overTime(
    points: readonly LinePoint[],
    width: number,
    options: { label: string; format: (value: number) => string; max: number; end: number },
): Drawing {
    const lines = points.map((p) => p.line);
    const alone = points.filter((p) => lines.indexOf(p.line) === lines.lastIndexOf(p.line));
    return Plot.plot({
        ...base(width, 200),
        marginLeft: 62,
        marginTop: 30,
        marginRight: 20,
        x: { domain: [0, options.end] },
        y: { domain: [0, options.max] },
        marks: [
            ...axisX({ domain: [0, options.end], log: false, format: String, room: width - 62 - RIGHT }, "seconds since the start"),
            ...axisY({ domain: [0, options.max], log: false, format: options.format, room: 150 }, options.label),
            ...lineMarks(points, 4),
            // One second alone makes no line.
            Plot.dot(alone, { x: "x", y: "y", r: 2.5, fill: colour, pointerEvents: "none" }),
            Plot.ruleY([0], { strokeOpacity: 0.4 }),
        ],
    });
}

/** A figure by a number of connections or calls, with its range over rounds. */
export function scaling(
    points: readonly LinePoint[],
    width: number,
    max: number,
    options: { x: string; y: string },
): Drawing {
    const threads = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
    return Plot.plot({
        ...base(width, 280),
        marginLeft: 62,
        marginTop: 30,
        marginRight: 20,
        x: { type: "log", domain: [threads[0]! / 1.2, threads.at(-1)! * 1.2] },
        y: { domain: [0, max] },
        marks: [
            Plot.gridX(threads, { strokeOpacity: 0.12 }),
            Plot.axisX(threads, { label: options.x, text: String }),
            ...axisY({ domain: [0, max], log: false, format: short, room: 230 }, options.y),
            Plot.ruleX(points, { x: "x", y1: "low", y2: "high", stroke: colour, strokeOpacity: 0.6, strokeWidth: 2 }),
            ...lineMarks(points, 7),
            Plot.dot(points, {
                x: "x",
                y: "y",
                r: 4,
                fill: colour,
                symbol: (p: LinePoint) => p.series.symbol,
                pointerEvents: "none",
            }),
        ],
        symbol: { type: "identity" },
    });
}

/** Ratios with their intervals; the band is the noise of the baseline against itself. */
export function ratios(
    points: readonly RatioPoint[],
    rows: string[], // all of them, also those of which nothing is known
    width: number,
    domain: Domain,
    floor: number | null,
    label: string,
): Drawing {
    const engines = [...new Set(points.map((p) => p.series.label))];
    const lane = lanes(rows, engines, width);
    const band = floor === null ? [] : [{ x1: 1 / (1 + floor), x2: 1 + floor }];
    const sure = (p: RatioPoint) => p.verdict === "faster" || p.verdict === "slower";
    return Plot.plot({
        ...lane.options,
        x: { type: "log", domain },
        marks: [
            ...axisX({ domain, log: true, format: times, room: lane.room }, label),
            Plot.frame({ stroke: "currentColor", strokeOpacity: 0.15 }),
            Plot.rectX(band, { x1: "x1", x2: "x2", fill: "currentColor", fillOpacity: 0.12, className: "floor" }),
            // Of every row, so that each has its lane.
            Plot.ruleX(rows, { x: () => 1, fy: (row: string) => row, stroke: "currentColor", strokeOpacity: 0.6 }),
            lane.labels,
            Plot.ruleY(points, {
                y: (p: RatioPoint) => p.series.label,
                fy: "row",
                x1: (p: RatioPoint) => Math.max(p.low, domain[0]),
                x2: (p: RatioPoint) => Math.min(p.high, domain[1]),
                stroke: colour,
                strokeWidth: 2,
            }),
            Plot.dot(points, {
                x: "value",
                y: (p: RatioPoint) => p.series.label,
                fy: "row",
                r: 4.5,
                // Hollow: no verdict.
                fill: (p: RatioPoint) => (sure(p) ? p.series.colour : "var(--paper)"),
                stroke: colour,
                strokeWidth: 1.5,
                symbol: (p: RatioPoint) => p.series.symbol,
                ...tips(points),
            }),
        ],
        symbol: { type: "identity" },
        color: { type: "identity" },
    });
}
