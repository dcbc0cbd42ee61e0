#include "base/digest.h"

#include "core/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INTEGER_MAX INT64_C(9007199254740991) /* 2^53 - 1 */
#define CANONICAL_NAN UINT64_C(0x7FF8000000000000)

static inline uint32_t rotate_left(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

void digest_init(struct digest *digest)
{
    *digest = (struct digest){.a = UINT32_C(0x811C9DC5), .b = UINT32_C(0x70697430)};
}

void digest_bytes(struct digest *digest, const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint32_t a = digest->a;
    uint32_t b = digest->b;
    for (size_t i = 0; i < length; i++) {
        a = (a ^ byte[i]) * UINT32_C(0x01000193);
        b = rotate_left(b ^ byte[i], 5) * UINT32_C(0x9E3779B1);
    }
    digest->a = a;
    digest->b = b;
    digest->length += (uint32_t)length;
}

void digest_u64(struct digest *digest, uint64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    digest_bytes(digest, bytes, sizeof bytes);
}

uint64_t digest_end(const struct digest *digest)
{
    uint32_t a = digest->a ^ digest->length;
    uint32_t b = digest->b + a;
    return (uint64_t)hash_mix32(a) << 32 | hash_mix32(b);
}

/* ---- rows ------------------------------------------------------------------ */

static void add_tag(struct digest *digest, char tag)
{
    digest_bytes(digest, &tag, 1);
}

static void add_text(struct digest *digest, char tag, const char *bytes, uint32_t length)
{
    const unsigned char head[5] = {(unsigned char)tag, (unsigned char)length,
                                   (unsigned char)(length >> 8), (unsigned char)(length >> 16),
                                   (unsigned char)(length >> 24)};
    digest_bytes(digest, head, sizeof head);
    digest_bytes(digest, bytes, length);
}

static void add_real(struct digest *digest, char tag, double real)
{
    uint64_t bits;
    real = real == 0.0 ? 0.0 : real; /* no -0.0 */
    memcpy(&bits, &real, sizeof bits);
    add_tag(digest, tag);
    digest_u64(digest, isnan(real) ? CANONICAL_NAN : bits);
}

/* As a language with one kind of number sees it. */
static void add_number(struct digest *digest, const struct value *column)
{
    if (column->type == VALUE_DOUBLE) {
        add_real(digest, 'd', column->real);
    } else if (column->integer >= -INTEGER_MAX && column->integer <= INTEGER_MAX) {
        add_real(digest, 'd', (double)column->integer);
    } else {
        char text[24];
        int length = snprintf(text, sizeof text, "%" PRId64, column->integer);
        add_text(digest, 'l', text, (uint32_t)length);
    }
}

static void add_strict_number(struct digest *digest, const struct value *column)
{
    if (column->type == VALUE_DOUBLE) {
        add_real(digest, 'r', column->real);
    } else {
        add_tag(digest, 'i');
        digest_u64(digest, (uint64_t)column->integer);
    }
}

uint64_t digest_row(enum digest_kind kind, const struct value *columns, uint32_t count)
{
    struct digest digest;
    digest_init(&digest);
    for (uint32_t i = 0; i < count; i++) {
        const struct value *column = &columns[i];
        switch (column->type) {
        case VALUE_NULL:
            add_tag(&digest, 'n');
            break;
        case VALUE_INTEGER:
        case VALUE_DOUBLE:
            if (kind == DIGEST_STRICT) {
                add_strict_number(&digest, column);
            } else {
                add_number(&digest, column);
            }
            break;
        case VALUE_TEXT:
            add_text(&digest, 't', column->bytes, column->length);
            break;
        case VALUE_BLOB:
            add_text(&digest, 'b', column->bytes, column->length);
            break;
        }
    }
    return digest_end(&digest);
}
