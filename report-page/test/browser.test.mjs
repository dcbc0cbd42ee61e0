// The page in a browser, from a file, with results that pitot wrote and others made hostile.
//
//     PITOT=…/pitot CHROMIUM=…/chromium PAGE_FIXTURES=FOLDER node --test browser.test.mjs
//
// PAGE_FIXTURES holds the results of real runs: prod.json, bench.json, concurrent.json and rate.json
// (prod at a rate), of 3 rounds, and numbers.json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

const { PITOT, CHROMIUM, PAGE_FIXTURES } = process.env;
const work = mkdtempSync(join(tmpdir(), "pitot-page-"));
let browser;

before(async () => {
    browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: ["--headless", "--no-sandbox", "--disable-gpu"],
    });
});

after(async () => {
    await browser?.close();
    rmSync(work, { recursive: true, force: true });
});

function load(name) {
    return JSON.parse(readFileSync(join(PAGE_FIXTURES, `${name}.json`), "utf8"));
}

/** The result with verdicts of every kind in its comparison; the numbers are made up. */
function compared(result) {
    const [table] = result.comparison.tables;
    const [first] = table.rows;
    const [baseline, ...others] = result.engines.map((engine) => engine.name);
    const verdicts = ["faster", "slower", "no difference shown", "closed loop", null];
    const cell = (engine, i) => ({
        ...first.cells[0],
        engine,
        median: 1000 + i,
        spread: 0.02,
        ratio: 0.9 + i / 20,
        ratio_low: 0.88 + i / 20,
        ratio_high: 0.92 + i / 20,
        verdict: verdicts[i % verdicts.length],
        smallest_difference: 0.03,
        more_rounds: i % 2 === 0 ? null : 12,
        rounds: 10,
        note: i % verdicts.length === 4 ? "it was ended early" : null,
    });
    result.comparison = {
        ...result.comparison,
        baseline,
        runs: 10,
        confidence: 0.95,
        rounds_repeated: 1,
        tables: ["throughput", "p99"].map((metric) => ({
            ...table,
            suite: result.cases[0].suite,
            metric,
            unit: metric === "p99" ? "ns" : "1/s",
            floor: 0.012,
            rows: result.cases.map((_, i) => ({
                ...first,
                case: i,
                role: null,
                script: null,
                cells: [
                    { ...cell(baseline, 0), ratio: 1, ratio_low: null, ratio_high: null, verdict: null },
                    ...others.map((engine) => cell(engine, i)),
                ],
                best: null,
                best_lead: null,
            })),
            geometric_means: others.map((engine) => ({
                ...table.geometric_means[0],
                engine,
                ratio: 0.95,
                ratio_low: 0.93,
                ratio_high: 0.97,
            })),
        })),
    };
    return result;
}

/** The result as if its first engine's worker had no event loop, and the others' had; made up. */
function looped(result) {
    const tail = (ns) => ({ p50_ns: ns / 4, p99_ns: ns, max_ns: ns * 3, p99_thin: true, latency: null });
    const part = (depth) => ({
        in_flight: depth,
        elapsed_ns: 1e9,
        attempted: 1000,
        ok: 1000,
        busy: 0,
        conflict: 0,
        failed: 0,
        retries: 0,
        executions_per_second: 1000 + depth,
        tail: tail(50000),
        errors: [],
    });
    result.engines.forEach((engine, i) => {
        engine.event_loop =
            i === 0
                ? { ...engine.event_loop, status: "unable", error: "its worker has no event loop" }
                : {
                      status: "ok",
                      error: null,
                      log: [],
                      closed: part(1),
                      interval_ns: 2e6,
                      paced: part(1),
                      bare_lateness: tail(1000),
                      lateness: tail(4e6 * i),
                      in_flight: [1, 4, 16].map(part),
                  };
    });
    return result;
}

/** Writes results to files, lets pitot make the page, and gives the page's path. */
function report(results) {
    const files = Object.entries(results).map(([name, result]) => {
        const file = join(work, `${name}.json`);
        writeFileSync(file, JSON.stringify(result));
        return file;
    });
    const page = join(work, `${Object.keys(results).join("-")}.html`);
    execFileSync(PITOT, ["report", ...files, "--format", "html", "-o", page]);
    return page;
}

/** Opens a page and fails at anything that it says to the console or asks from anywhere. */
async function open(path, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
    const complaints = [];
    page.on("console", (message) => complaints.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
        if (request.url() !== `file://${path}`) {
            complaints.push(`request: ${request.url()}`);
        }
    });
    page.on("dialog", (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    await page.goto(`file://${path}`);
    await page.waitForSelector("html[data-ready]", { timeout: 30000 });
    return { page, complaints };
}

async function quiet({ page, complaints }) {
    assert.deepEqual(complaints, []);
    await page.close();
}

/** Engines that a figure has marks of. */
async function drawn(page, figure) {
    const names = await page.$$eval(`#${figure} [data-engine]`, (all) =>
        all.map((mark) => mark.getAttribute("data-engine")),
    );
    return [...new Set(names)].sort();
}

const names = (result) => result.engines.map((engine) => engine.name).sort();

test("a page is one file, of its own bytes no more than 1.5 MB, that forbids all requests", () => {
    const prod = load("prod");
    const path = report({ prod });
    const html = readFileSync(path, "utf8");
    assert.match(html, /default-src 'none'/);
    const data = Buffer.byteLength(JSON.stringify(prod));
    assert.ok(statSync(path).size - data < 1.5e6, `${statSync(path).size} bytes with ${data} of data`);
    assert.match(html, /ISC/); // the notices of what is bundled
});

test("prod: every chart has every engine", async () => {
    const prod = load("prod");
    const opened = await open(report({ prod }));
    const { page } = opened;
    const figures = await page.$$eval("figure[id]", (all) => all.map((f) => f.id));
    const scripts = prod.engines[0].summaries[0].scripts;
    for (const script of scripts) {
        const id = figures.find((f) => f.startsWith("latency-") && f.endsWith(`-${script.script.replaceAll("_", "-")}`));
        assert.notEqual(id, undefined, `no latency curve of ${script.script}`);
        assert.deepEqual(await drawn(page, id), names(prod));
        assert.equal(await page.$$eval(`#${id} path.series`, (all) => all.length), prod.engines.length);
    }
    for (const kind of ["throughput-", "p99-", "throughput-over-time-"]) {
        const id = figures.find((f) => f.startsWith(`${kind}prod`));
        assert.notEqual(id, undefined, `no figure ${kind}`);
        assert.deepEqual(await drawn(page, id), names(prod));
    }
    const sentences = await page.$$eval("figure .sentence", (all) => all.map((s) => s.textContent));
    assert.ok(sentences.every((s) => s.length > 20));
    await quiet(opened);
});

test("prod: a tooltip has the value of the file, by pointer and by keyboard", async () => {
    const prod = load("prod");
    const opened = await open(report({ prod }));
    const { page } = opened;
    const median = (engine) => engine.summaries[0].operations_per_second.median;
    // The longest bar: no circle of a round lies over its beginning.
    const engine = prod.engines.reduce((a, b) => (median(a) > median(b) ? a : b));
    const figure = "figure[id^='throughput-prod']";
    // Scrolling takes the tooltip away: it must be over before the pointer comes.
    await page.$eval(figure, (f) => f.scrollIntoView({ block: "center" }));
    await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await page.hover(`${figure} [data-engine='${engine.name}'][data-tip*='median of rounds']`, {
        position: { x: 4, y: 4 },
    });
    const shown = await page.textContent(".tooltip:not([hidden])");
    assert.ok(shown.includes(engine.name) && shown.includes(String(median(engine))), shown);
    await page.mouse.move(0, 0);
    await page.focus(`${figure} .chart`);
    await page.keyboard.press("ArrowRight");
    const first = await page.textContent(".tooltip:not([hidden])");
    assert.ok(first.includes(String(median(prod.engines[0]))), first);
    await page.keyboard.press("Escape");
    assert.equal(await page.$(".tooltip:not([hidden])"), null);
    await quiet(opened);
});

test("prod: an engine is hidden and shown again everywhere", async () => {
    const prod = load("prod");
    const opened = await open(report({ prod }));
    const { page } = opened;
    const [first, ...others] = prod.engines.map((e) => e.name);
    const id = await page.$eval("figure[id^='p99-prod']", (f) => f.id);
    await page.click(`.legend button[data-series='${first}']`);
    assert.deepEqual(await drawn(page, id), [...others].sort());
    assert.equal(await page.getAttribute(`.legend button[data-series='${first}']`, "aria-pressed"), "false");
    await page.click(`.legend button[data-series='${first}']`);
    assert.deepEqual(await drawn(page, id), names(prod));
    await quiet(opened);
});

test("prod: tables sort by their headings and hold the numbers of the file", async () => {
    const prod = load("prod");
    const opened = await open(report({ prod }));
    const { page } = opened;
    const figure = "figure[id^='throughput-prod']";
    await page.click(`${figure} summary`);
    const column = async () =>
        page.$$eval(`${figure} tbody tr`, (rows) => rows.map((row) => row.children[0].textContent));
    const byRate = [...prod.engines]
        .sort(
            (a, b) =>
                a.summaries[0].operations_per_second.median - b.summaries[0].operations_per_second.median,
        )
        .map((e) => e.name);
    await page.click(`${figure} thead th:nth-child(2) button`);
    assert.deepEqual(await column(), byRate);
    await page.click(`${figure} thead th:nth-child(2) button`);
    assert.deepEqual(await column(), byRate.reverse());
    await quiet(opened);
});

test("dark, narrow and on paper", async () => {
    const path = report({ prod: load("prod") });
    const dark = await open(path, { colorScheme: "dark" });
    const light = await open(path, { colorScheme: "light" });
    const paper = (opened) => opened.page.$eval("body", (b) => getComputedStyle(b).backgroundColor);
    assert.notEqual(await paper(dark), await paper(light));
    await quiet(dark);
    const pdf = await light.page.pdf({ format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    assert.ok(pdf.length > 20000);
    await quiet(light);
    const narrow = await open(path, { viewport: { width: 380, height: 800 } });
    const [wide, window] = await narrow.page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
    ]);
    assert.ok(wide <= window, `${wide} pixels in a window of ${window}`);
    await quiet(narrow);
});

test("bench: every figure draws its engines, every workload in each", async () => {
    const result = load("bench");
    const opened = await open(report({ bench: result }));
    const figures = await opened.page.$$eval("figure[id^='bench-']", (all) => all.map((f) => f.id));
    assert.equal(figures.length, 2);
    for (const id of figures) {
        assert.deepEqual(await drawn(opened.page, id), names(result), id);
    }
    const rows = await opened.page.$$eval(`#${figures[0]} tbody tr`, (all) => all.length);
    assert.equal(rows, result.cases.length * result.engines.length);
    await quiet(opened);
});

test("a comparison: every row with its interval, verdicts in words, the noise as a band", async () => {
    const result = compared(load("bench"));
    const opened = await open(report({ compare: result }));
    const { page } = opened;
    const id = await page.$eval("figure[id^='compare-'][id$='throughput']", (f) => f.id);
    const marks = await page.$$eval(`#${id} [data-tip]`, (all) => all.length);
    assert.equal(marks, result.cases.length * (result.engines.length - 1));
    const cells = await page.$$eval(`#${id} tbody tr`, (all) => all.length);
    const { geometric_means: means } = result.comparison.tables[0];
    assert.equal(cells, result.cases.length * result.engines.length + means.length);
    const labels = await page.$$eval(`#${id} svg text`, (all) => all.map((t) => t.textContent));
    for (const { label } of result.cases) {
        assert.ok(labels.includes(label), `no row of ${label} in ${labels.join(", ")}`);
    }
    assert.equal(await page.$$eval(`#${id} .floor rect`, (all) => all.length > 0), true);
    const sentence = await page.textContent(`#${id} .sentence`);
    assert.match(sentence, /faster than/);
    assert.match(sentence, /Geometric mean/);
    const all = await page.textContent("main");
    assert.match(all, /it was ended early/);
    await quiet(opened);
});

test("numbers: every line with both sides, the reads beside a writer as curves", async () => {
    const numbers = load("numbers");
    const opened = await open(report({ numbers }));
    const { page } = opened;
    const sides = ["libpitot", "plain", "plain, SQLite's defaults"];
    for (const library of numbers.numbers) {
        const id = `numbers-numbers-json-${library.name}`;
        const measured = library.lines.filter((l) => l.unit === "ns");
        const marks = measured.flatMap((l) => [l.pitot, l.plain]).filter((side) => side.count > 0);
        assert.equal(await page.$$eval(`#${id} [data-engine]`, (all) => all.length), marks.length);
        const tips = await page.$$eval(`#${id} [data-tip]`, (all) => all.map((m) => m.getAttribute("data-tip")));
        const first = library.lines[0];
        assert.ok(tips.some((t) => t.includes(`${first.group}: ${first.name}\nlibpitot\nmedian: ${first.pitot.median} ns`)));
        const curves = await drawn(page, `numbers-busy-numbers-json-${library.name}`);
        assert.ok(curves.includes("libpitot") && curves.every((name) => sides.includes(name)), curves.join());
        assert.equal(await page.$$eval(`#${id} tbody tr`, (all) => all.length), 2 * library.lines.length);
    }
    await page.click(".legend button[data-series='libpitot']");
    const left = await drawn(page, `numbers-numbers-json-${numbers.numbers[0].name}`);
    assert.ok(!left.includes("libpitot") && left.includes("plain"));
    await quiet(opened);
});

/** Texts along an axis that run into each other, and texts that the window cuts off. */
async function collisions(page) {
    const outside = await page.$$eval("figure svg text", (all) =>
        all.flatMap((text) => {
            const { left, right } = text.getBoundingClientRect();
            return left < 0 || right > document.documentElement.clientWidth
                ? [`${text.closest("figure").id}: ${text.textContent} is cut off`]
                : [];
        }),
    );
    const over = await page.$$eval("figure svg", (all) =>
        all.flatMap((svg) =>
            [...svg.querySelectorAll("g[aria-label$='tick label']")].flatMap((axis) => {
                const boxes = [...axis.querySelectorAll("text")].map((text) => ({
                    text: text.textContent,
                    box: text.getBoundingClientRect(),
                }));
                return boxes.flatMap((a, i) =>
                    boxes.slice(i + 1).flatMap((b) => {
                        const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
                        const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
                        // Boxes of letters are taller than the letters.
                        return across > 0 && down > 4
                            ? [`${svg.closest("figure").id}: ${a.text} over ${b.text}`]
                            : [];
                    }),
                );
            }),
        ),
    );
    return [...outside, ...over];
}

for (const width of [380, 700, 1200]) {
    test(`no label runs into another in a window of ${width}`, async () => {
        for (const name of ["prod", "rate", "bench", "concurrent", "numbers"]) {
            const opened = await open(report({ [name]: load(name) }), { viewport: { width, height: 800 } });
            assert.deepEqual(await collisions(opened.page), [], name);
            await quiet(opened);
        }
        const compare = await open(report({ compare: compared(load("bench")) }), { viewport: { width, height: 800 } });
        assert.deepEqual(await collisions(compare.page), []);
        await quiet(compare);
    });
}

test("prod at a rate: what was begun, and lag and service time beside latency", async () => {
    const rate = load("rate");
    const opened = await open(report({ rate }));
    const { page } = opened;
    const figure = async (start) => page.$eval(`figure[id^='${start}-rate']`, (f) => f.id);
    const parts = await figure("parts");
    assert.deepEqual(await drawn(page, await figure("saturation")), names(rate));
    assert.equal(await page.$$eval(`#${await figure("throughput")} .offered line`, (all) => all.length), 1);
    const tips = await page.$$eval(`#${parts} [data-tip]`, (all) => all.map((m) => m.getAttribute("data-tip")));
    const [engine] = rate.engines;
    const [script] = engine.summaries[0].scripts;
    for (const [part, points] of [
        ["latency", script.points_ns],
        ["service", script.service.points_ns],
        ["lag", script.lag.points_ns],
    ]) {
        const tip = `${script.script}: ${part}, ${engine.name}\np99, median of rounds: ${points.p99.median} ns\n`;
        assert.ok(tips.some((t) => t.startsWith(tip)), `no mark of ${tip}`);
    }
    const rows = rate.engines.reduce((sum, e) => sum + 3 * e.summaries[0].scripts.length, 0);
    assert.equal(await page.$$eval(`#${parts} tbody tr`, (all) => all.length), rows);
    await quiet(opened);
});

test("concurrent: throughput of every role, fairness where several are served, by threads", async () => {
    const concurrent = load("concurrent");
    const opened = await open(report({ concurrent }));
    const { page } = opened;
    const ids = await page.$$eval("figure[id]", (all) => all.map((f) => f.id));
    for (const [start, roles] of [
        ["scaling-concurrent-json-write-contention", ["writer"]],
        ["scaling-concurrent-json-read-write-mix", ["writer", "reader"]],
        ["fairness-concurrent-json-write-contention", ["writer"]],
        ["fairness-concurrent-json-read-write-mix", ["reader"]],
    ]) {
        const found = ids.filter((id) => id.startsWith(start));
        assert.deepEqual(found, roles.map((role) => `${start}-threads-${role}`));
        for (const id of found) {
            assert.deepEqual(await drawn(page, id), names(concurrent), id);
            const marks = await page.$$eval(`#${id} [data-tip]`, (all) => all.length);
            assert.equal(marks, 2 * concurrent.engines.length, id);
        }
    }
    const { fairness } = concurrent.engines[0].summaries[1].roles[0];
    const tips = await page.$$eval("figure[id^='fairness-'] [data-tip]", (all) => all.map((m) => m.getAttribute("data-tip")));
    assert.ok(tips.some((t) => t.includes(`median of rounds: ${fairness.median}\n`)), tips.join("\n\n"));
    await quiet(opened);
});

test("the event loop: who was late beside calls, and who was not measured", async () => {
    const result = looped(load("prod"));
    const [unable, ...others] = result.engines.map((e) => e.name);
    const opened = await open(report({ loop: result }));
    const { page } = opened;
    assert.deepEqual(await drawn(page, "event-loop-loop-json"), [...others].sort());
    assert.deepEqual(await drawn(page, "in-flight-loop-json"), [...others].sort());
    assert.equal(await page.$$eval("#event-loop-loop-json [data-tip]", (all) => all.length), 2 * others.length);
    const sentence = await page.textContent("#event-loop-loop-json .sentence");
    const short = unable.replace(/=\/.*\//, "=…/");
    assert.ok(sentence.includes(`Not measured: ${short} (unable: its worker has no event loop).`), sentence);
    await quiet(opened);
});

test("two files stand side by side, and what may not be compared is said", async () => {
    const monday = load("prod");
    const friday = load("prod");
    friday.host.cpu_model = "another CPU";
    friday.cases[0].threads += 1;
    const opened = await open(report({ monday, friday }));
    const { page } = opened;
    const said = await page.textContent("#not-comparable");
    assert.match(said, /differ in 2 respects/);
    assert.match(said, /cpu_model/);
    assert.match(said, /another CPU/);
    const figures = await page.$$("figure[id^='throughput-monday'], figure[id^='throughput-friday']");
    assert.ok(figures.length >= 2);
    const labels = await page.$$eval(".legend button bdi", (all) => all.map((b) => b.textContent));
    assert.equal(labels.length, 2 * monday.engines.length);
    await quiet(opened);
});

const HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--<script>",
    "שלום ‮ evil",
    "a'b\"c\\d&amp;",
];

for (const name of HOSTILE) {
    test(`an engine called ${name} is text`, async () => {
        const result = load("prod");
        result.engines[0].name = name;
        result.warnings.push({ subject: name, text: name });
        result.engines[0].known_faults = [name];
        result.engines[0].error = name;
        const opened = await open(report({ hostile: result }));
        const { page } = opened;
        const labels = await page.$$eval(".legend button bdi", (all) => all.map((b) => b.textContent));
        assert.ok(labels.includes(name), labels.join(" | "));
        assert.equal(await page.$$eval("script, img", (all) => all.length), 2); // data and code
        await quiet(opened);
    });
}

test("nothing measured, one engine, all failed, partial: said, not broken", async () => {
    const empty = load("prod");
    for (const engine of empty.engines) {
        engine.status = "failed";
        engine.error = "it crashed";
        engine.runs = [];
        for (const summary of engine.summaries) {
            for (const [key, value] of Object.entries(summary)) {
                if (value !== null && typeof value === "object" && "median" in value) {
                    summary[key] = { median: null, min: null, max: null };
                }
            }
            summary.scripts = [];
        }
    }
    const failed = await open(report({ failed: empty }));
    assert.match(await failed.page.textContent(".notices"), /it crashed/);
    assert.match(await failed.page.textContent("figure[id^='throughput']"), /Nothing to draw/);
    await quiet(failed);

    const one = load("prod");
    one.engines.length = 1;
    one.partial = true;
    const partial = await open(report({ one }));
    assert.match(await partial.page.textContent(".notices"), /ended early/);
    await quiet(partial);

    const none = load("prod");
    none.engines = [];
    const nobody = await open(report({ none }));
    await quiet(nobody);
});

test("ten thousand rows are shown on demand", async () => {
    const result = compared(load("bench"));
    const table = result.comparison.tables[0];
    const row = table.rows[0];
    table.rows = Array.from({ length: 10000 }, () => structuredClone(row));
    const opened = await open(report({ large: result }));
    const { page } = opened;
    const id = await page.$eval("figure[id^='compare-']", (f) => f.id);
    await page.click(`#${id} summary`);
    assert.equal(await page.$$eval(`#${id} tbody tr`, (all) => all.length), 200);
    await page.click(`#${id} .more`);
    const all = await page.$$eval(`#${id} tbody tr`, (rows) => rows.length);
    assert.equal(all, 10000 * row.cells.length + table.geometric_means.length);
    await quiet(opened);
});
