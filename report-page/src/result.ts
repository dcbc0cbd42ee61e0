/** The part of a result file that the page reads; docs/result-schema.md describes all of it. */

export type Count = number | string | null; // beyond 2^53 a decimal string

export interface Figure {
    median: number | null;
    min: number | null;
    max: number | null;
}

export interface Pair {
    name: string;
    value: string;
}

export interface Case {
    label: string;
    suite: string;
    suite_folder: string | null;
    suite_hash: string;
    scale: string;
    scenario: string;
    variables: Pair[];
    threads: number;
    duration_ns: Count;
    operations: Count;
    warmup_ns: Count;
    warmup_operations: Count;
    rate: number | null;
    isolation: string;
}

export interface CurvePoint {
    percentile: number;
    value_ns: number;
}

export interface ScriptSummary {
    role: string;
    script: string;
    write: boolean;
    ok: number;
    busy: number;
    conflict: number;
    failed: number;
    operations_per_second: Figure;
    points_ns: Record<string, Figure>;
    point_thin: Record<string, boolean>;
    slow: Figure;
    curve: CurvePoint[];
}

export interface Summary {
    rounds_ok: number;
    reads_per_second: Figure;
    writes_per_second: Figure;
    operations_per_second: Figure;
    cpu_per_operation_ns: Figure;
    peak_memory_bytes: Figure;
    write_bytes: Figure;
    largest_wal_bytes: Figure;
    final_bytes: Figure;
    slept_ns: Figure;
    run_queue_ns: Figure;
    run_queue_share: Figure;
    cpu_others: Figure;
    close_ns: Figure;
    ok: number;
    busy: number;
    conflict: number;
    failed: number;
    scripts: ScriptSummary[];
}

export interface Setting {
    name: string;
    asked: string;
    got: string | null;
    required: boolean;
    agrees: boolean;
}

export interface Connection {
    connection: number;
    role: string;
    operations: number;
    window_ns: number;
    settings: Setting[];
}

export interface Second {
    at_s: number;
    operations: number[];
    slow: number[];
    wal_bytes: Count;
}

export interface RunScript {
    role: string;
    script: string;
    ok: number;
    operations_each: number;
}

export interface Run {
    case: number;
    round: number;
    status: string | null;
    error: string | null;
    window_ns: Count;
    connections: Connection[];
    scripts: RunScript[];
    seconds: Second[];
}

export interface Engine {
    name: string;
    driver: string;
    version: string | null;
    source_id: string | null;
    sync_call: string | null;
    binding_version: string | null;
    runtime: string | null;
    options: Pair[];
    compile_options: string[];
    known_faults: string[];
    status: string | null;
    error: string | null;
    verify: { status: string | null };
    runs: Run[];
    summaries: Summary[];
}

export interface Cell {
    engine: string;
    median: number | null;
    spread: number | null;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    verdict: string | null;
    smallest_difference: number | null;
    more_rounds: Count;
    rounds: number;
    note: string | null;
}

export interface ComparisonRow {
    case: number;
    role: string | null;
    script: string | null;
    cells: Cell[];
    best: string | null;
    best_lead: number | null;
}

export interface ComparisonTable {
    suite: string;
    metric: string;
    unit: string;
    floor: number | null;
    floor_rows: number;
    rows: ComparisonRow[];
    geometric_means: {
        engine: string;
        ratio: number | null;
        ratio_low: number | null;
        ratio_high: number | null;
    }[];
}

export interface Comparison {
    baseline: string;
    runs: number;
    confidence: number;
    rounds_repeated: number;
    tables: ComparisonTable[];
}

/** One side of a line of `pitot numbers`, in the line's unit. */
export interface NumbersSide {
    median: number | null;
    p99: number | null;
    slowest: number | null;
    p99_thin: boolean;
    count: number;
    due: Count;
    missed: Count;
    busy: Count;
    passes: Count;
    curve: CurvePoint[];
}

export interface NumbersLine {
    group: string;
    name: string;
    unit: string; // "ns", "1/s"
    pitot: NumbersSide;
    plain: NumbersSide;
    ratio: number | null;
    rounds: number;
    note: string | null;
}

/** With one SQLite library. */
export interface Numbers {
    name: string;
    status: string;
    error: string | null;
    version: string | null;
    source_id: string | null;
    library: string | null;
    compile_options: string[];
    rows: number;
    length_ns: number;
    lines: NumbersLine[];
}

export interface Result {
    pitot_result: number;
    pitot_version: string;
    build: string;
    command: string;
    command_line: string[];
    started: string;
    elapsed_s: number;
    partial: boolean;
    host: Record<string, unknown>;
    plan: Record<string, unknown> & { settings: Pair[]; rounds: number; seed: number };
    warnings: { subject: string | null; text: string }[];
    cases: Case[];
    engines: Engine[];
    comparison: Comparison | null;
    numbers: Numbers[];
}

/** A file whose comparison has no baseline compares nothing. */
export function normalised(result: Result): Result {
    const none = result.comparison === null || result.comparison.baseline === null;
    return none ? { ...result, comparison: null } : result;
}

/** A result and how it is called beside others: the name of its file. */
export interface Source {
    label: string;
    result: Result;
}
