/* tests/vectors/random.json and histogram.json: another implementation of the same
 * definitions, which every language is held to. */
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "core/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *load(const char *name)
{
    struct buffer text;
    struct error error = ERROR_INIT;
    json_t *json = NULL;
    buffer_init(&text);
    char *path = file_join(TEST_SOURCE_DIR "/tests/vectors", name);
    assert_non_null(path);
    if (file_read(path, 1 << 20, &text, &error) != 0 ||
        json_parse(text.data, text.length, name, &json, &error) != 0) {
        fail_msg("%s", error.message);
    }
    free(path);
    buffer_release(&text);
    return json;
}

static json_t *section(const json_t *json, const char *name)
{
    json_t *array = NULL;
    assert_int_equal(json_get_array(json, name, "vectors", &array, NULL), 0);
    assert_true(json_array_size(array) > 0);
    return array;
}

static uint64_t u64_at(const json_t *array, size_t index)
{
    const json_t *value = json_array_get(array, index);
    if (json_is_string(value)) {
        return strtoull(json_string_value(value), NULL, 10);
    }
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

static struct random stream_of(const json_t *item)
{
    const json_t *stream = section(item, "stream");
    assert_int_equal(json_array_size(stream), 4);
    struct random random;
    random_init(&random, (uint32_t)u64_at(stream, 0), (enum random_purpose)u64_at(stream, 1),
                (uint32_t)u64_at(stream, 2), (uint32_t)u64_at(stream, 3));
    return random;
}

/* What the stream gives next shows that as many numbers were drawn as there. */
static void assert_next(struct random *random, const json_t *item)
{
    uint64_t next;
    assert_int_equal(json_get_u64(item, "next", "vectors", &next, NULL), 0);
    assert_int_equal(random_next(random), next);
}

static void raw_numbers_and_bounds(void **state)
{
    (void)state;
    json_t *json = load("random.json");
    size_t i, k;
    json_t *item, *value;
    json_array_foreach(section(json, "raw"), i, item)
    {
        struct random random = stream_of(item);
        const json_t *values = section(item, "values");
        json_array_foreach(values, k, value)
        {
            assert_int_equal(random_next(&random), u64_at(values, k));
        }
    }
    json_array_foreach(section(json, "below"), i, item)
    {
        struct random random = stream_of(item);
        const json_t *values = section(item, "values");
        uint64_t n;
        assert_int_equal(json_get_u64(item, "n", "vectors", &n, NULL), 0);
        json_array_foreach(values, k, value)
        {
            assert_int_equal(random_below(&random, n), u64_at(values, k));
        }
        assert_next(&random, item);
    }
    json_decref(json);
}

static void unit_doubles_bit_by_bit(void **state)
{
    (void)state;
    json_t *json = load("random.json");
    size_t i, k;
    json_t *item, *value;
    json_array_foreach(section(json, "unit"), i, item)
    {
        struct random random = stream_of(item);
        const json_t *bits = section(item, "bits");
        json_array_foreach(section(item, "values"), k, value)
        {
            double drawn = random_unit(&random);
            uint64_t pattern;
            memcpy(&pattern, &drawn, sizeof pattern);
            assert_true(drawn == json_number_value(value));
            assert_int_equal(pattern,
                             strtoull(json_string_value(json_array_get(bits, k)), NULL, 16));
        }
    }
    json_decref(json);
}

typedef int64_t (*distribution)(struct random *, int64_t, int64_t, double);

static void distributions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        distribution draw;
    } kinds[] = {
        {"gaussian", random_gaussian},
        {"exponential", random_exponential},
        {"zipfian", random_zipfian},
    };
    json_t *json = load("random.json");
    for (size_t d = 0; d < sizeof kinds / sizeof kinds[0]; d++) {
        size_t i, k;
        json_t *item, *value;
        json_array_foreach(section(json, kinds[d].name), i, item)
        {
            struct random random = stream_of(item);
            int64_t lo, hi;
            double parameter;
            assert_int_equal(json_get_i64(item, "lo", "vectors", &lo, NULL), 0);
            assert_int_equal(json_get_i64(item, "hi", "vectors", &hi, NULL), 0);
            assert_int_equal(json_get_double(item, "parameter", "vectors", &parameter, NULL), 0);
            json_array_foreach(section(item, "values"), k, value)
            {
                assert_int_equal(kinds[d].draw(&random, lo, hi, parameter),
                                 json_integer_value(value));
            }
            assert_next(&random, item);
        }
    }
    json_decref(json);
}

static void arrivals(void **state)
{
    (void)state;
    json_t *json = load("random.json");
    size_t i, k;
    json_t *item, *value;
    json_array_foreach(section(json, "arrivals"), i, item)
    {
        struct random random = stream_of(item);
        double mean_ns = json_number_value(json_object_get(item, "mean_ns"));
        double due = 0;
        json_array_foreach(section(item, "values"), k, value)
        {
            due += random_gap(&random) * mean_ns;
            assert_int_equal((uint64_t)due, u64_at(section(item, "values"), k));
        }
        assert_next(&random, item);
    }
    json_decref(json);
}

static void histogram_buckets(void **state)
{
    (void)state;
    json_t *json = load("histogram.json");
    size_t i;
    json_t *item;
    json_array_foreach(section(json, "buckets"), i, item)
    {
        uint32_t index = histogram_index(u64_at(item, 0));
        assert_int_equal(index, u64_at(item, 1));
        assert_int_equal(histogram_lower(index), u64_at(item, 2));
        assert_int_equal(histogram_upper(index), u64_at(item, 3));
    }
    json_decref(json);
}

static void histogram_percentiles(void **state)
{
    (void)state;
    json_t *json = load("histogram.json");
    struct histogram *histogram = malloc(sizeof *histogram);
    assert_non_null(histogram);
    size_t i, k;
    json_t *item, *run, *point;
    json_array_foreach(section(json, "percentiles"), i, item)
    {
        histogram_reset(histogram);
        json_array_foreach(section(item, "samples"), k, run)
        {
            for (uint64_t n = 0; n < u64_at(run, 2); n++) {
                histogram_add(histogram, u64_at(run, 0) + u64_at(run, 1) * n);
            }
        }
        json_array_foreach(section(item, "points"), k, point)
        {
            uint64_t exact = u64_at(point, 2);
            uint64_t value = histogram_percentile(histogram, (uint32_t)u64_at(point, 0),
                                                  (uint32_t)u64_at(point, 1));
            assert_int_equal(value, u64_at(point, 3));
            assert_true(histogram->min <= value && value <= histogram->max);
            if (exact <= HISTOGRAM_MAX_NS) {
                assert_int_equal(histogram_index(value), histogram_index(exact));
            }
        }
    }
    free(histogram);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_numbers_and_bounds), cmocka_unit_test(unit_doubles_bit_by_bit),
        cmocka_unit_test(distributions),          cmocka_unit_test(arrivals),
        cmocka_unit_test(histogram_buckets),      cmocka_unit_test(histogram_percentiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
