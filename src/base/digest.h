/*
 * Digests of rows: 64 bits that tell whether two engines answered alike. Only 32-bit operations,
 * so that every language gives the same; not meant against malice. tests/vectors/digest.json holds
 * the languages together.
 *
 * A row is hashed over these bytes, column by column:
 *
 *     value digest                               strict digest
 *     null     'n'                               null     'n'
 *     number   'd' + IEEE double, 8 bytes LE     integer  'i' + 8 bytes LE, two's complement
 *              (-0.0 as 0.0); an integer beyond  real     'r' + IEEE double, 8 bytes LE
 *              ±(2^53 - 1): 'l' + length +                (-0.0 as 0.0)
 *              decimal text
 *     text     't' + length + bytes              text     't' + length + bytes
 *     blob     'b' + length + bytes              blob     'b' + length + bytes
 *
 * length is 4 bytes LE. A NaN is the double 7FF8000000000000. `value` is comparable between
 * languages that have one kind of number; `strict` holds the storage class too and is compared
 * among engines called from C.
 *
 * The hash: two 32-bit lanes over the bytes, a = (a ^ byte) * 0x01000193 from 0x811C9DC5 (FNV-1a),
 * b = rotl(b ^ byte, 5) * 0x9E3779B1 from 0x70697430, all modulo 2^32. At the end, in this order:
 * a ^= number of all bytes (mod 2^32), b += a, then each lane goes through MurmurHash3's 32-bit
 * finalizer (src/base/random.h has it). The digest is a in the high half, b in the low one; written
 * as 16 hex digits, lower case.
 */
#ifndef PITOT_BASE_DIGEST_H
#define PITOT_BASE_DIGEST_H

#include "base/value.h"

#include <stddef.h>
#include <stdint.h>

struct digest {
    uint32_t a, b, length;
};

void digest_init(struct digest *digest);
void digest_bytes(struct digest *digest, const void *bytes, size_t length);
/* 8 bytes LE. */
void digest_u64(struct digest *digest, uint64_t value);
uint64_t digest_end(const struct digest *digest);

enum digest_kind { DIGEST_VALUE, DIGEST_STRICT };
/* The hash of one row. */
uint64_t digest_row(enum digest_kind kind, const struct value *columns, uint32_t count);

#endif
