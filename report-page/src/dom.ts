/** Elements made with text only: nothing of a result is ever parsed as markup. */

type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Record<string, string> = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
}

/** An identifier for links and tests: letters, digits and hyphens. */
export function slug(...parts: (string | number)[]): string {
    return parts
        .join("-")
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
}

/** User text in a run of ours: its own direction must not turn the words around it. */
export function isolated(text: string): HTMLElement {
    return element("bdi", {}, text);
}
