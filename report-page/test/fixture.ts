/** The smallest results that the page's functions take. */
import type { Case, Cell, Comparison, Engine, Figure, Numbers, NumbersSide, Result, Summary } from "../src/result.ts";

export function aFigure(median: number | null): Figure {
    return { median, min: median, max: median };
}

function aSummary(throughput: number): Summary {
    return {
        rounds_ok: 1,
        reads_per_second: aFigure(throughput / 2),
        writes_per_second: aFigure(throughput / 2),
        operations_per_second: aFigure(throughput),
        cpu_per_operation_ns: aFigure(1000),
        peak_memory_bytes: aFigure(1e6),
        write_bytes: aFigure(0),
        largest_wal_bytes: aFigure(0),
        final_bytes: aFigure(1e6),
        slept_ns: aFigure(null),
        run_queue_ns: aFigure(0),
        run_queue_share: aFigure(0),
        cpu_others: aFigure(0),
        close_ns: aFigure(1e6),
        ok: 1000,
        busy: 0,
        conflict: 0,
        failed: 0,
        scripts: [],
    };
}

function anEngine(name: string, throughput: number): Engine {
    return {
        name,
        driver: name,
        version: "1.0",
        source_id: null,
        sync_call: null,
        binding_version: null,
        runtime: null,
        options: [],
        compile_options: [],
        known_faults: [],
        status: "ok",
        error: null,
        verify: { status: "equal" },
        runs: [],
        summaries: [aSummary(throughput)],
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
        engines: [anEngine("sqlite", 1000), anEngine("turso", 700)],
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
        rows: 10000,
        length_ns: 3e9,
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

export function aComparison(result: Result, cells: Cell[]): Comparison {
    return {
        baseline: "sqlite",
        runs: result.plan.rounds,
        confidence: 0.95,
        rounds_repeated: 0,
        tables: [
            {
                suite: "prod",
                metric: "throughput",
                unit: "operations/s",
                floor: 0.012,
                floor_rows: 1,
                rows: [{ case: 0, role: null, script: null, cells, best: null, best_lead: null }],
                geometric_means: [],
            },
        ],
    };
}
