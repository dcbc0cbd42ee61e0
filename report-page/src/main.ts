/** Puts the results that stand in the page on the page. */
import { commonBaseline, differences } from "./comparable.ts";
import { cell, dataTable } from "./datatable.ts";
import { element, isolated } from "./dom.ts";
import { list, unbroken } from "./format.ts";
import { groupBy } from "./group.ts";
import { normalised, type Case, type Source } from "./result.ts";
import { benchFigures } from "./sections/bench.ts";
import { comparisonFigures, comparisonLead } from "./sections/compare.ts";
import { concurrentFigures } from "./sections/concurrent.ts";
import { conditions } from "./sections/conditions.ts";
import { eventLoopFigures } from "./sections/eventloop.ts";
import { latencyCurve, scriptsOf, tails } from "./sections/latency.ts";
import { notices } from "./sections/notices.ts";
import { numbersFigures } from "./sections/numbers.ts";
import { partsFigures, rateFigures } from "./sections/rate.ts";
import { overTimeFigures } from "./sections/seconds.ts";
import { throughput } from "./sections/throughput.ts";
import { timed, verified } from "./sections/verify.ts";
import { cpu, memory, waiting } from "./sections/waiting.ts";
import { seriesOf, shortNames, viewOf, type View } from "./series.ts";
import { Stage, type FigureSpec } from "./stage.ts";

type Kind = "mix" | "isolated" | "scaling";

/** How a suite is shown follows from its cases, so that suites of users' own are shown too. */
function kindOf(cases: readonly Case[]): Kind {
    if (cases.some((c) => cases.some((d) => d !== c && d.scenario === c.scenario))) {
        return "scaling";
    }
    if (cases.every((c) => c.suite === "concurrent")) {
        return "scaling";
    }
    return cases.length > 1 || cases.every((c) => c.suite === "bench") ? "isolated" : "mix";
}

/** One figure a file, beside each other. */
function row(stage: Stage, figures: readonly (FigureSpec | null)[]): HTMLElement {
    return element(
        "div",
        { class: "row" },
        ...figures.map((f) => (f === null ? element("figure", { class: "empty" }) : stage.figure(f))),
    );
}

/** Lists of figures of several files, turned into rows of the same figure. */
function rows(stage: Stage, byFile: readonly FigureSpec[][]): HTMLElement[] {
    if (byFile.length === 1) {
        return [element("div", { class: "grid" }, ...byFile[0]!.map((f) => stage.figure(f)))];
    }
    const titles = [...new Set(byFile.flatMap((figures) => figures.map((f) => f.title)))];
    return titles.map((title) =>
        row(
            stage,
            byFile.map((figures) => figures.find((f) => f.title === title) ?? null),
        ),
    );
}

function suiteSection(stage: Stage, suite: string, byFile: View[][]): HTMLElement {
    const all = byFile.flat();
    const twins = (view: View) => all.filter((v) => v.kase.label === view.kase.label);
    const section = element("section", { class: "suite" }, element("h2", {}, isolated(suite)));
    const kind = kindOf((byFile.find((v) => v.length > 0) ?? []).map((v) => v.kase));
    const figures = byFile.map((views): FigureSpec[] => {
        if (views.length === 0) {
            return [];
        }
        if (kind === "isolated") {
            return benchFigures(views, all);
        }
        if (kind === "scaling") {
            const groups = groupBy(views, (v) => `${v.kase.scenario} ${v.kase.isolation}`);
            return [...groups.values()].flatMap((group) => [
                ...concurrentFigures(
                    group,
                    all.filter((v) => v.kase.scenario === group[0]!.kase.scenario),
                ),
                ...group.flatMap((view) => [...rateFigures(view), ...partsFigures(view, twins(view))]),
            ]);
        }
        return views.flatMap((view) => [
            throughput(view, all),
            ...rateFigures(view),
            ...scriptsOf(view).map((which) => latencyCurve(view, all, which)),
            tails(view, all),
            ...partsFigures(view, all),
            waiting(view, all),
            cpu(view, all),
            memory(view, all),
            ...overTimeFigures(view, all),
        ]);
    });
    section.append(...rows(stage, figures));
    return section;
}

function notComparable(sources: readonly Source[]): HTMLElement | null {
    if (sources.length < 2) {
        return null;
    }
    const found = differences(sources);
    const baseline = commonBaseline(sources);
    const words =
        found.length === 0
            ? "The files name the same host, settings and engines. They were still measured at different times: only a comparison made in one run carries a verdict."
            : `These files differ in ${found.length} ${found.length === 1 ? "respect" : "respects"} that change numbers: what stands side by side below must not be read as a difference between engines.` +
              (baseline === null ? "" : ` Ratios to ${baseline}, measured on each occasion, stand in the comparisons.`);
    return element(
        "section",
        { class: "notices", id: "not-comparable" },
        element("h3", {}, "What may not be compared"),
        element("p", {}, words),
        found.length === 0
            ? null
            : dataTable(
                  {
                      columns: [{ title: "what" }, ...sources.map((s) => ({ title: s.label }))],
                      rows: found.map((d) => [cell(d.what), ...d.values.map((v) => cell(v))]),
                  },
                  "In what the files differ",
              ),
    );
}

function header(source: Source): HTMLElement {
    const { result } = source;
    return element(
        "div",
        {},
        element("h2", { class: "file" }, isolated(source.label)),
        element(
            "p",
            { class: "lead" },
            `pitot ${result.command}, `,
            isolated(list([...result.engines.map((e) => e.name), ...result.numbers.map((n) => `SQLite ${n.version ?? "?"}`)])),
            `; ${result.started}; `,
            isolated(`${result.host["cpu_model"] ?? "unknown CPU"}, ${result.host["cores"] ?? "?"} cores`),
        ),
        notices(result),
    );
}

function page(sources: readonly Source[]): void {
    const shorten = shortNames(sources.flatMap((s) => s.result.engines.map((e) => e.name)));
    const stage = new Stage((text) => unbroken(shorten(text)));
    const series = seriesOf(sources);
    const main = document.querySelector("main")!;
    const headers = element("div", { class: "row" }, ...sources.map(header));
    main.append(stage.legend(series.values()), headers);
    const comparable = notComparable(sources);
    if (comparable !== null) {
        main.append(comparable);
    }

    const finds = sources.map((_, file) => (engine: string) => series.get(`${file}:${engine}`) ?? null);
    const comparisons = sources.map((source, file) => comparisonFigures(source, sources, finds[file]!));
    if (comparisons.some((figures) => figures.length > 0)) {
        const leads = sources.map(({ result: { comparison } }) =>
            element("p", { class: "sentence" }, comparison === null ? "" : stage.say(comparisonLead(comparison))),
        );
        main.append(
            element(
                "section",
                { class: "suite" },
                element("h2", {}, "Comparison"),
                element("div", { class: "row" }, ...leads),
                ...rows(stage, comparisons),
            ),
        );
    }
    const numbers = sources.map((source, file) =>
        numbersFigures(source, sources, (name) => series.get(`${file}:${name}`)!),
    );
    if (numbers.some((figures) => figures.length > 0)) {
        main.append(element("section", { class: "suite" }, element("h2", {}, "libpitot"), ...rows(stage, numbers)));
    }
    main.append(element("div", { class: "row" }, ...sources.map((s) => verified(s.result))));
    const measured = sources.filter((s) => timed(s.result) || s.result.engines.length === 0);
    const suites = new Set(measured.flatMap((s) => s.result.cases.map((c) => c.suite)));
    for (const suite of suites) {
        const byFile = sources.map(({ result }, file) =>
            result.cases.flatMap((c, i) => (c.suite === suite ? [viewOf(sources, series, file, i)] : [])),
        );
        main.append(suiteSection(stage, suite, byFile));
    }
    const loops = sources.map((_, file) => eventLoopFigures(file, sources, finds));
    if (loops.some((figures) => figures.length > 0)) {
        main.append(element("section", { class: "suite" }, element("h2", {}, "Event loop"), ...rows(stage, loops)));
    }
    main.append(element("div", { class: "row" }, ...sources.map((s) => conditions(s.result))));
    stage.start();
    document.documentElement.setAttribute("data-ready", "");
}

const data = document.getElementById("data")!.textContent!;
page((JSON.parse(data) as Source[]).map((s) => ({ ...s, result: normalised(s.result) })));
