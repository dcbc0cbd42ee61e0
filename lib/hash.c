#include "lib/hash.h"

#include <pthread.h>
#include <sys/random.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t words[HASH_WORDS];
static bool drawn;

static void draw(void)
{
    size_t have = 0;
    while (have < sizeof words) {
        ssize_t got = getrandom((uint8_t *)words + have, sizeof words - have, 0);
        if (got <= 0) {
            return;
        }
        have += (size_t)got;
    }
    drawn = true;
}

const uint64_t *hash_secret(void)
{
    pthread_once(&once, draw);
    return drawn ? words : NULL;
}

/* Words that no block is multiplied with. */
enum { CHAIN_LOW = HASH_BLOCK / 8, CHAIN_HIGH, FOLD, FOLD_OTHER };

struct hash hash_long(const uint64_t *secret, const uint8_t *bytes, size_t size)
{
    hash_product chain = 0;
    hash_product factor = (hash_product)secret[CHAIN_HIGH] << 64 | (secret[CHAIN_LOW] | 1);
    for (; size > HASH_BLOCK; bytes += HASH_BLOCK, size -= HASH_BLOCK) {
        struct hash block = hash_block(secret, bytes, HASH_BLOCK);
        chain = (chain + ((hash_product)block.high << 64 | block.low)) * factor;
    }
    struct hash last;
    if (size >= 16) {
        last = hash_block(secret, bytes, size);
    } else {
        uint8_t padded[16] = {0};
        if (size > 0) {
            memcpy(padded, bytes, size);
        }
        last = hash_block(secret, padded, 16);
        last.low += size; /* as many bytes as are meant */
    }
    chain += (hash_product)last.high << 64 | last.low;
    return (struct hash){(uint64_t)chain, (uint64_t)(chain >> 64)};
}

static uint64_t fold(uint64_t one, uint64_t other)
{
    hash_product product = (hash_product)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t mix(const uint64_t *secret, uint64_t state, uint64_t low, uint64_t high)
{
    return fold(state ^ low ^ secret[FOLD], (high + secret[FOLD_OTHER]) | 1) ^ low;
}

/* Letters without their case, a piece at a time. */
static uint64_t hash_nocase(const uint64_t *secret, uint64_t state, const uint8_t *text,
                            uint32_t size)
{
    uint8_t piece[256];
    for (uint32_t at = 0; at < size;) {
        uint32_t length = size - at < sizeof piece ? size - at : (uint32_t)sizeof piece;
        for (uint32_t i = 0; i < length; i++) {
            uint8_t byte = text[at + i];
            piece[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
        }
        struct hash hash = hash_bytes(secret, piece, length);
        state = mix(secret, state, hash.low, hash.high);
        at += length;
    }
    return state;
}

static uint64_t hash_value(const uint64_t *secret, uint64_t state, enum collation collation,
                           const struct pitot_value *value)
{
    uint64_t word = 0;
    uint32_t size = value->size;
    switch (value->type) {
    case PITOT_INTEGER:
        return mix(secret, state, (uint64_t)value->as.integer, 1);
    case PITOT_REAL:
        /* A whole number is one key with the integer. */
        if (value->as.real >= -0x1p63 && value->as.real < 0x1p63 &&
            value->as.real == (double)(int64_t)value->as.real) {
            return mix(secret, state, (uint64_t)(int64_t)value->as.real, 1);
        }
        memcpy(&word, &value->as.real, sizeof word);
        return mix(secret, state, word, 2);
    case PITOT_TEXT:
        while (collation == COLLATION_RTRIM && size > 0 &&
               ((const uint8_t *)value->as.bytes)[size - 1] == ' ') {
            size--;
        }
        state = mix(secret, state, size, 3);
        if (collation == COLLATION_NOCASE) {
            return hash_nocase(secret, state, value->as.bytes, size);
        }
        break;
    case PITOT_BLOB:
        state = mix(secret, state, size, 4);
        break;
    default:
        return mix(secret, state, 0, 5);
    }
    struct hash hash = hash_bytes(secret, value->as.bytes, size);
    return mix(secret, state, hash.low, hash.high);
}

uint64_t hash_key(const uint64_t *secret, const struct table_key *key, size_t keys,
                  const struct pitot_value *values)
{
    uint64_t state = 0;
    for (size_t i = 0; i < keys; i++) {
        state = hash_value(secret, state, key[i].collation, &values[i]);
    }
    return state;
}
