/* tests/vectors/digest.json: another implementation of the same definition, which every language
 * is held to. */
#include "base/buffer.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS_MAX = 8 };

static json_t *load(const char *section)
{
    struct buffer text;
    struct error error = ERROR_INIT;
    json_t *json = NULL;
    buffer_init(&text);
    if (file_read(TEST_SOURCE_DIR "/tests/vectors/digest.json", 1 << 20, &text, &error) != 0 ||
        json_parse(text.data, text.length, "digest.json", &json, &error) != 0) {
        fail_msg("%s", error.message);
    }
    buffer_release(&text);
    json_t *array = json_incref(json_object_get(json, section));
    assert_true(json_array_size(array) > 0);
    json_decref(json);
    return array;
}

static const char *text_at(const json_t *array, size_t index)
{
    const char *text = json_string_value(json_array_get(array, index));
    assert_non_null(text);
    return text;
}

static uint64_t hex_at(const json_t *array, size_t index)
{
    assert_int_equal(strlen(text_at(array, index)), 16);
    return strtoull(text_at(array, index), NULL, 16);
}

/* The bytes, in memory of exactly their size so that a sanitizer sees a read beyond. */
static char *unhex(const char *hex, size_t *length)
{
    *length = strlen(hex) / 2;
    char *bytes = malloc(*length == 0 ? 1 : *length);
    assert_non_null(bytes);
    for (size_t i = 0; i < *length; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return bytes;
}

static uint64_t digest_of(const char *bytes, size_t length, size_t piece)
{
    struct digest digest;
    digest_init(&digest);
    for (size_t at = 0; at < length; at += piece) {
        digest_bytes(&digest, bytes + at, length - at < piece ? length - at : piece);
    }
    return digest_end(&digest);
}

static void bytes_whole_and_in_pieces(void **state)
{
    (void)state;
    json_t *array = load("bytes");
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
    {
        size_t length;
        char *bytes = unhex(text_at(item, 0), &length);
        assert_int_equal(digest_of(bytes, length, SIZE_MAX / 2), hex_at(item, 1));
        assert_int_equal(digest_of(bytes, length, 1), hex_at(item, 1));
        assert_int_equal(digest_of(bytes, length, 7), hex_at(item, 1));
        free(bytes);
    }
    json_decref(array);
}

static void numbers_little_end_first(void **state)
{
    (void)state;
    struct digest digest;
    digest_init(&digest);
    digest_u64(&digest, UINT64_C(0x0123456789ABCDEF));
    assert_int_equal(digest_end(&digest), digest_of("\xEF\xCD\xAB\x89\x67\x45\x23\x01", 8, 8));
}

static struct value value_of(const json_t *column)
{
    const char *type = text_at(column, 0);
    struct value value = {.type = VALUE_NULL};
    size_t length = 0;
    if (strcmp(type, "integer") == 0) {
        value.type = VALUE_INTEGER;
        value.integer = strtoll(text_at(column, 1), NULL, 10);
    } else if (strcmp(type, "real") == 0) {
        uint64_t bits = hex_at(column, 1);
        value.type = VALUE_DOUBLE;
        memcpy(&value.real, &bits, sizeof bits);
    } else if (strcmp(type, "null") != 0) {
        value.type = strcmp(type, "text") == 0 ? VALUE_TEXT : VALUE_BLOB;
        value.bytes = unhex(text_at(column, 1), &length);
        value.length = (uint32_t)length;
    }
    return value;
}

static void rows(void **state)
{
    (void)state;
    json_t *array = load("rows");
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
    {
        const json_t *columns = json_array_get(item, 0);
        struct value values[COLUMNS_MAX];
        uint32_t count = (uint32_t)json_array_size(columns);
        assert_true(count <= COLUMNS_MAX);
        for (uint32_t k = 0; k < count; k++) {
            values[k] = value_of(json_array_get(columns, k));
        }
        uint64_t value = digest_row(DIGEST_VALUE, values, count);
        uint64_t strict = digest_row(DIGEST_STRICT, values, count);
        if (value != hex_at(item, 1) || strict != hex_at(item, 2)) {
            char *text = json_dumps(columns, JSON_COMPACT);
            fail_msg("%s: %016llx, %016llx", text, (unsigned long long)value,
                     (unsigned long long)strict);
        }
        for (uint32_t k = 0; k < count; k++) {
            if (values[k].type == VALUE_TEXT || values[k].type == VALUE_BLOB) {
                free((char *)values[k].bytes);
            }
        }
    }
    json_decref(array);
}

static struct value integer(int64_t number)
{
    return (struct value){.type = VALUE_INTEGER, .integer = number};
}

static struct value real(double number)
{
    return (struct value){.type = VALUE_DOUBLE, .real = number};
}

/* What the two kinds are for. */
static void kinds(void **state)
{
    (void)state;
    static const struct {
        bool alike, strictly;
    } expected[] = {{true, false}, {true, false}, {false, false}, {false, false}};
    const struct value pairs[][2] = {{integer(7), real(7.0)},
                                     {integer(0), real(-0.0)},
                                     {integer(INT64_MAX), real(9223372036854775807.0)},
                                     {integer(1), integer(2)}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_int_equal(digest_row(DIGEST_VALUE, &pairs[i][0], 1) ==
                             digest_row(DIGEST_VALUE, &pairs[i][1], 1),
                         expected[i].alike);
        assert_int_equal(digest_row(DIGEST_STRICT, &pairs[i][0], 1) ==
                             digest_row(DIGEST_STRICT, &pairs[i][1], 1),
                         expected[i].strictly);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_whole_and_in_pieces),
        cmocka_unit_test(numbers_little_end_first),
        cmocka_unit_test(rows),
        cmocka_unit_test(kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
