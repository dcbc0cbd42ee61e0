/* The worker's lines: JSON on descriptor 3, and those of the coordinator on descriptor 0.
 * docs/worker-protocol.md, "Channels". Descriptors 1 and 2 belong to the packages. */
import { closeSync, writeSync } from 'node:fs';

import { Failure } from './failure.mjs';

const WIRE_OUT = 3;
export const LINE_MAX = 64 * 1024 * 1024;

/* ---- out -------------------------------------------------------------------------- */

const NAP = new Int32Array(new SharedArrayBuffer(4));

/* A text as the protocol escapes it: a backslash before an x becomes \x5c. JavaScript's texts
 * hold no stray bytes; what is no Unicode (half a surrogate pair) becomes U+FFFD. */
export function escape_text(text) {
    return text.toWellFormed().replaceAll('\\x', '\\x5cx');
}

/* The bytes of a text of the wire; \xNN stands for one byte. */
export function unescape_bytes(text) {
    const parts = text.split(/\\x([0-9a-f]{2})/);
    return Buffer.concat(parts.map((part, i) =>
        i % 2 === 0 ? Buffer.from(part, 'utf8') : Buffer.from(part, 'hex')));
}

/* A BigInt as the protocol writes whole numbers: beyond 2^53 as decimal text. */
export function whole_number(bigint) {
    return bigint <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bigint) : bigint.toString();
}

export function send(line) {
    const bytes = Buffer.from(JSON.stringify(line) + '\n', 'utf8');
    if (bytes.length > LINE_MAX + 1) {
        throw new Failure('result', `the ${line.kind} line has ${bytes.length} bytes, 64 MiB are ` +
                                    'the most that the coordinator reads');
    }
    for (let done = 0; done < bytes.length;) {
        try {
            done += writeSync(WIRE_OUT, bytes, done);
        } catch (error) {
            if (error.code !== 'EAGAIN') {
                throw error;
            }
            Atomics.wait(NAP, 0, 0, 1);
        }
    }
}

export function close_wire() {
    try {
        closeSync(WIRE_OUT);
    } catch {
        /* Closed already: that is what was wanted. */
    }
}

/* ---- in --------------------------------------------------------------------------- */

function parse_line(bytes) {
    let line = null;
    try {
        line = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch (error) {
        throw new Failure('protocol', `line of the coordinator: ${error.message}`);
    }
    if (line === null || typeof line !== 'object' || Array.isArray(line) ||
        typeof line.kind !== 'string') {
        throw new Failure('protocol',
                          'line of the coordinator: expected an object with a text "kind"');
    }
    return line;
}

/* Cuts a stream of bytes into lines. push() gives the lines that became whole. */
export class LineCutter {
    #parts = [];
    #length = 0;

    push(chunk) {
        const lines = [];
        let from = 0;
        for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
            this.#take(chunk.subarray(from, end));
            lines.push(parse_line(Buffer.concat(this.#parts)));
            this.#parts = [];
            this.#length = 0;
            from = end + 1;
        }
        this.#take(chunk.subarray(from));
        return lines;
    }

    #take(part) {
        this.#length += part.length;
        if (this.#length > LINE_MAX) {
            throw new Failure('protocol', 'line of the coordinator: longer than 64 MiB');
        }
        if (part.length > 0) {
            this.#parts.push(part);
        }
    }
}

/* Calls on_line for every line, on_error for what is none, on_end when the input is over or
 * can be read no more: the coordinator is gone. */
export function listen(on_line, on_error, on_end) {
    const cutter = new LineCutter();
    const input = process.stdin;
    input.on('data', (chunk) => {
        try {
            cutter.push(chunk).forEach(on_line);
        } catch (error) {
            input.removeAllListeners('data');
            on_error(error);
        }
    });
    input.on('end', on_end);
    input.on('error', on_end);
}
