#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND UINT64_C(1000000000)
#define WRONG UINT64_MAX

/* Every refusal names the option, the text and something right. */
static void assert_refused(int status, const struct error *error, const char *text,
                           const char *example)
{
    assert_int_equal(status, ERROR_INVALID);
    assert_int_equal(error->code, ERROR_INVALID);
    assert_int_equal(strncmp(error->message, "--opt: ", 7), 0);
    assert_non_null(strstr(error->message, text));
    assert_non_null(strstr(error->message, example));
}

static void durations_follow_their_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bare_ns, expected;
    } cases[] = {
        {"5", SECOND, 5 * SECOND},
        {"5", 1000000, 5000000},
        {"5", 0, WRONG},
        {"0", SECOND, 0},
        {"007", SECOND, 7 * SECOND},
        {"5s", 0, 5 * SECOND},
        {"5s", 1000000, 5 * SECOND},
        {"500ms", SECOND, 500000000},
        {"250us", SECOND, 250000},
        {"17ns", SECOND, 17},
        {"2m", SECOND, 120 * SECOND},
        {"1h", SECOND, 3600 * SECOND},
        {"1.5s", SECOND, 1500000000},
        {"1.5", SECOND, 1500000000},
        {"0.1", SECOND, 100000000},
        {"0.000000001s", SECOND, 1},
        {"0.3ns", SECOND, 0},
        {"0.5ns", SECOND, 1},
        {"2.999999999999999999999s", SECOND, 3 * SECOND},
        {"0.333333333333333333333h", SECOND, 1200 * SECOND},
        {"1000000s", SECOND, UINT64_C(1000000000000000)},
        {"1000000.000000001s", SECOND, WRONG},
        {"1000001s", SECOND, WRONG},
        {"99999999999999999999999h", SECOND, WRONG},
        {"18446744073709551616ns", SECOND, WRONG},
        {"", SECOND, WRONG},
        {"s", SECOND, WRONG},
        {"-1s", SECOND, WRONG},
        {"+1s", SECOND, WRONG},
        {" 1s", SECOND, WRONG},
        {"1s ", SECOND, WRONG},
        {"1 s", SECOND, WRONG},
        {"1.s", SECOND, WRONG},
        {".5s", SECOND, WRONG},
        {"1.5.5s", SECOND, WRONG},
        {"1,5s", SECOND, WRONG},
        {"1e3s", SECOND, WRONG},
        {"0x10s", SECOND, WRONG},
        {"nan", SECOND, WRONG},
        {"inf", SECOND, WRONG},
        {"5S", SECOND, WRONG},
        {"5sec", SECOND, WRONG},
        {"5MiB", SECOND, WRONG},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        uint64_t out = 12345;
        int status = units_duration_ns("--opt", cases[i].text, cases[i].bare_ns, &out, &error);
        if (cases[i].expected == WRONG) {
            assert_refused(status, &error, cases[i].text, "such as 5");
            assert_int_equal(out, 12345);
        } else {
            assert_int_equal(status, 0);
            assert_int_equal(out, cases[i].expected);
        }
    }
}

static void cache_sizes_follow_their_table(void **state)
{
    (void)state;
    static const int64_t wrong = INT64_MIN;
    static const struct {
        const char *text;
        int64_t expected;
    } cases[] = {
        {"2000", 2000},
        {"0", 0},
        {"-65536", -65536},
        {"64MiB", -65536},
        {"1KiB", -1},
        {"2GiB", -2097152},
        {"64MB", -62500},
        {"1024kB", -1000},
        {"1GB", -976562},
        {"2147483647", 2147483647},
        {"-2147483647", -2147483647},
        {"2147483648", wrong},
        {"-99999999999999999999999", wrong},
        {"99999999999999GiB", wrong},
        {"1kB", wrong}, /* less than 1 KiB would be no cache at all */
        {"0MiB", wrong},
        {"-64MiB", wrong},
        {"--5", wrong},
        {"+5", wrong},
        {"", wrong},
        {"-", wrong},
        {"MiB", wrong},
        {"64M", wrong},
        {"64mib", wrong},
        {"1.5MiB", wrong},
        {"64 MiB", wrong},
        {"5s", wrong},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        int64_t out = 12345;
        int status = units_cache_size("--opt", cases[i].text, &out, &error);
        if (cases[i].expected == wrong) {
            assert_refused(status, &error, cases[i].text, "64MiB");
            assert_int_equal(out, 12345);
        } else {
            assert_int_equal(status, 0);
            assert_int_equal(out, cases[i].expected);
        }
    }
}

static void counts_follow_their_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t min, max;
        int status;
        uint64_t expected;
    } cases[] = {
        {"4", 1, 100, 0, 4},
        {"1", 1, 100, 0, 1},
        {"100", 1, 100, 0, 100},
        {"0", 1, 100, ERROR_INVALID, 0},
        {"101", 1, 100, ERROR_INVALID, 0},
        {"0", 0, 0, 0, 0},
        {"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, ERROR_INVALID, 0},
        {"18446744073709551625", 0, UINT64_MAX, ERROR_INVALID, 0},
        {"000000000000000000000000018446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
        {"99999999999999999999999999", 0, UINT64_MAX, ERROR_INVALID, 0},
        {"", 0, 9, ERROR_INVALID, 0},
        {"-1", 0, 9, ERROR_INVALID, 0},
        {"+1", 0, 9, ERROR_INVALID, 0},
        {"1.0", 0, 9, ERROR_INVALID, 0},
        {"1k", 0, 9, ERROR_INVALID, 0},
        {" 1", 0, 9, ERROR_INVALID, 0},
        {"1 ", 0, 9, ERROR_INVALID, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        uint64_t out = 0;
        int status = units_count("--opt", cases[i].text, cases[i].min, cases[i].max, &out, &error);
        assert_int_equal(status, cases[i].status);
        assert_int_equal(out, cases[i].expected);
        if (status != 0) {
            assert_refused(status, &error, cases[i].text, "such as");
        }
    }
}

static void rates_follow_their_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double per_second, share; /* NAN: not this one; both: refused */
    } cases[] = {
        {"1000", 1000, NAN},
        {"0.5", 0.5, NAN},
        {"0.001", 0.001, NAN},
        {"1000000000", 1e9, NAN},
        {"70", 70, NAN},
        {"70%", NAN, 0.7},
        {"0.5%", NAN, 0.005},
        {"100%", NAN, 1},
        {"150%", NAN, 1.5},
        {"1000%", NAN, 10},
        {"0", NAN, NAN},
        {"0.0", NAN, NAN},
        {"0.0009", NAN, NAN},
        {"1000000001", NAN, NAN},
        {"1000000000000", NAN, NAN},
        {"1e12", NAN, NAN},
        {"1e3", NAN, NAN},
        {"-1", NAN, NAN},
        {"+1", NAN, NAN},
        {"nan", NAN, NAN},
        {"inf", NAN, NAN},
        {"", NAN, NAN},
        {"%", NAN, NAN},
        {"0%", NAN, NAN},
        {"0.09%", NAN, NAN},
        {"1001%", NAN, NAN},
        {"-70%", NAN, NAN},
        {"70%%", NAN, NAN},
        {"70 %", NAN, NAN},
        {"1000/s", NAN, NAN},
        {"99999999999999999999999999", NAN, NAN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        double per_second = -1;
        double share = -1;
        int status = units_rate("--opt", cases[i].text, &per_second, &share, &error);
        assert_int_equal(isnan(per_second), isnan(cases[i].per_second));
        assert_int_equal(isnan(share), isnan(cases[i].share));
        if (!isnan(cases[i].per_second)) {
            assert_true(status == 0 && per_second == cases[i].per_second);
        } else if (!isnan(cases[i].share)) {
            assert_true(status == 0 && fabs(share - cases[i].share) < 1e-12);
        } else {
            assert_refused(status, &error, cases[i].text, "such as 1000");
            assert_non_null(strstr(error.message, "70%"));
        }
    }
}

struct printed {
    double value;
    const char *text;
};

static void assert_printed(void (*print)(char[UNITS_TEXT_SIZE], double),
                           const struct printed *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[UNITS_TEXT_SIZE];
        print(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
}

static void times_are_printed(void **state)
{
    (void)state;
    static const struct printed cases[] = {
        {0, "0 ns"},       {1, "1.00 ns"},       {20.34, "20.3 ns"},   {512, "512 ns"},
        {999.4, "999 ns"}, {999.6, "1.00 µs"},   {5200, "5.20 µs"},    {9994, "9.99 µs"},
        {9996, "10.0 µs"}, {99960, "100 µs"},    {1.2e6, "1.20 ms"},   {999.6e6, "1.00 s"},
        {15e9, "15.0 s"},  {12345e9, "12345 s"}, {-5200, "-5.20 µs"},  {NAN, "–"},
        {INFINITY, "–"},   {-INFINITY, "–"},     {1e300, "1e+300 ns"},
    };
    assert_printed(units_print_ns, cases, COUNT(cases));
}

static void sizes_are_printed(void **state)
{
    (void)state;
    static const struct printed cases[] = {
        {0, "0 B"},         {7, "7 B"},         {512, "512 B"},
        {1000, "1.00 kB"},  {65536, "65.5 kB"}, {1e6, "1.00 MB"},
        {3.4e9, "3.40 GB"}, {2e12, "2.00 TB"},  {NAN, "–"},
    };
    assert_printed(units_print_bytes, cases, COUNT(cases));
}

static void counts_are_printed(void **state)
{
    (void)state;
    static const struct printed cases[] = {
        {0, "0"},
        {5, "5"},
        {5.25, "5.25"},
        {12.34, "12.3"},
        {99.96, "100"},
        {100.4, "100"},
        {999.6, "1,000"},
        {6543.21, "6,543"},
        {1007, "1,007"},
        {65432, "65,432"},
        {315204, "315,204"},
        {999999.4, "999,999"},
        {999999.6, "1.00 M"},
        {1.21e6, "1.21 M"},
        {663e6, "663 M"},
        {1e9, "1.00 G"},
        {-6543, "-6,543"},
        {NAN, "–"},
        {INFINITY, "–"},
    };
    assert_printed(units_print_count, cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_follow_their_table),
        cmocka_unit_test(cache_sizes_follow_their_table),
        cmocka_unit_test(counts_follow_their_table),
        cmocka_unit_test(rates_follow_their_table),
        cmocka_unit_test(times_are_printed),
        cmocka_unit_test(sizes_are_printed),
        cmocka_unit_test(counts_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
