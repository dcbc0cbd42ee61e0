#include "lib/compare.h"

#include <math.h>
#include <string.h>

static int sign(bool above, bool below)
{
    return (int)above - (int)below;
}

/* A double has no room for all integers: compared as integers where it is one. */
static int compare_integer_real(int64_t integer, double real)
{
    if (real >= 0x1p63) {
        return -1;
    }
    if (real < -0x1p63) {
        return 1;
    }
    int64_t whole = (int64_t)real;
    if (integer != whole) {
        return sign(integer > whole, integer < whole);
    }
    double rest = real - (double)whole;
    return sign(rest<0, rest> 0);
}

static int compare_numbers(const struct pitot_value *one, const struct pitot_value *other)
{
    bool first = one->type == PITOT_INTEGER;
    bool second = other->type == PITOT_INTEGER;
    if (first && second) {
        return sign(one->as.integer > other->as.integer, one->as.integer < other->as.integer);
    }
    if (!first && !second) {
        return sign(one->as.real > other->as.real, one->as.real < other->as.real);
    }
    return first ? compare_integer_real(one->as.integer, other->as.real)
                 : -compare_integer_real(other->as.integer, one->as.real);
}

static uint8_t folded(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

static uint32_t without_spaces(const uint8_t *text, uint32_t size)
{
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    return size;
}

static int compare_bytes(const struct pitot_value *one, const struct pitot_value *other,
                         enum collation collation)
{
    const uint8_t *a = one->as.bytes;
    const uint8_t *b = other->as.bytes;
    uint32_t first = one->size;
    uint32_t second = other->size;
    if (collation == COLLATION_RTRIM) {
        first = without_spaces(a, first);
        second = without_spaces(b, second);
    }
    uint32_t both = first < second ? first : second;
    int result = 0;
    if (collation == COLLATION_NOCASE) {
        for (uint32_t i = 0; i < both && result == 0; i++) {
            result = folded(a[i]) - folded(b[i]);
        }
    } else if (both > 0) {
        result = memcmp(a, b, both);
    }
    return result != 0 ? result : sign(first > second, first < second);
}

int compare_values(const struct pitot_value *one, const struct pitot_value *other,
                   enum collation collation)
{
    static const uint8_t classes[] = {0, 1, 1, 2, 3};
    int result = classes[one->type] - classes[other->type];
    if (result != 0 || one->type == PITOT_NULL) {
        return result;
    }
    if (one->type < PITOT_TEXT) {
        return compare_numbers(one, other);
    }
    return compare_bytes(one, other, one->type == PITOT_TEXT ? collation : COLLATION_BINARY);
}

int compare_keys(const struct table_key *key, size_t keys, const struct pitot_value *one,
                 const struct pitot_value *other)
{
    for (size_t i = 0; i < keys; i++) {
        int result = compare_values(&one[i], &other[i], key[i].collation);
        if (result != 0) {
            return key[i].descending ? -result : result;
        }
    }
    return 0;
}

bool compare_same(const struct pitot_value *one, const struct pitot_value *other)
{
    if (one->type != other->type) {
        return false;
    }
    switch (one->type) {
    case PITOT_INTEGER:
        return one->as.integer == other->as.integer;
    case PITOT_REAL: /* neither is a NaN; the sign of a zero counts */
        return one->as.real == other->as.real && signbit(one->as.real) == signbit(other->as.real);
    case PITOT_TEXT:
    case PITOT_BLOB:
        return one->size == other->size &&
               (one->size == 0 || memcmp(one->as.bytes, other->as.bytes, one->size) == 0);
    default:
        return true;
    }
}
