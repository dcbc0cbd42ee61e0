/*
 * The random generator of all workloads, sfc32, with the streams and distributions that
 * src/base/random.h defines; tests/vectors/random.json holds the languages together. Only 32-bit
 * operations; the words are kept as signed 32-bit numbers, which V8 stores without allocation.
 */

export const PURPOSE = Object.freeze({
    LOAD: 0, MIX: 1, PARAMETERS: 2, WARMUP_MIX: 3, WARMUP_PARAMETERS: 4, PACING: 5, VERIFY: 6,
    ORDER: 7,
});

const GOLDEN = 0x9E3779B9;
const TWO_32 = 4294967296;

/* MurmurHash3's 32-bit finalizer. */
export function fmix32(h) {
    h ^= h >>> 16;
    h = Math.imul(h, 0x85EBCA6B);
    h ^= h >>> 13;
    h = Math.imul(h, 0xC2B2AE35);
    return h ^ (h >>> 16);
}

/* The smallest 2^k - 1 that is not below x, of 32 bits. */
function mask_of(x) {
    return x === 0 ? 0 : 0xFFFFFFFF >>> Math.clz32(x);
}

export class Random {
    constructor(seed, purpose, connection, script) {
        this.start(seed, purpose, connection, script);
    }

    start(seed, purpose, connection, script) {
        const words = [0, 1, 2].map((i) => {
            let h = 0x70697430 ^ Math.imul(i, GOLDEN);
            for (const input of [seed, purpose, connection, script]) {
                h = (Math.imul(fmix32(h ^ input), 0x85EBCA6B) + 0xC2B2AE35) | 0;
            }
            return fmix32(h ^ Math.imul(i + 1, GOLDEN));
        });
        [this.a, this.b, this.c] = words;
        this.counter = 1;
        for (let i = 0; i < 12; i++) {
            this.next();
        }
    }

    /* 32 bits as a number from 0. */
    next() {
        const result = (this.a + this.b + this.counter) | 0;
        this.counter = (this.counter + 1) | 0;
        this.a = this.b ^ (this.b >>> 9);
        this.b = (this.c + (this.c << 3)) | 0;
        this.c = (((this.c << 21) | (this.c >>> 11)) + result) | 0;
        return result >>> 0;
    }

    /* Uniform in [0, n - 1], 1 <= n <= 2^53. */
    below(n) {
        const last = n - 1;
        if (last < TWO_32) {
            const mask = mask_of(last);
            for (;;) {
                const drawn = (this.next() & mask) >>> 0;
                if (drawn <= last) {
                    return drawn;
                }
            }
        }
        const [high, low] = this.wide(Math.floor(last / TWO_32), last >>> 0);
        return high * TWO_32 + low;
    }

    /* [high, low], uniform up to and including last_high * 2^32 + last_low; last_high >= 1. */
    wide(last_high, last_low) {
        const mask = mask_of(last_high);
        for (;;) {
            const high = (this.next() & mask) >>> 0;
            const low = this.next();
            if (high < last_high || (high === last_high && low <= last_low)) {
                return [high, low];
            }
        }
    }

    /* Uniform in [lo, hi], whose distance may need 54 bits: then it is taken word by word. */
    range(lo, hi) {
        if (hi - lo < TWO_32) {
            return lo + this.below(hi - lo + 1);
        }
        const lo_high = Math.floor(lo / TWO_32);
        const lo_low = lo - lo_high * TWO_32;
        const hi_high = Math.floor(hi / TWO_32);
        let low = hi - hi_high * TWO_32 - lo_low;
        const borrow = low < 0 ? 1 : 0;
        low += borrow * TWO_32;
        const drawn = this.wide(hi_high - lo_high - borrow, low);
        return (lo_high + drawn[0]) * TWO_32 + (lo_low + drawn[1]);
    }

    /* Uniform in [0, 1) with 53 bits. */
    unit() {
        const x = this.next() >>> 5;
        const y = this.next() >>> 6;
        return (x * 67108864 + y) / 9007199254740992;
    }

    gaussian(lo, hi, parameter) {
        let z = 0;
        do {
            const u = 1 - this.unit();
            const v = this.unit();
            z = Math.sqrt(-2 * Math.log(u)) * Math.sin(2 * 3.141592653589793 * v);
        } while (!(Math.abs(z) < parameter));
        return scale(lo, hi, (z + parameter) / (2 * parameter));
    }

    exponential(lo, hi, parameter) {
        const cut = Math.exp(-parameter);
        const u = 1 - this.unit();
        return scale(lo, hi, -Math.log(cut + (1 - cut) * u) / parameter);
    }

    zipfian(lo, hi, parameter) {
        const n = hi - lo + 1;
        if (n <= 1) {
            return lo;
        }
        const exponent = parameter - 1;
        const b = Math.pow(2, exponent);
        let x = 0;
        let t = 0;
        let v = 0;
        do {
            const u = 1 - this.unit();
            v = this.unit();
            x = Math.floor(Math.pow(u, -1 / exponent));
            t = Math.pow(1 + 1 / x, exponent);
            /* An infinite x fails the first comparison. */
        } while (!(x <= n) || !(v * x * (t - 1) / (b - 1) <= t / b));
        const value = lo + (x - 1);
        return value > hi ? hi : value;
    }

    /* Between two arrivals of a Poisson process, with mean 1. */
    gap() {
        return -Math.log(1 - this.unit());
    }
}

/* lo + floor(n * fraction), kept within the ends that rounding may pass. */
function scale(lo, hi, fraction) {
    const value = lo + Math.floor((hi - lo + 1) * fraction);
    return value > hi ? hi : value < lo ? lo : value + 0;
}
