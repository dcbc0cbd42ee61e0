/* Table and CSV of runs at a rate. */
#include "../result/sample.h"

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct result *sample_rate(size_t engines, double rate)
{
    struct result *result = sample_result(2);
    for (size_t i = 0; i < engines; i++) {
        sample_engine(result, i == 0 ? "sqlite" : "turso", 2, 1);
    }
    if (rate > 0) {
        sample_open_loop(result, rate, 400);
    }
    return result;
}

static void assert_table(const struct result *result, size_t width, const char *const *there,
                         const char *const *absent)
{
    struct buffer out;
    buffer_init(&out);
    report_table(result, &(struct report_style){.width = width}, &out);
    assert_false(out.failed);
    for (; there != NULL && *there != NULL; there++) {
        if (strstr(out.data, *there) == NULL) {
            fail_msg("'%s' is not in:\n%s", *there, out.data);
        }
    }
    for (; absent != NULL && *absent != NULL; absent++) {
        if (strstr(out.data, *absent) != NULL) {
            fail_msg("'%s' is in:\n%s", *absent, out.data);
        }
    }
    buffer_release(&out);
}

static void parts_stand_below_the_latency(void **state)
{
    (void)state;
    static const char *const there[] = {"open loop at 640 operations/s",
                                        "begun of what was due",
                                        "75.0 %",
                                        "due, all rounds",
                                        "6,400",
                                        "never begun",
                                        "1,600",
                                        "user_by_id\n  sqlite ",
                                        "\n    service time  3.0",
                                        "\n    lag           2.0",
                                        "\n  turso ",
                                        "Open loop: all engines were asked",
                                        NULL};
    static const char *const absent[] = {"Closed loop", NULL};
    struct result *result = sample_rate(2, 640);
    assert_table(result, 100, there, absent);
    result_free(result);

    static const char *const alone[] = {"user_by_id ", "\n  service time  ", "\n  lag  ", NULL};
    result = sample_rate(1, 640);
    assert_table(result, 100, alone, absent);
    static const char *const narrow[] = {"\n  service time\n  p50 3.0", "\n  lag\n  p50 2.0", NULL};
    assert_table(result, 30, narrow, absent);
    result_free(result);
}

static void a_rate_that_was_a_share(void **state)
{
    (void)state;
    struct result *result = sample_rate(1, 640);
    struct result_case *of = &result->cases.items[0];
    of->rate_share = 0.7;
    static const char *const names[] = {"sqlite", "turso"};
    for (size_t i = 0; i < 2; i++) {
        struct result_closed_loop *loop = sample_must(result_list_add(&of->closed_loops));
        loop->engine = sample_text(names[i]);
        loop->operations_per_second = 914.3 + (double)i;
    }
    static const char *const there[] = {
        "640 operations/s, 70 % of the slowest in a closed loop (sqlite 914/s, turso 915/s)", NULL};
    assert_table(result, 400, there, NULL);
    result_free(result);
}

static void a_closed_loop_shows_none_of_it(void **state)
{
    (void)state;
    static const char *const there[] = {"Closed loop", NULL};
    static const char *const absent[] = {"open loop",    "begun of what", "due, all", "never begun",
                                         "service time", "lag  ",         NULL};
    struct result *result = sample_rate(2, 0);
    assert_table(result, 100, there, absent);
    result_free(result);
}

static void csv(void **state)
{
    (void)state;
    static const char *const rows[] = {",offered,count,6400,,",
                                       ",unstarted,count,1600,,",
                                       ",begun_share,1,0.75,0.75,0.75",
                                       ",user_by_id,service_min,ns,3000,3000,3000",
                                       ",user_by_id,lag_max,ns,20000,20000,20000",
                                       ",lag_p99.9,ns,"};
    struct result *result = sample_rate(1, 640);
    struct buffer out;
    buffer_init(&out);
    report_csv(result, &out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strstr(out.data, rows[i]) == NULL) {
            fail_msg("'%s' is not in:\n%s", rows[i], out.data);
        }
    }
    buffer_release(&out);
    result_free(result);
    result = sample_rate(1, 0);
    buffer_init(&out);
    report_csv(result, &out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char metric[40];
        assert_int_equal(sscanf(rows[i], ",%39[^,]", metric), 1);
        if (strcmp(metric, "user_by_id") != 0) {
            assert_null(strstr(out.data, metric));
        }
    }
    assert_null(strstr(out.data, "service_min"));
    buffer_release(&out);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_stand_below_the_latency),
        cmocka_unit_test(a_rate_that_was_a_share),
        cmocka_unit_test(a_closed_loop_shows_none_of_it),
        cmocka_unit_test(csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
