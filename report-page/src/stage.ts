/**
 * What all figures of the page share: which engines are shown, drawing again when that, the
 * width or the paper changes, and one tooltip for pointer and keyboard.
 */
import type { Drawing } from "./charts.ts";
import { dataTable, type Data } from "./datatable.ts";
import { element } from "./dom.ts";
import type { Series } from "./series.ts";

export interface FigureSpec {
    id: string;
    title: string;
    sentence: string;
    said?: readonly string[]; // of single rows, below the sentence
    /** NULL: there is nothing to draw of the engines that are shown. */
    draw: (width: number, shown: (series: Series) => boolean) => Drawing | null;
    data: Data;
}

/** The marks of the charts as letters. */
const SWATCHES: Record<Series["symbol"], string> = {
    circle: "●",
    square: "■",
    triangle: "▲",
    diamond: "◆",
    star: "★",
    cross: "✚",
};

const WIDTH_ON_PAPER = 640;

export class Stage {
    private readonly hidden = new Set<string>();
    private readonly drawers: (() => void)[] = [];
    private readonly tooltip = element("div", { class: "tooltip", role: "status", hidden: "" });
    private width: number | null = null; // on paper

    /** `say` makes words of a figure as they are read. */
    constructor(readonly say: (text: string) => string) {
        document.body.append(this.tooltip);
        let last = window.innerWidth;
        window.addEventListener("resize", () => {
            if (window.innerWidth !== last) {
                last = window.innerWidth;
                this.redraw();
            }
        });
        window.addEventListener("beforeprint", () => this.paper(WIDTH_ON_PAPER));
        window.addEventListener("afterprint", () => this.paper(null));
        window.addEventListener("scroll", () => this.untip(), { passive: true });
    }

    private paper(width: number | null): void {
        this.width = width;
        for (const details of document.querySelectorAll<HTMLDetailsElement>("details[data-print]")) {
            details.open = width !== null;
        }
        this.redraw();
    }

    private redraw(): void {
        this.untip();
        this.drawers.forEach((draw) => draw());
    }

    private untip(): void {
        this.tooltip.hidden = true;
    }

    private tip(mark: Element): void {
        this.tooltip.textContent = mark.getAttribute("data-tip");
        this.tooltip.hidden = false;
        const at = mark.getBoundingClientRect();
        const own = this.tooltip.getBoundingClientRect();
        const left = Math.min(at.left + at.width / 2 + 10, window.innerWidth - own.width - 8);
        const above = at.top - own.height - 8;
        this.tooltip.style.left = `${Math.max(8, left)}px`;
        this.tooltip.style.top = `${above > 8 ? above : at.bottom + 8}px`;
    }

    /** The arrow keys go from mark to mark, Escape leaves. */
    private keyboard(host: HTMLElement): void {
        let place = -1;
        host.addEventListener("keydown", (event) => {
            const marks = [...host.querySelectorAll("[data-tip]")];
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
            if (event.key === "Escape") {
                this.untip();
            } else if (step !== undefined && marks.length > 0) {
                event.preventDefault();
                place = (place + step + marks.length) % marks.length;
                this.tip(marks[place]!);
            }
        });
        host.addEventListener("blur", () => this.untip());
        host.addEventListener("pointerover", (event) => {
            const mark = (event.target as Element).closest("[data-tip]");
            if (mark !== null) {
                this.tip(mark);
            } else {
                this.untip();
            }
        });
        host.addEventListener("pointerleave", () => this.untip());
    }

    figure(spec: FigureSpec): HTMLElement {
        const chart = element("div", {
            class: "chart",
            tabindex: "0",
            role: "group",
            "aria-label": `${spec.title}. Arrow keys go through the values.`,
        });
        this.keyboard(chart);
        const said = spec.said ?? [];
        const host = element(
            "figure",
            { id: spec.id },
            element("h3", {}, this.say(spec.title)),
            element("p", { class: "sentence" }, this.say(spec.sentence)),
            said.length === 0
                ? null
                : element("ul", { class: "sentence" }, ...said.map((text) => element("li", {}, this.say(text)))),
            chart,
            element(
                "details",
                { "data-print": "" },
                element("summary", {}, "The numbers"),
                dataTable(spec.data, spec.title),
            ),
        );
        this.drawers.push(() => {
            const width = this.width ?? Math.max(280, chart.clientWidth);
            const drawing = spec.draw(width, (series) => !this.hidden.has(series.key));
            chart.replaceChildren(drawing ?? element("p", { class: "nothing" }, "Nothing to draw."));
        });
        return host;
    }

    legend(all: Iterable<Series>): HTMLElement {
        const buttons = [...all].map((series) => {
            const swatch = element("span", { class: "swatch", "aria-hidden": "true" }, SWATCHES[series.symbol]);
            swatch.style.color = series.colour;
            const button = element(
                "button",
                { type: "button", "aria-pressed": "true", "data-series": series.label },
                swatch,
                element("bdi", {}, series.label),
            );
            button.addEventListener("click", () => {
                const show = this.hidden.delete(series.key);
                if (!show) {
                    this.hidden.add(series.key);
                }
                button.setAttribute("aria-pressed", String(show));
                this.redraw();
            });
            return button;
        });
        return element("nav", { class: "legend", "aria-label": "Engines shown" }, ...buttons);
    }

    /** When everything is in the document and has its width. */
    start(): void {
        this.redraw();
    }
}
