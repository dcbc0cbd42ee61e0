/**
 * The kinds of charts. Each takes plain points that were made from the result and draws them;
 * every point carries the text of its tooltip, so that what is shown can be held against the file.
 */
import * as Plot from "@observablehq/plot";

import { short, tick } from "./format.ts";
import type { Series } from "./series.ts";

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

/** About as wide as the longest label is drawn, within what a narrow screen can give. */
function margin(labels: readonly string[], width: number): number {
    const longest = Math.max(0, ...labels.map((l) => l.length));
    return Math.min(Math.round(width * 0.42), 14 + Math.round(longest * 7.2));
}

function cut(label: string, width: number): string {
    const letters = Math.max(6, Math.floor((width * 0.42 - 14) / 7.2));
    return label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
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

const colour = (p: Point) => p.series.colour;

function logTicks([low, high]: Domain): number[] {
    const first = Math.floor(Math.log10(low));
    const last = Math.ceil(Math.log10(high));
    const steps = last - first <= 2 ? [1, 2, 5] : [1];
    const all: number[] = [];
    for (let e = first; e <= last; e++) {
        for (const step of steps) {
            const value = step * 10 ** e;
            if (value >= low && value <= high) {
                all.push(value);
            }
        }
    }
    return all;
}

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

export function bars(points: readonly BarPoint[], width: number, max: number, label: string): Drawing {
    const labels = points.map((p) => p.series.label);
    const rounds = points.flatMap((p) =>
        p.rounds.map((value, i) => ({
            series: p.series,
            value,
            tip: `${p.series.label}\nround ${i + 1}: ${value}`,
        })),
    );
    return Plot.plot({
        ...base(width, 60 + points.length * 34),
        marginLeft: margin(labels, width),
        marginRight: 20,
        x: { domain: [0, max], label, tickFormat: short, ticks: width < 500 ? 4 : 8, grid: true },
        y: { domain: labels, label: null, tickFormat: (l: string) => cut(l, width) },
        marks: [
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
        ],
    });
}

/** A lane a row, with its engines one below the other. */
function lanes(rows: string[], engines: string[]): Plot.PlotOptions {
    return {
        y: { domain: engines, axis: null, padding: 0.6 },
        fy: { domain: rows, label: null, padding: 0.12 },
    };
}

function laneLabels(width: number): Plot.Markish {
    return Plot.axisFy({ anchor: "left", label: null, tickFormat: (l: string) => cut(l, width) });
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
    return Plot.plot({
        ...base(width, 56 + points.length * 17 + rows.length * 12),
        marginLeft: margin(rows, width),
        marginRight: 20,
        x: {
            domain,
            type: options.log ? "log" : "linear",
            label: options.label,
            grid: true,
            tickFormat: options.format,
            ...(options.log ? { ticks: logTicks(domain) } : { ticks: width < 500 ? 4 : 8 }),
        },
        ...lanes(rows, engines),
        marks: [
            laneLabels(width),
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
        ...base(width, 300),
        marginLeft: 62,
        marginRight: 20,
        x: {
            domain: [0, nines(PERCENTILE_END)],
            label: "percentile",
            // On a narrow screen the last labels would run into each other.
            ticks: NINES.filter((p) => width > 450 || p !== 99.99).map(nines),
            tickFormat: (v: number) => `${Number((100 * (1 - 10 ** -v)).toFixed(3))}`,
            grid: true,
        },
        y: {
            type: "log",
            domain,
            label: "latency",
            ticks: logTicks(domain),
            tickFormat: tick,
            grid: true,
        },
        marks: [...lineMarks(points, 5), Plot.frame({ strokeOpacity: 0.2 })],
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
    return Plot.plot({
        ...base(width, 200),
        marginLeft: 62,
        marginRight: 20,
        x: { label: "seconds since the start", domain: [0, options.end], ticks: 6 },
        y: {
            label: options.label,
            domain: [0, options.max],
            tickFormat: options.format,
            grid: true,
            ticks: 5,
        },
        marks: [...lineMarks(points, 4), Plot.ruleY([0], { strokeOpacity: 0.4 })],
    });
}

/** Throughput by thread count, with its range over rounds. */
export function scaling(points: readonly LinePoint[], width: number, max: number, label: string): Drawing {
    const threads = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
    return Plot.plot({
        ...base(width, 280),
        marginLeft: 62,
        marginRight: 20,
        x: { type: "log", base: 2, domain: [threads[0]! / 1.2, threads.at(-1)! * 1.2], ticks: threads,
             tickFormat: (v: number) => String(v), label: "threads" },
        y: { domain: [0, max], label, tickFormat: short, grid: true },
        marks: [
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
    width: number,
    domain: Domain,
    floor: number | null,
    label: string,
): Drawing {
    const rows = [...new Set(points.map((p) => p.row))];
    const engines = [...new Set(points.map((p) => p.series.label))];
    const band = floor === null ? [] : [{ x1: 1 / (1 + floor), x2: 1 + floor }];
    const sure = (p: RatioPoint) => p.verdict === "faster" || p.verdict === "slower";
    return Plot.plot({
        ...base(width, 60 + rows.length * 12 + points.length * 17),
        marginLeft: margin(rows, width),
        marginRight: 20,
        x: {
            type: "log",
            domain,
            label,
            grid: true,
            ticks: logTicks(domain).length > 1 ? logTicks(domain) : [domain[0], 1, domain[1]],
            tickFormat: (v: number) => String(Number(v.toPrecision(3))),
        },
        ...lanes(rows, engines),
        marks: [
            Plot.rectX(band, { x1: "x1", x2: "x2", fill: "currentColor", fillOpacity: 0.12, className: "floor" }),
            Plot.ruleX([1], { stroke: "currentColor", strokeOpacity: 0.6 }),
            laneLabels(width),
            Plot.ruleY(points, {
                y: (p: RatioPoint) => p.series.label,
                fy: "row",
                x1: "low",
                x2: "high",
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
