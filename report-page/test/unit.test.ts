/** The pure functions of the page: formats, sentences, what may not be compared, sorting, CSV. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { logDomain, nines } from "../src/charts.ts";
import { differences } from "../src/comparable.ts";
import { cell, csv, sorted } from "../src/datatable.ts";
import { slug } from "../src/dom.ts";
import { bytes, count, duration, list, rate, ratio, share, short, significant, tick } from "../src/format.ts";
import type { Cell, Comparison } from "../src/result.ts";
import { comparisonSentence, occasion, rowOf, throughputSentence, verdicts } from "../src/sentences.ts";
import { rowLabel } from "../src/sections/compare.ts";
import { busyPoints, busySentence, numbersTable, timePoints } from "../src/sections/numbers.ts";
import { seriesOf, SIDES, viewOf } from "../src/series.ts";
import { aCell, aComparison, aResult, someNumbers } from "./fixture.ts";

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
    assert.match(text, /0 rows are faster than sqlite, 1 slower, in 0 no difference is shown and of 1 nothing is said/);
    assert.match(text, /below 1\.20 %/);
    assert.match(text, /the noise of sqlite against itself, count as none/);
    const alone = comparisonSentence(comparison, { ...comparison.tables[0]!, floor_rows: 0 });
    assert.match(alone, /the least noise, as sqlite did not run against itself, count as none/);
});

test("a row of a comparison is called by its case and, where they differ, its part", () => {
    const result = aResult({ rounds: 3 });
    const row = { case: 0, role: null, script: null, cells: [], best: null, best_lead: null };
    assert.equal(rowLabel(result, row), "prod");
    assert.equal(rowLabel(result, { ...row, script: "prod" }), "prod");
    assert.equal(rowLabel(result, { ...row, role: "app" }), "prod, app");
    assert.equal(rowLabel(result, { ...row, role: "app", script: "get" }), "prod, get");
    assert.equal(rowLabel(result, { ...row, case: 7 }), "case 7");
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
