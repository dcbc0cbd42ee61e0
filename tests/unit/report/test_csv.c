/* The CSV read back by the rules of RFC 4180, with a reader of its own. */
#include "../result/sample.h"

#include "report/report.h"

#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { COLUMNS = 11 };
enum column { ENGINE, VERSION, CASE, ROLE, SCRIPT, METRIC, UNIT, MEDIAN, MIN, MAX, NOTE };

struct row {
    char fields[COLUMNS][256];
};

/* Reads one row; NULL at the end. Anything that RFC 4180 does not allow fails the test. */
static const char *read_row(const char *at, struct row *row)
{
    if (*at == '\0') {
        return NULL;
    }
    for (int column = 0; column < COLUMNS; column++) {
        char *field = row->fields[column];
        size_t length = 0;
        bool quoted = *at == '"';
        at += quoted;
        for (; quoted ? !(at[0] == '"' && at[1] != '"') : *at != ',' && *at != '\r'; at++) {
            assert_true(*at != '\0' && length < 255);
            assert_true(quoted || (*at != '"' && *at != '\n'));
            at += *at == '"';
            field[length++] = *at;
        }
        at += quoted;
        field[length] = '\0';
        assert_int_equal(*at, column == COLUMNS - 1 ? '\r' : ',');
        at++;
    }
    assert_int_equal(*at, '\n');
    return at + 1;
}

static void print(const struct result *result, struct buffer *out)
{
    buffer_init(out);
    report_csv(result, out);
    assert_false(out->failed);
}

/* The row of a metric; `script` is "" for the engine's own. */
static struct row find(const struct buffer *csv, const char *engine, const char *script,
                       const char *metric)
{
    struct row row;
    for (const char *at = csv->data; (at = read_row(at, &row)) != NULL;) {
        if (strcmp(row.fields[ENGINE], engine) == 0 && strcmp(row.fields[SCRIPT], script) == 0 &&
            strcmp(row.fields[METRIC], metric) == 0) {
            return row;
        }
    }
    fail_msg("no row %s, %s, %s", engine, script, metric);
    return row;
}

/* A role's rows have a role and no script. */
static void test_roles(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *unit, *median;
    } expected[] = {
        {"connections", "count", "2"},
        {"operations_per_second", "1/s", "7000"},
        {"scaling", "1", "1.75"},
        {"least_served_per_second", "1/s", "3000"},
        {"most_served_per_second", "1/s", "4000"},
        {"fairness", "1", "0.75"},
        {"cpu_per_operation", "ns", "12000"},
        {"slept", "ns", "1500000000"},
        {"busy", "count", "12"},
        {"open", "count", "3"},
    };
    struct result *result = sample_full_result();
    struct buffer csv;
    print(result, &csv);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct buffer line;
        buffer_init(&line);
        buffer_printf(&line, "\r\nsqlite,3.54.1,prod,app,,%s,%s,%s,", expected[i].metric,
                      expected[i].unit, expected[i].median);
        if (strstr(csv.data, line.data) == NULL) {
            fail_msg("no line %s", line.data);
        }
        buffer_release(&line);
    }
    buffer_release(&csv);
    result_free(result);
}

static void test_rows(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    struct buffer csv;
    print(result, &csv);

    static const char header[] =
        "engine,version,case,role,script,metric,unit,median,min,max,note\r\n";
    assert_memory_equal(csv.data, header, sizeof(header) - 1);
    static const struct {
        const char *engine, *script, *metric;
        const char *expected[COLUMNS];
    } cases[] = {
        {"sqlite",
         "",
         "reads_per_second",
         {"sqlite", "3.54.1", "prod", "", "", "reads_per_second", "1/s", "6543", "6510.285",
          "6575.715", ""}},
        {"turso", "", "slept", {"turso", "0.8.3", "prod", "", "", "slept", "ns", "", "", "", ""}},
        {"sqlite",
         "",
         "busy",
         {"sqlite", "3.54.1", "prod", "", "", "busy", "count", "12", "", "", ""}},
        {"sqlite",
         "",
         "rounds_ok",
         {"sqlite", "3.54.1", "prod", "", "", "rounds_ok", "count", "3", "", "", ""}},
        {"sqlite",
         "user_by_id",
         "latency_p99.99",
         {"sqlite", "3.54.1", "prod", "app", "user_by_id", "latency_p99.99", "ns", "30000", "29950",
          "30050", ""}},
        {"sqlite",
         "user_by_id",
         "latency_p99.9_thin",
         {"sqlite", "3.54.1", "prod", "app", "user_by_id", "latency_p99.9_thin", "0 or 1", "1", "",
          "", ""}},
        {"sqlite",
         "insert_order",
         "time_share",
         {"sqlite", "3.54.1", "prod", "app", "insert_order", "time_share", "1", "0.876", "0.871",
          "0.881", ""}},
        {"turso-next",
         "",
         "reads_per_second",
         {"turso-next", "", "prod", "", "", "reads_per_second", "1/s", "", "", "", ""}},
        {"turso-next",
         "",
         "rounds_failed",
         {"turso-next", "", "prod", "", "", "rounds_failed", "count", "1", "", "", ""}},
        {"turso-next",
         "",
         "status",
         {"turso-next", "", "prod", "", "", "status", "text", "", "", "",
          "failed: the worker ended by signal 6 (Aborted)"}},
        {"sqlite",
         "",
         "status",
         {"sqlite", "3.54.1", "prod", "", "", "status", "text", "", "", "", "ok"}},
        {"turso",
         "",
         "known_fault",
         {"turso", "0.8.3", "", "", "", "known_fault", "text", "", "", "",
          "the first commit is acknowledged before any sync"}},
        {"turso",
         "",
         "warning",
         {"turso", "", "", "", "", "warning", "text", "", "", "", "steal was 6 % in round 2"}},
        {"sqlite",
         "",
         "data_as_acknowledged",
         {"sqlite", "3.54.1", "prod", "", "", "data_as_acknowledged", "0 or 1", "1", "", "", ""}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct row row = find(&csv, cases[i].engine, cases[i].script, cases[i].metric);
        for (int column = 0; column < COLUMNS; column++) {
            assert_string_equal(row.fields[column], cases[i].expected[column]);
        }
    }
    buffer_release(&csv);
    result_free(result);
}

/* Everything that a table of the comparison shows, and why there is no verdict. */
static void test_comparison(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *label, *role, *metric, *unit, *median, *min, *max, *note;
    } expected[] = {
        {"sqlite", "", "", "comparison_rounds", "count", "10", "", "", ""},
        {"sqlite", "", "", "comparison_rounds_repeated", "count", "1", "", "", ""},
        {"sqlite", "", "", "comparison_rounds_disturbed", "count", "2", "", "", ""},
        {"sqlite", "", "", "comparison_slower", "count", "1", "", "", ""},
        {"sqlite", "prod", "", "throughput_median", "1/s", "7777.5", "", "", ""},
        {"sqlite", "prod", "", "throughput_ratio", "1", "1", "", "", ""},
        {"sqlite", "prod", "", "throughput_ratio_verdict", "-1 to 1", "", "", "", "baseline"},
        {"turso", "prod", "", "throughput_median", "1/s", "6222", "", "", ""},
        {"turso", "prod", "", "throughput_spread", "1", "0.02", "", "", ""},
        {"turso", "prod", "", "throughput_ratio", "1", "0.8", "0.78", "0.82", ""},
        {"turso", "prod", "", "throughput_ratio_verdict", "-1 to 1", "-1", "", "", "slower"},
        {"turso", "prod", "", "throughput_could_show", "1", "0.03", "", "", ""},
        {"turso", "prod", "", "throughput_rounds", "count", "10", "", "", ""},
        {"turso", "prod", "", "throughput_more_rounds", "count", "", "", "", ""},
        {"turso-next", "prod", "", "throughput_ratio", "1", "", "", "", ""},
        {"turso-next", "prod", "", "throughput_ratio_verdict", "-1 to 1", "", "", "",
         "unable: it locks its file"},
        {"sqlite", "prod", "", "throughput_best_lead", "1", "0.25", "0.2", "0.3", ""},
        {"turso", "", "prod", "throughput_geometric_mean", "1", "0.8", "0.78", "0.82", ""},
        {"turso", "", "prod", "throughput_geometric_mean_verdict", "-1 to 1", "-1", "", "",
         "slower"},
        {"turso", "", "prod", "throughput_geometric_mean_rows", "count", "1", "", "", ""},
        {"sqlite", "", "prod", "throughput_noise_floor", "1", "0.01", "", "", ""},
        {"sqlite", "", "prod", "throughput_noise_floor_rows", "count", "1", "", "", ""},
        {"turso", "prod", "", "throughput_against", "1", "0.99", "0.97", "1.01", ""},
        {"turso", "prod", "", "throughput_against_verdict", "-1 to 1", "0", "", "",
         "no difference shown"},
        {"turso", "prod", "", "throughput_against_could_show", "1", "0.05", "", "", ""},
        {"turso", "select-point", "", "throughput_against_verdict", "-1 to 1", "", "", "",
         "missing: in old.json, but not measured now"},
        {"sqlite", "", "prod", "throughput_against_noise_floor", "1", "0.05", "", "", ""},
    };
    struct result *result = sample_full_result();
    struct buffer csv;
    sample_comparison(result);
    struct result_comparison_cell *unable =
        sample_must(result_list_add(&result->comparison.tables.items[0].rows.items[0].cells));
    *unable = (struct result_comparison_cell){
        .engine = sample_text("turso-next"),
        .median = (double)NAN,
        .spread = (double)NAN,
        .ratio = (double)NAN,
        .ratio_low = (double)NAN,
        .ratio_high = (double)NAN,
        .smallest_difference = (double)NAN,
        .more_rounds = RESULT_ABSENT,
        .note = sample_text("unable: it locks its file"),
    };
    print(result, &csv);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct row row;
        bool found = false;
        for (const char *at = csv.data; !found && (at = read_row(at, &row)) != NULL;) {
            found = strcmp(row.fields[METRIC], expected[i].metric) == 0 &&
                    strcmp(row.fields[ENGINE], expected[i].engine) == 0 &&
                    strcmp(row.fields[CASE], expected[i].label) == 0;
        }
        if (!found) {
            fail_msg("no row of %s, %s", expected[i].engine, expected[i].metric);
        }
        assert_string_equal(row.fields[ROLE], expected[i].role);
        assert_string_equal(row.fields[UNIT], expected[i].unit);
        assert_string_equal(row.fields[MEDIAN], expected[i].median);
        assert_string_equal(row.fields[MIN], expected[i].min);
        assert_string_equal(row.fields[MAX], expected[i].max);
        assert_string_equal(row.fields[NOTE], expected[i].note);
    }
    buffer_release(&csv);
    result_free(result);
}

static void test_names_read_back(void **state)
{
    (void)state;
    static const struct {
        const char *name, *read;
    } cases[] = {
        {"sqlite=/a,b/c.so", "sqlite=/a,b/c.so"},
        {"a \"quoted\" name", "a \"quoted\" name"},
        {"\"", "\""},
        {"line\r\nfeed", "line\r\nfeed"},
        {"a|b", "a|b"},
        {"esc\x1b[31m", "esc\x1b[31m"},
        {" blanks ", " blanks "},
        {"日本", "日本"},
        {"byte \xff", "byte \\xff"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(1);
        struct buffer csv;
        sample_engine(result, cases[i].name, 1, 1);
        print(result, &csv);
        find(&csv, cases[i].read, "", "ok");
        buffer_release(&csv);
        result_free(result);
    }
}

/* Digits enough to give the same double again, and no more than needed. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {0, "0"},
        {1e15, "1e+15"},
        {123456789012345, "123456789012345"},
        {1e-9, "1e-09"},
        {(double)INFINITY, ""},
        {(double)NAN, ""},
    };
    /* A comma locale must not show; where none is installed the test is of the C locale. */
    setlocale(LC_ALL, "de_DE.UTF-8");
    struct result *result = sample_result(1);
    struct result_engine *engine = sample_engine(result, "sqlite", 1, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer csv;
        engine->summaries.items[0].close_ns.median = cases[i].value;
        print(result, &csv);
        struct row row = find(&csv, "sqlite", "", "close");
        assert_string_equal(row.fields[MEDIAN], cases[i].text);
        buffer_release(&csv);
    }
    setlocale(LC_ALL, "C");
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_roles),
        cmocka_unit_test(test_comparison), cmocka_unit_test(test_names_read_back),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
