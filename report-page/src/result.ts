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
    rate: number | null; // operations/s offered to all connections
    rate_share: number | null;
    closed_loops: { engine: string; operations_per_second: number | null }[];
    isolation: string;
}

export interface CurvePoint {
    percentile: number;
    value_ns: number;
}

/** What became of executions, over all rounds. */
export interface Outcomes {
    attempted: number;
    ok: number;
    busy: number;
    conflict: number;
    failed: number;
    skipped: number;
    open: number;
    retries: number;
}

/** A part of a latency in an open loop. */
export interface Times {
    max_ns: Figure;
    points_ns: Record<string, Figure>;
}

export interface ScriptSummary extends Outcomes {
    role: string;
    script: string;
    write: boolean;
    operations_per_second: Figure;
    max_ns: Figure;
    points_ns: Record<string, Figure>;
    point_thin: Record<string, boolean>;
    time_share: Figure;
    rows_read_each: Figure;
    rows_changed_each: Figure;
    slow: Figure;
    curve: CurvePoint[];
    service: Times;
    lag: Times;
}

export interface RoleSummary extends Outcomes {
    role: string;
    connections: number;
    operations_per_second: Figure;
    scaling: Figure;
    least_served_per_second: Figure;
    most_served_per_second: Figure;
    fairness: Figure;
    cpu_per_operation_ns: Figure;
    off_cpu_ns: Figure;
    slept_ns: Figure;
    run_queue_ns: Figure;
}

export interface Summary extends Outcomes {
    status: string | null;
    error: string | null;
    rounds_ok: number;
    reads_per_second: Figure;
    writes_per_second: Figure;
    operations_per_second: Figure;
    cpu_per_operation_ns: Figure;
    peak_memory_bytes: Figure;
    write_bytes: Figure;
    largest_wal_bytes: Figure;
    final_bytes: Figure;
    off_cpu_ns: Figure;
    slept_ns: Figure;
    run_queue_ns: Figure;
    run_queue_share: Figure;
    cpu_others: Figure;
    steal: Figure;
    close_ns: Figure;
    offered: Count; // null: a closed loop
    unstarted: Count;
    begun_share: Figure;
    roles: RoleSummary[];
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
    aside: string | null;
    log: string[];
    window_ns: Count;
    connections: Connection[];
    scripts: RunScript[];
    seconds: Second[];
    check: { kind: string | null; problem: string | null };
}

export interface Tail {
    p50_ns: number | null;
    p99_ns: number | null;
    max_ns: number | null;
    p99_thin: boolean;
}

export interface LoopPart {
    in_flight: number;
    attempted: number;
    ok: number;
    executions_per_second: number | null;
    tail: Tail;
}

/** One connection on the main thread of the worker. */
export interface EventLoop {
    status: string | null; // null: it was not asked for
    error: string | null;
    log: string[];
    closed: LoopPart;
    interval_ns: Count;
    paced: LoopPart;
    bare_lateness: Tail;
    lateness: Tail;
    in_flight: LoopPart[];
}

/** One database of a suite, and what the engine's answers on it are beside the reference's. */
export interface VerifiedDatabase {
    suite: string;
    scenarios: string[];
    reference: string | null;
    operations: number;
    status: string;
    error: string | null;
    scripts: { script: string; status: string; differing: number }[];
    tables: { table: string; status: string }[];
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
    libraries: { asked: string | null; real: string | null }[];
    library_build: Pair[];
    compile_options: string[];
    known_faults: string[];
    status: string | null;
    error: string | null;
    verify: { status: string | null; databases: VerifiedDatabase[] };
    runs: Run[];
    aside: Run[]; // in no figure
    summaries: Summary[];
    event_loop: EventLoop;
}

export interface Cell {
    engine: string;
    median: number | null;
    spread: number | null;
    thin: boolean;
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
    best_lead_low: number | null;
    best_lead_high: number | null;
}

export interface Mean {
    engine: string;
    rows: number;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    verdict: string | null;
    note: string | null;
}

export interface ComparisonTable {
    suite: string;
    metric: string;
    unit: string;
    floor: number | null;
    floor_rows: number;
    rows: ComparisonRow[];
    geometric_means: Mean[];
}

/** A ratio to the baseline now through that of then. */
export interface AgainstRow {
    row: string;
    engine: string;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    verdict: string | null;
    note: string | null;
    smallest_difference: number | null;
}

export interface AgainstTable {
    suite: string;
    metric: string;
    floor: number | null;
    rows: AgainstRow[];
}

export interface Comparison {
    baseline: string;
    runs: number;
    confidence: number;
    rounds_repeated: number;
    rounds_disturbed: number;
    threshold: number | null;
    slower: Count; // rows shown to be slower than the threshold allows; null: nobody asked
    tables: ComparisonTable[];
    against: { file: string | null; started: string | null; tables: AgainstTable[] };
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
    log: string[];
    rows: number;
    length_ns: number;
    own_bytes: number | null; // of a pass's values
    staged_bytes: number | null;
    kept_bytes: number | null; // between passes
    kept_rows: number | null;
    busy_p50: number | null; // reads beside a busy writer through those beside an idle one
    busy_p99: number | null;
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
