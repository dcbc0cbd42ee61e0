/* What an operation of a verify job sees: as a digest (src/worker/answer.h), or in detail
 * (src/worker/detail.h). Observers of operation.mjs. */
import { Digest, digest_row, digest_text } from './digest.mjs';
import { literal, literals_size } from './literal.mjs';
import { escape_text } from './wire.mjs';

const BYTES_MAX = 4 * 1024 * 1024;
const STATEMENTS_MAX = 10000;

/* The byte that stands for an outcome, in the order of account.mjs. */
const OUTCOME_BYTES = ['o', 'y', 'c', 'f', 'f', 'f'].map((letter) => letter.charCodeAt(0));

export class Answer {
    #compare;
    #digest = new Digest();
    #parts = []; /* of the statements that ran, [high, low] each */

    constructor(compare) {
        this.#compare = compare;
    }

    begin() {
        this.#parts = [];
    }

    ran(call, value, effect, before) {
        const { rows } = effect;
        this.#parts.push(halves(effect.changed - before));
        if (this.#compare === 'count') {
            this.#parts.push(halves(rows.length));
            return;
        }
        const hashes = rows.map(digest_row);
        if (this.#compare === 'set') {
            hashes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        }
        for (const hash of hashes) {
            this.#parts.push(hash);
        }
    }

    /* 16 hex digits. */
    digest(outcome) {
        this.#digest.reset();
        this.#digest.byte(OUTCOME_BYTES[outcome]);
        for (const [high, low] of this.#parts) {
            this.#digest.u64(high, low);
        }
        return digest_text(this.#digest.end());
    }
}

function halves(count) {
    return [Math.floor(count / 4294967296), count >>> 0];
}

export class Detail {
    #evaluation;
    #rows_max;
    #bytes = 0;

    constructor(evaluation, rows_max) {
        this.#evaluation = evaluation;
        this.#rows_max = rows_max;
        this.begin();
    }

    begin() {
        this.statements = [];
        this.statements_more = 0;
        this.#bytes = 0;
    }

    /* The literals of values; null when they are too long to be shown. */
    #shown(values) {
        const size = literals_size(values);
        if (size > BYTES_MAX - this.#bytes) {
            return null;
        }
        this.#bytes += size;
        return values.map((value) => escape_text(literal(value)));
    }

    ran(call, value, effect, before) {
        if (this.statements.length >= STATEMENTS_MAX) {
            this.statements_more++;
            return;
        }
        const { parameters } = this.#evaluation.script.statements[call];
        const rows = [];
        for (const row of effect.rows.slice(0, this.#rows_max)) {
            const shown = this.#shown(row);
            if (shown === null) {
                break;
            }
            rows.push(shown);
        }
        this.statements.push({
            statement: call,
            values: this.#shown(this.#evaluation.values.slice(value, value + parameters.length)),
            rows_changed: effect.changed - before, rows, more: effect.rows.length - rows.length,
        });
    }

    /* The script's variables but the scale's, as they were last set to. */
    parameters() {
        const parameters = {};
        let room = BYTES_MAX;
        this.#evaluation.script.variables.forEach(({ name, from }, i) => {
            const value = this.#evaluation.last?.[i] ?? 0;
            const size = typeof value === 'string' ? Buffer.byteLength(value) : 0;
            if (from !== 'scale') {
                parameters[name] = size > room ? null
                    : typeof value === 'string' ? escape_text(value) : value;
                room -= size > room ? 0 : size;
            }
        });
        return parameters;
    }
}
