/*
 * Keyed hashes of rows and keys.
 *
 * A row's is 128 bits: sums of products of its words with a secret key (NH, as in UMAC),
 * so that for two given rows of up to HASH_BLOCK bytes the chance of one hash is at most
 * 2^-63 over the choice of the secret, whatever the rows are. Longer ones chain their
 * blocks. The secret is the process's own and drawn once; hashes mean nothing outside.
 */
#ifndef PITOT_LIB_HASH_H
#define PITOT_LIB_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/table.h"

enum { HASH_BLOCK = 1024, HASH_WORDS = HASH_BLOCK / 8 + 6 };

__extension__ typedef unsigned __int128 hash_product;

struct hash {
    uint64_t low;
    uint64_t high;
};

/* The secret words. NULL: the system gave no random bytes. Any thread. */
const uint64_t *hash_secret(void);

/* Of any number of bytes. */
struct hash hash_long(const uint64_t *secret, const uint8_t *bytes, size_t size);

/* Of a key: equal for keys that SQLite takes for one. values: one for each of its columns. */
uint64_t hash_key(const uint64_t *secret, const struct table_key *key, size_t keys,
                  const struct pitot_value *values);

static inline uint64_t hash_word(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Of 16 to HASH_BLOCK bytes; the last words overlap those before where it does not divide by 16. */
static inline struct hash hash_block(const uint64_t *secret, const uint8_t *bytes, size_t size)
{
    hash_product sum = (hash_product)secret[HASH_WORDS - 1] * size;
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        sum += (hash_product)(hash_word(bytes + i) + secret[i / 8]) *
               (hash_word(bytes + i + 8) + secret[i / 8 + 1]);
    }
    if (i < size) {
        sum += (hash_product)(hash_word(bytes + size - 16) + secret[i / 8]) *
               (hash_word(bytes + size - 8) + secret[i / 8 + 1]);
    }
    return (struct hash){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

static inline struct hash hash_bytes(const uint64_t *secret, const uint8_t *bytes, size_t size)
{
    if (size >= 16 && size <= HASH_BLOCK) {
        return hash_block(secret, bytes, size);
    }
    return hash_long(secret, bytes, size);
}

static inline bool hash_same(struct hash one, struct hash other)
{
    return one.low == other.low && one.high == other.high;
}

#endif
