/** Map.groupBy, which browsers and Node have had since 2024 only. */
export function groupBy<K, T>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
    const groups = new Map<K, T[]>();
    for (const item of items) {
        const group = groups.get(key(item));
        if (group === undefined) {
            groups.set(key(item), [item]);
        } else {
            group.push(item);
        }
    }
    return groups;
}
