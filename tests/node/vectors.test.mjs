/* tests/vectors/ in JavaScript: the same numbers as in C. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Digest, digest_row, digest_text } from '../../engines/node/digest.mjs';
import { Evaluation, EvaluationError } from '../../engines/node/evaluate.mjs';
import { histogram_index, histogram_lower } from '../../engines/node/histogram.mjs';
import { Pace } from '../../engines/node/pace.mjs';
import { PURPOSE, Random } from '../../engines/node/random.mjs';
import { read_script } from '../../engines/node/script.mjs';

function load(name) {
    return JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'));
}

const random_vectors = load('random.json');

test('raw random numbers', () => {
    for (const { stream, values } of random_vectors.raw) {
        const random = new Random(...stream);
        assert.deepEqual(values.map(() => random.next()), values);
    }
});

test('bounds, without bias, up to 54 bits', () => {
    for (const { stream, n, values, next } of random_vectors.below) {
        const random = new Random(...stream);
        const last = BigInt(n) - 1n;
        for (const value of values) {
            if (last < 1n << 32n) {
                assert.equal(random.below(Number(n)), value);
            } else {
                const [high, low] = random.wide(Number(last >> 32n), Number(last & 0xFFFFFFFFn));
                assert.equal((BigInt(high) << 32n) + BigInt(low), BigInt(value));
            }
        }
        assert.equal(random.next(), next);
    }
});

test('below() and range() draw alike', () => {
    for (const [lo, hi] of [[0, 9], [-5, 5], [0, 2 ** 32 - 1], [0, 2 ** 32],
                            [-(2 ** 40), 2 ** 41]]) {
        const one = new Random(9, 2, 0, 0);
        const other = new Random(9, 2, 0, 0);
        for (let i = 0; i < 50; i++) {
            assert.equal(one.range(lo, hi), lo + other.below(hi - lo + 1));
        }
    }
});

test('doubles bit by bit', () => {
    const view = new DataView(new ArrayBuffer(8));
    for (const { stream, values, bits } of random_vectors.unit) {
        const random = new Random(...stream);
        values.forEach((value, i) => {
            const drawn = random.unit();
            view.setFloat64(0, drawn);
            assert.equal(drawn, value);
            assert.equal(view.getBigUint64(0).toString(16).padStart(16, '0'), bits[i]);
        });
    }
});

for (const name of ['gaussian', 'exponential', 'zipfian']) {
    test(`distribution ${name}`, () => {
        for (const { stream, lo, hi, parameter, values, next } of random_vectors[name]) {
            const random = new Random(...stream);
            assert.deepEqual(values.map(() => random[name](lo, hi, parameter)), values);
            assert.equal(random.next(), next);
        }
    });
}

test('arrivals of an open loop', () => {
    for (const { stream: [seed, , connection], mean_ns, values, next } of random_vectors.arrivals) {
        const job = { seed, rate: 1, connections_total: mean_ns / 1e9 };
        const pace = new Pace(job, connection, 0, 1000);
        for (const value of values) {
            assert.equal(pace.due_ns, 1000 + value);
            pace.next();
        }
        const random = new Random(seed, PURPOSE.PACING, connection, 0);
        values.forEach(() => random.gap());
        assert.equal(random.next(), next);
    }
});

test('the backlog of an open loop', () => {
    for (const { stream: [seed, , connection], mean_ns, values } of random_vectors.arrivals) {
        const job = { seed, rate: 1, connections_total: mean_ns / 1e9 };
        for (const begun of [0, 5, 23]) {
            const pace = new Pace(job, connection, 0, 0);
            for (let i = 0; i < begun; i++) {
                pace.next();
            }
            const until = values.at(-1);
            const expected = values.slice(begun).filter((value) => value < until).length;
            assert.equal(pace.backlog(until, 1), expected);
        }
    }
    /* Beyond what is counted one by one the rest is told from the time. */
    const pace = new Pace({ seed: 1, rate: 1e9, connections_total: 1 }, 0, 0, 0);
    const count = pace.backlog(1e6, 1e6);
    assert.ok(Math.abs(count - 1e6) < 5e3, `${count}`);
});

test('histogram buckets', () => {
    for (const [value, index, lower, upper] of load('histogram.json').buckets) {
        assert.equal(histogram_index(value), index);
        assert.equal(histogram_lower(index), lower);
        assert.equal(histogram_lower(index + 1), upper);
    }
});

const digest_vectors = load('digest.json');

test('digests of bytes', () => {
    for (const [hex, expected] of digest_vectors.bytes) {
        const digest = new Digest();
        digest.bytes(Buffer.from(hex, 'hex'));
        assert.equal(digest_text(digest.end()), expected);
    }
});

function column([type, value]) {
    switch (type) {
    case 'null':
        return null;
    case 'integer':
        return BigInt(value);
    case 'real':
        return Buffer.from(value, 'hex').readDoubleBE();
    case 'text':
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
            .decode(Buffer.from(value, 'hex'));
    default:
        return Buffer.from(value, 'hex');
    }
}

/* A text that is no UTF-8 cannot be a text of JavaScript. */
function is_text(columns) {
    try {
        columns.forEach(column);
        return true;
    } catch {
        return false;
    }
}

test('digests of rows', () => {
    const rows = digest_vectors.rows.filter(([columns]) => is_text(columns));
    assert.ok(rows.length >= digest_vectors.rows.length - 3);
    for (const [columns, value] of rows) {
        assert.equal(digest_text(digest_row(columns.map(column))), value, JSON.stringify(columns));
    }
});

/* ---- scripts ---------------------------------------------------------------------- */

function value_json(value, type) {
    return { [type]: value };
}

function calls_of(evaluation) {
    const calls = [];
    let first = 0;
    for (let i = 0; i < evaluation.count; i++) {
        const call = evaluation.calls[i];
        if (call < 0) {
            calls.push({ call: [null, 'begin_read', 'begin_write', 'commit'][-call] });
            continue;
        }
        const { parameters } = evaluation.script.statements[call];
        const values = parameters.map((variable, k) =>
            value_json(evaluation.values[first + k], evaluation.script.variables[variable].type));
        first += parameters.length;
        calls.push({ call: 'statement', statement: call, values });
    }
    return calls;
}

function run_draw(script, variables, draw) {
    const evaluation = new Evaluation(script, {
        variables, connection: draw.connection, connections: draw.connections,
    });
    const random = new Random(draw.seed, draw.purpose, draw.connection, draw.script);
    const operations = [];
    for (let i = 0; i < draw.operations; i++) {
        try {
            evaluation.draw(draw.first_op + i, random, draw.draw);
            operations.push({ calls: calls_of(evaluation) });
        } catch (error) {
            assert.ok(error instanceof EvaluationError, error.stack);
            operations.push({ place: error.place, error: error.message.split(':')[0] });
            break;
        }
    }
    return operations;
}

for (const vector of load('scripts/scripts.json').cases) {
    test(`script ${vector.name}`, () => {
        const script = read_script(vector.tree, vector.load);
        for (const draw of vector.draws) {
            assert.deepEqual(run_draw(script, vector.variables, draw), draw.expect);
        }
    });
}
