/*
 * A prepared statement as the loop calls it: call(values, first, effect) binds the values from
 * `first` on, runs to the end, and adds what it read and changed. The way is chosen once:
 *
 *     returns no rows          run(...)
 *     returns rows             all(...); with \one get(...)
 *     writes and returns rows  all(...), and each row is one that was changed
 *
 * The calling functions are made of text for their number of parameters, since a spread argument
 * makes an array each time, and one function for all would not be optimised for any.
 */
import { Failure } from './failure.mjs';

/* Whether a statement writes. Where the binding does not say, the engine's own program for it is
 * asked: its Transaction step tells what it begins. */
async function writes(driver, connection, statement, { sql, parameters }) {
    if (statement.readonly !== undefined) {
        return !statement.readonly;
    }
    const explained = await connection.prepare(`EXPLAIN ${sql}`, { rows: true });
    const steps = await explained.native.all(...parameters.map(() => null));
    return steps.some(([, opcode, , p2]) =>
        opcode === 'Transaction' && Number(p2) >= driver.explains_write);
}

/* Gives a function that makes call() for a statement of the binding. */
function caller(count, way, synchronous) {
    const values = Array.from({ length: count }, (_, i) => `v[i + ${i}]`).join(', ');
    const wait = synchronous ? '' : 'await ';
    const bodies = {
        run: `e.changed += Number((${wait}s.run(${values})).changes);`,
        all: `e.read += (${wait}s.all(${values})).length;`,
        get: `e.read += (${wait}s.get(${values})) === undefined ? 0 : 1;`,
        change: `const n = (${wait}s.all(${values})).length; e.read += n; e.changed += n;`,
        change_one: `const n = (${wait}s.all(${values})).length; e.read += Math.min(n, 1); ` +
                    'e.changed += n;',
        rows: `e.rows = ${wait}s.all(${values}); e.read += e.rows.length;`,
        rows_one: `e.rows = (${wait}s.all(${values})).slice(0, 1); e.read += e.rows.length;`,
        rows_change: `e.rows = ${wait}s.all(${values}); e.read += e.rows.length; ` +
                     'e.changed += e.rows.length;',
        rows_change_one: `const all = ${wait}s.all(${values}); e.rows = all.slice(0, 1); ` +
                         'e.read += e.rows.length; e.changed += all.length;',
        rows_run: `e.rows = []; e.changed += Number((${wait}s.run(${values})).changes);`,
    };
    const head = synchronous ? '' : 'async ';
    const text = `${head}function call(v, i, e) { ${bodies[way]} }`;
    return new Function('s', `"use strict"; return ${text};`);
}

/* In the order: rows wanted, returns rows, writes, one. */
function way_of(rows, reader, write, one) {
    if (!reader) {
        return rows ? 'rows_run' : 'run';
    }
    if (rows) {
        return `rows${write ? '_change' : ''}${one ? '_one' : ''}`;
    }
    return write ? (one ? 'change_one' : 'change') : one ? 'get' : 'all';
}

/* `source` is a statement of a script; with `read` it must not write. Throws the binding's error,
 * or a Failure. */
export async function prepare_statement(driver, connection, source, { rows, read }) {
    const statement = await connection.prepare(source.sql, { rows });
    const count = source.parameters.length;
    const write = await writes(driver, connection, statement, source);
    if (read && write) {
        throw new Failure('prepare', 'this statement writes, but suite.json calls its script a ' +
                                     'read: write "kind": "write"');
    }
    const way = way_of(rows, statement.reader, write, source.one);
    const bind = caller(count, way, driver.synchronous);
    const made = ({ native }) => ({ call: bind(native), parameters: count });
    let inside = null;
    let inside_of = null;
    return {
        ...made(statement),
        /* The same inside a transaction, where a binding's statements belong to one. */
        within: async (handle) => {
            if (inside_of !== handle) {
                inside = made(await statement.within(handle));
                inside_of = handle;
            }
            return inside;
        },
    };
}
