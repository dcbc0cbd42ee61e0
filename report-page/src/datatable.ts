/** The numbers under a chart: a table that sorts by its headings and is copied as CSV. */
import { element } from "./dom.ts";

export interface Column {
    title: string;
    numeric?: boolean;
}

/** What is shown, and the raw value that sorts it and goes to the CSV. */
export interface Value {
    shown: string;
    raw: number | string | null;
    mark?: string; // a class: "faster", "slower", "thin"
}

export interface Data {
    columns: Column[];
    rows: Value[][];
}

/** A column, and how its cell of an item is found. */
export interface Field<T> extends Column {
    of: (item: T) => Value;
}

export function tabulate<T>(items: readonly T[], fields: readonly Field<T>[]): Data {
    return {
        columns: fields.map(({ title, numeric }) => ({ title, numeric: numeric === true })),
        rows: items.map((item) => fields.map((field) => field.of(item))),
    };
}

/** More rows than this are shown on demand. */
const ROWS_AT_FIRST = 200;

export function cell(raw: number | string | null, shown?: string, mark?: string): Value {
    const value: Value = { raw, shown: shown ?? (raw === null ? "–" : String(raw)) };
    if (mark !== undefined) {
        value.mark = mark;
    }
    return value;
}

/** RFC 4180. */
export function csv(data: Data): string {
    const quote = (field: string) =>
        /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
    const lines = [
        data.columns.map((c) => quote(c.title)),
        ...data.rows.map((row) => row.map((v) => quote(v.raw === null ? "" : String(v.raw)))),
    ];
    return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** Absent values stand last, whichever way it is sorted. */
export function sorted(rows: readonly Value[][], column: number, descending: boolean): Value[][] {
    const sign = descending ? -1 : 1;
    return [...rows].sort((a, b) => {
        const [x, y] = [a[column]!.raw, b[column]!.raw];
        if (x === null || y === null) {
            return x === y ? 0 : x === null ? 1 : -1;
        }
        if (typeof x === "number" && typeof y === "number") {
            return sign * (x - y);
        }
        return sign * String(x).localeCompare(String(y), "en", { numeric: true });
    });
}

async function copy(text: string, button: HTMLButtonElement, host: HTMLElement): Promise<void> {
    const say = (word: string) => {
        button.textContent = word;
        setTimeout(() => (button.textContent = "Copy as CSV"), 2000);
    };
    try {
        await navigator.clipboard.writeText(text);
        say("Copied");
    } catch {
        // Some browsers refuse the clipboard to a page from a file: the text is shown to be taken.
        const area = element("textarea", { rows: "8", readonly: "", "aria-label": "CSV" });
        area.value = text;
        host.querySelector("textarea")?.remove();
        host.append(area);
        area.select();
        say("Select and copy");
    }
}

export function dataTable(data: Data, caption: string): HTMLElement {
    const body = element("tbody");
    let order: { column: number; descending: boolean } | null = null;
    let all = data.rows.length <= ROWS_AT_FIRST;

    const fill = () => {
        const rows = order === null ? data.rows : sorted(data.rows, order.column, order.descending);
        body.replaceChildren(
            ...(all ? rows : rows.slice(0, ROWS_AT_FIRST)).map((row) =>
                element(
                    "tr",
                    {},
                    ...row.map((value, i) =>
                        element(
                            i === 0 ? "th" : "td",
                            {
                                ...(i === 0 ? { scope: "row" } : {}),
                                class: [data.columns[i]!.numeric ? "number" : "", value.mark ?? ""]
                                    .join(" ")
                                    .trim(),
                            },
                            element("bdi", {}, value.shown),
                        ),
                    ),
                ),
            ),
        );
    };

    const headings = data.columns.map((column, i) => {
        const button = element("button", { type: "button" }, column.title);
        const heading = element(
            "th",
            { scope: "col", class: column.numeric ? "number" : "", "aria-sort": "none" },
            button,
        );
        button.addEventListener("click", () => {
            order =
                order?.column === i
                    ? { column: i, descending: !order.descending }
                    : { column: i, descending: false };
            headings.forEach((other) => other.setAttribute("aria-sort", "none"));
            heading.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
            fill();
        });
        return heading;
    });

    fill();
    const table = element(
        "table",
        {},
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, ...headings)),
        body,
    );
    const button = element("button", { type: "button", class: "copy" }, "Copy as CSV");
    const host = element("div", { class: "data" }, element("div", { class: "scroll" }, table));
    button.addEventListener("click", () => void copy(csv(data), button, host));
    host.append(button);
    if (!all) {
        const more = element(
            "button",
            { type: "button", class: "more" },
            `Show all ${data.rows.length} rows`,
        );
        more.addEventListener("click", () => {
            all = true;
            more.remove();
            fill();
        });
        host.append(more);
    }
    return host;
}
