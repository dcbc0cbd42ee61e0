/** The smallest results that the page's functions take. */
import type {
    Case,
    Cell,
    Comparison,
    ComparisonRow,
    Engine,
    EventLoop,
    Figure,
    LoopPart,
    Numbers,
    NumbersSide,
    Outcomes,
    Result,
    RoleSummary,
    Run,
    ScriptSummary,
    Summary,
    Tail,
    Times,
} from "../src/result.ts";

export function aFigure(median: number | null): Figure {
    return { median, min: median, max: median };
}

function outcomes(ok: number): Outcomes {
    return { attempted: ok, ok, busy: 0, conflict: 0, failed: 0, skipped: 0, open: 0, retries: 0 };
}

function times(ns: number | null): Times {
    return { max_ns: aFigure(ns), points_ns: { p50: aFigure(ns), p99: aFigure(ns) } };
}

/** A script whose p99 is `ns`; of an open loop where `lag_ns` is given. */
export function aScript(script: string, ns: number, lag_ns: number | null = null): ScriptSummary {
    return {
        ...outcomes(1000),
        ...times(ns),
        role: "app",
        script,
        write: false,
        operations_per_second: aFigure(500),
        point_thin: { p50: false, p99: true },
        time_share: aFigure(0.5),
        rows_read_each: aFigure(1),
        rows_changed_each: aFigure(0),
        slow: aFigure(0),
        curve: [],
        service: times(lag_ns === null ? null : ns - lag_ns),
        lag: times(lag_ns),
    };
}

export function aRole(role: string, connections: number, throughput: number): RoleSummary {
    return {
        ...outcomes(1000),
        role,
        connections,
        operations_per_second: aFigure(throughput),
        scaling: aFigure(1),
        least_served_per_second: aFigure(throughput / 4),
        most_served_per_second: aFigure(throughput / 2),
        fairness: aFigure(0.5),
        cpu_per_operation_ns: aFigure(1000),
        off_cpu_ns: aFigure(2e9),
        slept_ns: aFigure(1e9),
        run_queue_ns: aFigure(0),
    };
}

export function aTail(ns: number | null): Tail {
    return { p50_ns: ns === null ? null : ns / 2, p99_ns: ns, max_ns: ns === null ? null : ns * 2, p99_thin: false };
}

export function aPart(in_flight: number, rate: number): LoopPart {
    return { in_flight, attempted: 100, ok: 100, executions_per_second: rate, tail: aTail(1000) };
}

export function anEventLoop(some: Partial<EventLoop>): EventLoop {
    return {
        status: null,
        error: null,
        log: [],
        closed: aPart(1, 2000),
        interval_ns: 1e6,
        paced: aPart(1, 1000),
        bare_lateness: aTail(null),
        lateness: aTail(null),
        in_flight: [],
        ...some,
    };
}

export function aRun(some: Partial<Run>): Run {
    return {
        case: 0,
        round: 1,
        status: "ok",
        error: null,
        aside: null,
        log: [],
        window_ns: null,
        connections: [],
        scripts: [],
        seconds: [],
        check: { kind: null, problem: null },
        ...some,
    };
}

function aSummary(throughput: number, rounds: number): Summary {
    return {
        ...outcomes(1000),
        status: "ok",
        error: null,
        rounds_ok: rounds,
        reads_per_second: aFigure(throughput / 2),
        writes_per_second: aFigure(throughput / 2),
        operations_per_second: aFigure(throughput),
        cpu_per_operation_ns: aFigure(1000),
        peak_memory_bytes: aFigure(1e6),
        write_bytes: aFigure(0),
        largest_wal_bytes: aFigure(0),
        final_bytes: aFigure(1e6),
        off_cpu_ns: aFigure(3e9),
        slept_ns: aFigure(null),
        run_queue_ns: aFigure(0),
        run_queue_share: aFigure(0),
        cpu_others: aFigure(0),
        steal: aFigure(0),
        close_ns: aFigure(1e6),
        offered: null,
        unstarted: null,
        begun_share: aFigure(null),
        roles: [],
        scripts: [],
    };
}

function anEngine(name: string, throughput: number, rounds: number): Engine {
    return {
        name,
        driver: name,
        version: "1.0",
        source_id: null,
        sync_call: null,
        binding_version: null,
        runtime: null,
        options: [],
        libraries: [],
        library_build: [],
        compile_options: [],
        known_faults: [],
        status: "ok",
        error: null,
        verify: { status: "equal", databases: [] },
        runs: [],
        aside: [],
        event_loop: anEventLoop({}),
        summaries: [aSummary(throughput, rounds)],
    };
}

export function aCase(): Case {
    return {
        label: "prod",
        suite: "prod",
        suite_folder: null,
        suite_hash: "0123456789abcdef",
        scale: "small",
        scenario: "prod",
        variables: [{ name: "users", value: "100" }],
        threads: 4,
        duration_ns: 1e9,
        operations: null,
        warmup_ns: null,
        warmup_operations: 100,
        rate: null,
        rate_share: null,
        closed_loops: [],
        isolation: "threads",
    };
}

export function aResult({ rounds }: { rounds: number }): Result {
    return {
        pitot_result: 2,
        pitot_version: "0.1.0",
        build: "release",
        command: "prod",
        command_line: ["pitot", "prod"],
        started: "2026-01-01T00:00:00Z",
        elapsed_s: 1,
        partial: false,
        host: { cpu_model: "a CPU", cores: 2 },
        plan: { settings: [{ name: "synchronous", value: "normal" }], rounds, seed: 1 },
        warnings: [],
        cases: [aCase()],
        engines: [anEngine("sqlite", 1000, rounds), anEngine("turso", 700, rounds)],
        comparison: null,
        numbers: [],
    };
}

export function aSide(median: number, some: Partial<NumbersSide> = {}): NumbersSide {
    return {
        median,
        p99: median * 2,
        slowest: median * 3,
        p99_thin: false,
        count: 2000,
        due: null,
        missed: null,
        busy: null,
        passes: null,
        curve: [{ percentile: 50, value_ns: median }, { percentile: 100, value_ns: median * 3 }],
        ...some,
    };
}

export function someNumbers(): Numbers {
    const paced = { due: 3000, missed: 13, busy: 7, passes: 800 };
    const line = { group: "read", unit: "ns", ratio: 0.5, rounds: 3, note: null };
    return {
        name: "sqlite",
        status: "ok",
        error: null,
        version: "3.54.1",
        source_id: "a check-in",
        library: "/lib/libsqlite3.so.0",
        compile_options: ["THREADSAFE=2"],
        log: [],
        rows: 10000,
        length_ns: 3e9,
        own_bytes: 300000,
        staged_bytes: 360000,
        kept_bytes: 160000,
        kept_rows: 10000,
        busy_p50: 1.25,
        busy_p99: 1.5,
        lines: [
            { ...line, group: "open", name: "a new database", pitot: aSide(1e6), plain: aSide(2e6) },
            { ...line, group: "pass", name: "rows", unit: "1/s", pitot: aSide(3e6), plain: aSide(2e6) },
            { ...line, name: "writer busy", pitot: aSide(20000, paced), plain: aSide(30000, paced) },
            { ...line, name: "writer busy, service time", pitot: aSide(9000, paced), plain: aSide(9000, paced) },
            { ...line, name: "writer busy, SQLite's defaults", pitot: aSide(20000, paced), plain: aSide(5e7, paced) },
        ],
    };
}

export function aCell(some: Partial<Cell>): Cell {
    return {
        engine: "turso",
        median: 700,
        spread: 0.02,
        thin: false,
        ratio: 0.7,
        ratio_low: null,
        ratio_high: null,
        verdict: "no difference shown",
        smallest_difference: 0.03,
        more_rounds: null,
        rounds: 10,
        note: null,
        ...some,
    };
}

export function aRow(of: number, cells: Cell[]): ComparisonRow {
    return { case: of, role: null, script: null, cells, best: null, best_lead: null, best_lead_low: null, best_lead_high: null };
}

export function aComparison(result: Result, cells: Cell[]): Comparison {
    return {
        baseline: "sqlite",
        runs: result.plan.rounds,
        confidence: 0.95,
        rounds_repeated: 0,
        rounds_disturbed: 0,
        threshold: null,
        slower: null,
        against: { file: null, started: null, tables: [] },
        tables: [
            {
                suite: "prod",
                metric: "throughput",
                unit: "operations/s",
                floor: 0.012,
                floor_rows: 1,
                rows: [aRow(0, cells)],
                geometric_means: [],
            },
        ],
    };
}
