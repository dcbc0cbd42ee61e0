/** The pure functions of the page: formats, sentences, what may not be compared, sorting, CSV. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { logDomain, nines, shortened } from "../src/charts.ts";
import { differences } from "../src/comparable.ts";
import { cell, csv, sorted } from "../src/datatable.ts";
import { slug } from "../src/dom.ts";
import { bytes, count, duration, list, rate, ratio, share, short, significant, tick, unbroken } from "../src/format.ts";
import type { Cell, Comparison, Result } from "../src/result.ts";
import type { Data } from "../src/datatable.ts";
import { comparisonSentence, occasion, rowOf, throughputSentence, verdicts } from "../src/sentences.ts";
import { stateOf } from "../src/cells.ts";
import { comparisonFigures, comparisonLead, rowLabel } from "../src/sections/compare.ts";
import { concurrentFigures, leftOut } from "../src/sections/concurrent.ts";
import { eventLoopFigures, flightPoints, latenessPoints } from "../src/sections/eventloop.ts";
import { noticesOf } from "../src/sections/notices.ts";
import { partsFigures, rateFigures } from "../src/sections/rate.ts";
import { ticksOf } from "../src/ticks.ts";
import { throughput } from "../src/sections/throughput.ts";
import { timed, verifyTable } from "../src/sections/verify.ts";
import { waiting } from "../src/sections/waiting.ts";
import { busyPoints, busySentence, numbersTable, timePoints } from "../src/sections/numbers.ts";
import { seriesOf, shortNames, SIDES, viewOf } from "../src/series.ts";
import {
    aCell,
    aComparison,
    aFigure,
    anEventLoop,
    aPart,
    aResult,
    aRole,
    aRow,
    aRun,
    aScript,
    aTail,
    someNumbers,
} from "./fixture.ts";

test("three significant digits, whole thousands grouped", () => {
    assert.equal(significant(0), "0");
    assert.equal(significant(1234567), "1,234,567");
    assert.equal(significant(12.345), "12.3");
    assert.equal(significant(0.012345), "0.0123");
    assert.equal(significant(-1234.5), "-1,235");
});

test("times, sizes and rates carry their unit, and n/a is no 0", () => {
    assert.equal(duration(null), "–");
    assert.equal(duration(0), "0 ns");
    assert.equal(duration(999), "999 ns");
    assert.equal(duration(999.9), "1.00 µs");
    assert.equal(duration(1_500_000), "1.50 ms");
    assert.equal(duration(90e9), "90.0 s");
    assert.equal(bytes(98_177_024), "98.2 MB");
    assert.equal(rate(8689.4), "8,689");
    assert.equal(share(0.0523), "5.23 %");
    assert.equal(share(null), "–");
    assert.equal(ratio(1.4), "1.400");
    assert.equal(count("9007199254740993"), "9,007,199,254,740,993");
    assert.equal(count(null), "–");
    assert.equal(tick(1_000_000), "1 ms");
    assert.equal(short(1_210_000), "1.21M");
});

test("a number and its unit stay on one line", () => {
    assert.equal(unbroken("95 % in 3 s, 12 ms of 7 sqlites"), "95\u00a0% in 3\u00a0s, 12\u00a0ms of 7 sqlites");
});

test("lists of words", () => {
    assert.equal(list([]), "");
    assert.equal(list(["a"]), "a");
    assert.equal(list(["a", "b", "c"]), "a, b and c");
});

test("each further nine takes the same room", () => {
    assert.equal(nines(0), 0);
    assert.ok(Math.abs(nines(90) - 1) < 1e-9);
    assert.ok(Math.abs(nines(99.9) - 3) < 1e-9);
    assert.equal(nines(100), nines(99.999));
});

test("a logarithmic axis has no place for 0 and none for nothing", () => {
    assert.equal(logDomain([]), null);
    assert.equal(logDomain([0, -1]), null);
    assert.deepEqual(logDomain([0, 10, 100]), [8, 125]);
});

test("an axis has as many ticks as their labels leave room for", () => {
    const times = { domain: [1000, 1e6] as const, log: true, format: tick };
    assert.deepEqual(ticksOf({ ...times, room: 300 }), [1e3, 1e4, 1e5, 1e6]);
    assert.deepEqual(ticksOf({ ...times, room: 90 }), [1e4, 1e6]);
    assert.deepEqual(ticksOf({ domain: [0.85, 1.3], log: true, format: String, room: 400 }), [
        0.9, 1, 1.1, 1.2, 1.3,
    ]);
    assert.deepEqual(ticksOf({ domain: [0.998, 1.002], log: true, format: String, room: 400 }), [1]);
    assert.deepEqual(ticksOf({ domain: [0, 2400], log: false, format: short, room: 500 }), [0, 500, 1000, 1500, 2000]);
    assert.deepEqual(ticksOf({ domain: [0, 2400], log: false, format: short, room: 100 }), [0, 1000, 2000]);
    assert.deepEqual(ticksOf({ domain: [1, 1], log: true, format: String, room: 400 }), []);
});

test("identifiers hold letters, digits and hyphens only", () => {
    assert.equal(slug("a b", 'x"</script>', 3), "a-b-x-script-3");
});

test("sorting puts absent values last, both ways", () => {
    const rows = [[cell(2)], [cell(null)], [cell(10)], [cell(1)]];
    assert.deepEqual(sorted(rows, 0, false).map((r) => r[0]!.raw), [1, 2, 10, null]);
    assert.deepEqual(sorted(rows, 0, true).map((r) => r[0]!.raw), [10, 2, 1, null]);
    const words = [[cell("b")], [cell("a10")], [cell("a9")]];
    assert.deepEqual(sorted(words, 0, false).map((r) => r[0]!.raw), ["a9", "a10", "b"]);
});

test("CSV quotes what needs it and holds raw values", () => {
    const data = {
        columns: [{ title: "name" }, { title: "a,b" }],
        rows: [[cell('say "x"'), cell(1234567, "1.23 M")], [cell("line\nend"), cell(null)]],
    };
    assert.equal(csv(data), 'name,"a,b"\r\n"say ""x""",1234567\r\n"line\nend",\r\n');
});

test("a figure of few rounds is only reported", () => {
    assert.equal(occasion(aResult({ rounds: 1 })), "In this one run");
    assert.equal(occasion(aResult({ rounds: 2 })), "In these 2 rounds");
    assert.equal(occasion(aResult({ rounds: 10 })), "Over 10 rounds");
    const early = aResult({ rounds: 0 });
    assert.equal(occasion(early), "No run ended well");
    early.plan.rounds = 10;
    early.engines[0]!.runs = [aRun({ status: "partial" })];
    assert.equal(occasion(early), "In this one run");
    const result = aResult({ rounds: 1 });
    const source = { label: "a.json", result };
    const text = throughputSentence(viewOf([source], seriesOf([source]), 0, 0));
    assert.equal(text, "In this one run, operations/s: sqlite 1,000 and turso 700.");
});

test("a sentence compares where a verdict carries it, with the verdict's own numbers", () => {
    const result = aResult({ rounds: 10 });
    result.comparison = aComparison(result, [
        aCell({ engine: "sqlite", verdict: "baseline", ratio: 1 }),
        aCell({ engine: "turso", verdict: "slower", ratio: 0.7, ratio_low: 0.68, ratio_high: 0.72 }),
    ]);
    const source = { label: "a.json", result };
    const text = throughputSentence(viewOf([source], seriesOf([source]), 0, 0));
    assert.match(text, /Turso's throughput is 0\.700 times sqlite's \(0\.680 to 0\.720\): slower\.$/);
});

test("what has no verdict is never said to be faster", () => {
    const cells: Cell[] = [
        aCell({ engine: "a", verdict: "no difference shown", ratio: 1.4 }),
        aCell({ engine: "b", verdict: "closed loop", ratio: 1.4 }),
        aCell({ engine: "c", verdict: "failed", ratio: null, note: "it crashed" }),
    ];
    const text = verdicts("p99", "base", cells);
    assert.doesNotMatch(text, /faster|slower|1\.4/);
    assert.match(text, /between base and a no difference in p99 is shown/);
    assert.match(text, /nothing is said of b: in a closed loop/);
    assert.match(text, /nothing is said of c: it crashed/);
    assert.equal(verdicts("p99", "base", [aCell({ engine: "base", verdict: "faster", ratio: 2 })]), "");
});

test("a comparison in one sentence counts every cell", () => {
    const result = aResult({ rounds: 10 });
    const comparison: Comparison = aComparison(result, [
        aCell({ engine: "turso", verdict: "slower", ratio: 0.7 }),
        aCell({ engine: "x", verdict: "partial", ratio: null }),
    ]);
    const text = comparisonSentence(comparison, comparison.tables[0]!);
    assert.match(text, /0 rows are faster than sqlite, 1 slower, in 0 no difference is shown and of 1 nothing is said \(partial\)/);
    assert.match(text, /below 1\.20 %/);
    assert.match(text, /the noise of sqlite against itself, count as none/);
    const alone = comparisonSentence(comparison, { ...comparison.tables[0]!, floor_rows: 0 });
    assert.match(alone, /the least noise, as sqlite did not run against itself, count as none/);
});

test("a row of a comparison is called by its case and, where they differ, its part", () => {
    const result = aResult({ rounds: 3 });
    const row = aRow(0, []);
    assert.equal(rowLabel(result, row), "prod");
    assert.equal(rowLabel(result, { ...row, script: "prod" }), "prod");
    assert.equal(rowLabel(result, { ...row, role: "app" }), "prod, app");
    assert.equal(rowLabel(result, { ...row, role: "app", script: "get" }), "prod, get");
    assert.equal(rowLabel(result, { ...row, case: 7 }), "case 7");
    const twins = ["reader", "writer"].map((role) => ({ ...row, role, script: "get" }));
    const other = { ...row, case: 1, script: "get" };
    assert.equal(rowLabel(result, { ...row, script: "get" }, [row, other]), "prod, get");
    assert.deepEqual(twins.map((r) => rowLabel(result, r, twins)), ["reader, get", "writer, get"]);
});

test("the row of a figure is found by case, role and script", () => {
    const result = aResult({ rounds: 10 });
    result.comparison = aComparison(result, []);
    assert.notEqual(rowOf(result.comparison, "prod", "throughput", 0, null, null), null);
    assert.equal(rowOf(result.comparison, "prod", "throughput", 1, null, null), null);
    assert.equal(rowOf(result.comparison, "prod", "p99", 0, null, null), null);
    assert.equal(rowOf(null, "prod", "throughput", 0, null, null), null);
});

test("two results on other hosts, settings and engines are told apart", () => {
    const a = aResult({ rounds: 3 });
    const b = aResult({ rounds: 3 });
    assert.deepEqual(differences([{ label: "a", result: a }, { label: "b", result: b }]), []);
    b.host["cpu_model"] = "another";
    b.plan.settings[0]!.value = "full";
    b.engines[1]!.version = "0.9";
    b.engines.pop();
    b.cases[0]!.threads = 8;
    const found = differences([{ label: "a", result: a }, { label: "b", result: b }]);
    assert.deepEqual(
        found.map((d) => d.what),
        ["host: cpu_model", "settings", "prod: threads", "engine turso"],
    );
    assert.deepEqual(found[2]!.values, ["4", "8"]);
    assert.equal(found[3]!.values[1], "not measured");
});

test("an engine that is called by a path has a short name in words, and its end in charts", () => {
    const say = shortNames(["sqlite", "sqlite=/a/new.so", "sqlite=/a/new.so.0", "sqlite=/b/x.so", "sqlite=/c/x.so"]);
    assert.equal(say("sqlite=/a/new.so.0 and sqlite=/a/new.so"), "sqlite=…/new.so.0 and sqlite=…/new.so");
    assert.equal(say("sqlite=/b/x.so beside sqlite"), "sqlite=/b/x.so beside sqlite");
    assert.equal(shortened("sqlite=/a/long/path/to/new.so", 20), "sqlite=…th/to/new.so");
    assert.equal(shortened("a-long-name-of-a-case", 10), "a-long-na…");
    assert.equal(shortened("short", 10), "short");
});

test("an engine has one colour in every file, and no two series look the same", () => {
    const a = aResult({ rounds: 3 });
    const all = seriesOf([{ label: "a", result: a }, { label: "b", result: aResult({ rounds: 3 }) }]);
    const list = [...all.values()];
    assert.equal(list.length, 4);
    assert.equal(all.get("0:turso")!.colour, all.get("1:turso")!.colour);
    assert.equal(new Set(list.map((s) => `${s.colour} ${s.symbol} ${s.dash}`)).size, 4);
});

test("libpitot and the plain way: times with both sides, rates in the table alone", () => {
    const result = { ...aResult({ rounds: 1 }), engines: [], cases: [], numbers: [someNumbers()] };
    const all = seriesOf([{ label: "n.json", result }]);
    assert.deepEqual([...all.keys()], Object.values(SIDES).map((name) => `0:${name}`));
    const series = (name: string) => all.get(`0:${name}`)!;
    const points = timePoints(result.numbers[0]!, series);
    assert.equal(points.length, 8);
    assert.deepEqual([...new Set(points.map((p) => p.row))].length, 4);
    assert.equal(points.at(-1)!.series.label, SIDES.defaults);
    assert.deepEqual([points[0]!.value, points[0]!.low, points[0]!.high], [1e6, 1e6, 2e6]);
    const table = numbersTable(result.numbers[0]!);
    assert.equal(table.rows.length, 10);
    assert.ok(table.rows.every((row) => row.length === table.columns.length));
    assert.equal(table.rows[2]![3]!.shown, "3,000,000");
});

test("reads beside a writer: one curve a kind of connection, from what was due", () => {
    const result = { ...aResult({ rounds: 1 }), engines: [], cases: [], numbers: [someNumbers()] };
    const all = seriesOf([{ label: "n.json", result }]);
    const points = busyPoints(result.numbers[0]!, (name) => all.get(`0:${name}`)!);
    assert.deepEqual([...new Set(points.map((p) => p.series.label))].sort(), Object.values(SIDES).sort());
    const own = points.filter((p) => p.series.label === SIDES.pitot);
    assert.deepEqual(own.map((p) => p.y), [20000]); // 100 has no place
    assert.match(busySentence(result.numbers[0]!), /13 of 3,000 reads were never begun and 7 failed/);
});

test("two results of other SQLite libraries are told apart", () => {
    const one = { ...aResult({ rounds: 1 }), numbers: [someNumbers()] };
    const other = { ...one, numbers: [{ ...someNumbers(), version: "3.40.1" }] };
    const found = differences([
        { label: "a", result: one },
        { label: "b", result: other },
    ]);
    assert.deepEqual(found.map((d) => d.what), ["SQLite of sqlite"]);
});

/** The shown texts of a column. */
function column(data: Data, title: string): string[] {
    const place = data.columns.findIndex((c) => c.title === title);
    assert.notEqual(place, -1, `no column ${title} among ${data.columns.map((c) => c.title).join(", ")}`);
    return data.rows.map((row) => row[place]!.shown);
}

/** `aResult` at a rate of which turso could begin three quarters. */
function atRate(): Result {
    const result = aResult({ rounds: 3 });
    Object.assign(result.cases[0]!, {
        rate: 640,
        rate_share: 0.7,
        closed_loops: [{ engine: "sqlite", operations_per_second: 914.3 }],
    });
    result.engines.forEach((engine, i) => {
        Object.assign(engine.summaries[0]!, {
            offered: 6400,
            unstarted: i * 1600,
            begun_share: aFigure(1 - i / 4),
            scripts: [aScript("get", 8000, 2000)],
        });
    });
    result.warnings = [{ subject: "turso", text: "saturated: 75.0 % of the offered operations were begun" }];
    return result;
}

function firstView(result: Result) {
    const source = { label: "a.json", result };
    return viewOf([source], seriesOf([source]), 0, 0);
}

test("an open loop shows what arrived, what was begun, and the parts of its latencies", () => {
    const view = firstView(atRate());
    const [saturation, parts] = [...rateFigures(view), ...partsFigures(view, [view])];
    assert.match(saturation!.sentence, /offered 640 operations\/s, .*, 70\.0 % of what the slowest did in a closed loop \(sqlite 914\/s\)/);
    assert.match(saturation!.sentence, /begun of what was due: sqlite 100 % and turso 75\.0 %\. turso is saturated/);
    assert.deepEqual(column(saturation!.data, "never begun"), ["0", "1,600"]);
    assert.deepEqual(column(saturation!.data, "saturated"), ["no", "yes"]);
    assert.deepEqual(column(parts!.data, "part"), ["latency", "latency", "service", "service", "lag", "lag"]);
    assert.deepEqual(column(parts!.data, "p99"), ["~8.00 µs", "~8.00 µs", "~6.00 µs", "~6.00 µs", "~2.00 µs", "~2.00 µs"]);
    assert.match(throughput(view, [view]).sentence, /^All engines were offered 640 operations/);
    const kept = atRate();
    kept.warnings = [];
    assert.match(rateFigures(firstView(kept))[0]!.sentence, /None of them is saturated\.$/);
    const closed = firstView(aResult({ rounds: 3 }));
    assert.deepEqual([...rateFigures(closed), ...partsFigures(closed, [closed])], []);
});

test("time off CPU stands beside sleep and the run queue, and what cannot be told is named", () => {
    const result = aResult({ rounds: 3 });
    result.engines[1]!.summaries[0]!.off_cpu_ns = aFigure(null);
    const view = firstView(result);
    const figure = waiting(view, [view]);
    assert.deepEqual(column(figure.data, "off CPU"), ["3.00 s", "n/a"]);
    assert.deepEqual(column(figure.data, "slept for locks"), ["n/a", "n/a"]);
    assert.match(figure.sentence, /\(off CPU\): sqlite 3\.00 s\. Of turso it cannot be told\./);
    assert.match(figure.sentence, /slept waiting for locks: Of sqlite and turso it cannot be told\./);
});

test("the event loop: late beside calls and on an idle loop, calls in flight, and who was not measured", () => {
    const result = aResult({ rounds: 1 });
    result.engines[0]!.event_loop = anEventLoop({ status: "unable", error: "its worker has no event loop" });
    result.engines[1]!.event_loop = anEventLoop({
        status: "ok",
        lateness: { ...aTail(4e6), p99_thin: true },
        bare_lateness: aTail(20000),
        in_flight: [aPart(1, 1000), aPart(4, 3000)],
    });
    const source = { label: "a.json", result };
    const all = seriesOf([source]);
    const find = (name: string) => all.get(`0:${name}`) ?? null;
    const figures = eventLoopFigures(0, [source], [find]);
    assert.deepEqual(figures.map((f) => f.title), ["Delay of the event loop", "Executions in flight"]);
    assert.match(figures[0]!.sentence, /turso 4\.00 ms \(20\.0 µs on the same loop without calls\)/);
    assert.match(figures[0]!.sentence, /Not measured: sqlite \(unable: its worker has no event loop\)/);
    assert.deepEqual(column(figures[0]!.data, "late p99"), ["~4.00 ms"]);
    assert.deepEqual(column(figures[0]!.data, "idle loop late p99"), ["20.0 µs"]);
    assert.deepEqual(column(figures[1]!.data, "executions/s"), ["1,000", "3,000"]);
    const entry = { engine: result.engines[1]!, series: find("turso")! };
    assert.deepEqual(latenessPoints([entry]).map((p) => [p.row, p.low, p.value, p.high]), [
        ["beside calls", 2e6, 4e6, 8e6],
        ["idle loop", 10000, 20000, 40000],
    ]);
    assert.deepEqual(flightPoints([entry]).map((p) => [p.x, p.y]), [[1, 1000], [4, 3000]]);
    const closed = { label: "b.json", result: aResult({ rounds: 1 }) };
    assert.deepEqual(eventLoopFigures(0, [closed], [find]), []);
});

test("concurrent: figures of roles, fairness, and an engine that is unable says so", () => {
    const result = aResult({ rounds: 3 });
    result.engines[0]!.summaries[0]!.roles = [aRole("writer", 4, 8000), aRole("reader", 1, 100)];
    Object.assign(result.engines[1]!.summaries[0]!, { status: "unable", error: "it locks its file: process 4711 has it", rounds_ok: 0 });
    const view = firstView(result);
    assert.equal(leftOut([view]), " With 4 threads turso: unable: it locks its file.");
    const figures = concurrentFigures([view], [view]);
    assert.deepEqual(figures.map((f) => f.title), [
        "prod: writers",
        "prod: how evenly writers were served",
        "prod: readers",
    ]);
    assert.deepEqual(column(figures[0]!.data, "operations/s"), ["8,000", "–"]);
    assert.deepEqual(column(figures[0]!.data, "fairness"), ["50.0 %", "–"]);
    assert.deepEqual(column(figures[0]!.data, "off CPU"), ["2.00 s", "n/a"]);
    assert.deepEqual(column(figures[0]!.data, "how it ended"), ["ok", "unable: it locks its file"]);
    assert.match(figures[0]!.sentence, /turso: unable/);
    result.engines[0]!.summaries[0]!.roles = [];
    assert.equal(concurrentFigures([view], [view]).length, 1);
});

test("how an engine ended in a case is one phrase", () => {
    const [summary] = aResult({ rounds: 3 }).engines[0]!.summaries;
    assert.equal(stateOf({ ...summary!, rounds_ok: 3 }, 3), "ok");
    assert.equal(stateOf({ ...summary!, status: "partial", rounds_ok: 2 }, 3), "partial, 2 of 3 rounds");
    assert.equal(stateOf({ ...summary!, status: "failed", rounds_ok: 0, error: "it crashed" }, 3), "failed: it crashed");
});

test("the table of a comparison: thin medians, who leads, means, and why there is no verdict", () => {
    const result = aResult({ rounds: 10 });
    const cells = [
        aCell({ engine: "sqlite", verdict: null, note: "baseline", ratio: 1 }),
        aCell({ engine: "turso", median: 1500, thin: true, verdict: null, note: "unable: it locks its file" }),
    ];
    const comparison = aComparison(result, cells);
    const [table] = comparison.tables;
    Object.assign(table!, { unit: "ns", metric: "p99" });
    Object.assign(table!.rows[0]!, { best: "sqlite", best_lead: 0.25, best_lead_low: 0.2, best_lead_high: 0.3 });
    table!.rows.push(aRow(0, cells));
    table!.geometric_means = [
        { engine: "turso", rows: 0, ratio: null, ratio_low: null, ratio_high: null, verdict: null, note: "unable" },
    ];
    Object.assign(comparison, { rounds_repeated: 3, rounds_disturbed: 1, threshold: 0.05, slower: 2 });
    comparison.against = {
        file: "old.json",
        started: "2026-01-31T12:00:00Z",
        tables: [
            {
                suite: "prod",
                metric: "p99",
                floor: 0.05,
                rows: [{ ...aCell({ verdict: null, note: "missing: not measured now", ratio: null }), row: "prod" }],
            },
        ],
    };
    result.comparison = comparison;
    const source = { label: "a.json", result };
    const all = seriesOf([source]);
    const [figure, against] = comparisonFigures(source, [source], (name) => all.get(`0:${name}`) ?? null);
    assert.deepEqual(column(figure!.data, "median, ns").slice(0, 2), ["700 ns", "~1.50 µs"]);
    assert.deepEqual(column(figure!.data, "verdict"), [
        "baseline", "unable: it locks its file", "baseline", "unable: it locks its file", "unable",
    ]);
    assert.equal(column(figure!.data, "best, ahead by")[0], "25.0 % (20.0 % to 30.0 %)");
    assert.equal(column(figure!.data, "row").at(-1), "geometric mean of 0 rows");
    assert.deepEqual(column(against!.data, "verdict"), ["missing: not measured now"]);
    const lead = comparisonLead(comparison);
    assert.match(lead, /measured again because of the host: 3; disturbed ones that are in the figures: 1\./);
    assert.match(lead, /2 rows are slower by more than the noise and 5\.00 %\.$/);
    assert.match(comparisonLead({ ...comparison, slower: 0 }), /No row is shown to be slower/);
});

test("answers are told of where nothing was timed", () => {
    const result = aResult({ rounds: 1 });
    assert.equal(timed(result), true);
    const [sqlite, turso] = result.engines;
    const database = {
        suite: "prod",
        scenarios: ["prod"],
        reference: null,
        operations: 1000,
        status: "reference",
        error: null,
        scripts: [],
        tables: [],
    };
    sqlite!.summaries = turso!.summaries = [];
    sqlite!.verify.databases = [database];
    turso!.verify.databases = [
        {
            ...database,
            reference: "sqlite",
            status: "differs",
            scripts: [{ script: "get", status: "differs", differing: 12 }, { script: "put", status: "equal", differing: 0 }],
            tables: [{ table: "orders", status: "differs" }],
        },
    ];
    assert.equal(timed(result), false);
    assert.deepEqual(column(verifyTable(result), "answers"), ["reference", "differs"]);
    assert.deepEqual(column(verifyTable(result), "what differs"), ["–", "get (12 operations), table orders"]);
});

test("what failed is told before any number, in which case and round, once", () => {
    const result = aResult({ rounds: 3 });
    const [sqlite, turso] = result.engines;
    const run = (round: number, status: string, error: string | null, log: string[] = []) =>
        aRun({ round, status, error, log });
    sqlite!.known_faults = ["a fault", "another"];
    sqlite!.runs = [run(1, "ok", null), run(2, "failed", "out of disk", ["no space"]), run(3, "failed", "out of disk")];
    Object.assign(turso!, { status: "failed", error: "it crashed", known_faults: ["a fault"] });
    turso!.event_loop = anEventLoop({ status: "failed", error: "it hung", log: ["a line"] });
    result.warnings = [{ subject: null, text: "a warning" }];
    result.partial = true;
    const said = noticesOf(result).map((n) => [n.subject, n.text, n.log.join()]);
    assert.deepEqual(said, [
        [null, "The run was ended early: this is what was measured until then.", ""],
        ["sqlite", "failed in a round", "no space"],
        ["sqlite", "round 2 failed: out of disk", ""],
        ["turso", "failed: it crashed", ""],
        ["turso", "event loop failed: it hung", "a line"],
        ["sqlite and turso", "known fault: a fault", ""],
        ["sqlite", "known fault: another", ""],
        [null, "a warning", ""],
    ]);
    assert.deepEqual(noticesOf(aResult({ rounds: 1 })), []);
});
