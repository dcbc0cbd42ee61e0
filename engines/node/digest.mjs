/*
 * Digests of rows, the `value` kind of src/base/digest.h: comparable between languages that have
 * one kind of number. tests/vectors/digest.json holds the languages together. 32-bit operations.
 */
import { fmix32 } from './random.mjs';

const scratch = Buffer.alloc(65536);
const number = new DataView(new ArrayBuffer(8));

export class Digest {
    constructor() {
        this.reset();
    }

    reset() {
        this.a = 0x811C9DC5 | 0;
        this.b = 0x70697430;
        this.length = 0;
    }

    byte(value) {
        this.a = Math.imul(this.a ^ value, 0x01000193);
        const b = this.b ^ value;
        this.b = Math.imul((b << 5) | (b >>> 27), 0x9E3779B1);
        this.length = (this.length + 1) | 0;
    }

    bytes(values, count = values.length) {
        for (let i = 0; i < count; i++) {
            this.byte(values[i]);
        }
    }

    /* A number of 32 bits, the low byte first. */
    u32(value) {
        this.byte(value & 255);
        this.byte((value >>> 8) & 255);
        this.byte((value >>> 16) & 255);
        this.byte(value >>> 24);
    }

    u64(high, low) {
        this.u32(low);
        this.u32(high);
    }

    /* A number from 0 to 2^53. */
    count(value) {
        this.u64(Math.floor(value / 4294967296), value >>> 0);
    }

    /* [high, low], both from 0. */
    end() {
        const a = this.a ^ this.length;
        const b = (this.b + a) | 0;
        return [fmix32(a) >>> 0, fmix32(b) >>> 0];
    }

    /* ---- values ------------------------------------------------------------------- */

    #sized(tag, bytes, length) {
        this.byte(tag);
        this.u32(length);
        this.bytes(bytes, length);
    }

    #text(tag, text) {
        if (text.length * 3 <= scratch.length) {
            this.#sized(tag, scratch, scratch.write(text, 'utf8'));
        } else {
            const bytes = Buffer.from(text, 'utf8');
            this.#sized(tag, bytes, bytes.length);
        }
    }

    #double(value) {
        number.setFloat64(0, value === 0 ? 0 : value);
        this.byte(100); /* d */
        if (Number.isNaN(value)) {
            this.u64(0x7FF80000, 0);
        } else {
            this.u64(number.getUint32(0), number.getUint32(4));
        }
    }

    value(value) {
        switch (typeof value) {
        case 'number':
            this.#double(value);
            break;
        case 'string':
            this.#text(116, value); /* t */
            break;
        case 'bigint':
            if (value >= -9007199254740991n && value <= 9007199254740991n) {
                this.#double(Number(value));
            } else {
                this.#text(108, value.toString()); /* l */
            }
            break;
        default:
            if (value === null || value === undefined) {
                this.byte(110); /* n */
            } else {
                this.#sized(98, value, value.length); /* b: Buffer, Uint8Array */
            }
        }
    }
}

const row_digest = new Digest();

/* The hash of a row, an array of its columns. */
export function digest_row(columns) {
    row_digest.reset();
    for (let i = 0; i < columns.length; i++) {
        row_digest.value(columns[i]);
    }
    return row_digest.end();
}

/* As it is written on the wire. */
export function digest_text([high, low]) {
    return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
