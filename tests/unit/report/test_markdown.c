/* The report as Markdown: what a result says stays text, and a table stays a table. */
#include "../result/sample.h"

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void print(const struct result *result, struct buffer *out)
{
    buffer_init(out);
    report_markdown(result, out);
    assert_false(out->failed);
}

/* Every line of a table has as many cells as its head. */
static void assert_tables_hold(const char *text)
{
    int columns = 0;
    size_t tables = 0;
    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        int bars = 0;
        for (const char *c = line; *line == '|' && c < end; c++) {
            bars += *c == '|' && (c == line || c[-1] != '\\');
        }
        if (bars > 0 && columns == 0) {
            tables++;
        }
        if (bars > 0 && columns > 0) {
            assert_int_equal(bars, columns);
        }
        columns = bars;
        line = end + 1;
    }
    assert_true(tables > 0);
}

static void test_tables_hold(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    sample_comparison(result);
    struct buffer out;
    print(result, &out);
    assert_tables_hold(out.data);
    buffer_release(&out);
    result_free(result);
}

static void assert_has(const struct buffer *out, const char *part)
{
    if (strstr(out->data, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, out->data);
    }
}

static void test_only_a_verdict_is_bold(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    sample_comparison(result);
    struct result_comparison_row *row = &result->comparison.tables.items[0].rows.items[0];
    *(struct result_comparison_cell *)sample_must(result_list_add(&row->cells)) =
        (struct result_comparison_cell){.engine = sample_text("turso-next"),
                                        .median = 7000,
                                        .spread = 0.5,
                                        .ratio = 0.9,
                                        .ratio_low = 0.5,
                                        .ratio_high = 1.1,
                                        .verdict = sample_text("no difference shown"),
                                        .smallest_difference = 0.2,
                                        .more_rounds = 12,
                                        .rounds = 10};
    *(struct result_comparison_cell *)sample_must(result_list_add(&row->cells)) =
        (struct result_comparison_cell){.engine = sample_text("gone"),
                                        .median = (double)NAN,
                                        .spread = (double)NAN,
                                        .ratio = (double)NAN,
                                        .ratio_low = (double)NAN,
                                        .ratio_high = (double)NAN,
                                        .smallest_difference = (double)NAN,
                                        .more_rounds = RESULT_ABSENT,
                                        .note = sample_text("unable: it locks | its file")};
    struct buffer out;
    print(result, &out);
    assert_tables_hold(out.data);
    assert_has(&out, "| | median | spread | ratio | interval | could show | verdict |\n"
                     "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
                     "| **prod: best is sqlite, 25.0 % ahead (20.0 % to 30.0 %)** | |");
    assert_has(&out, "| &emsp;sqlite | 7,778 | 2.0 % | – | – | – | baseline |\n");
    assert_has(&out, "| &emsp;turso | 6,222 | 2.0 % | 0.800 | 0.780 to 0.820 | 3.0 % | "
                     "**slower** |\n");
    assert_has(&out, "| &emsp;turso-next | 7,000 | 50.0 % | 0.900 | 0.500 to 1.100 | 20.0 % | "
                     "no difference shown |\n");
    assert_has(&out, "| &emsp;gone | – | – | – | – | – | unable |\n");
    assert_has(&out, "\nNoise floor 1.0 %");
    assert_has(&out, "turso-next: 12.\n");
    assert_has(&out, "**1 row is slower by more than the noise and 5.0 %: status 1**");
    buffer_release(&out);
    result_free(result);
}

/* What was compared stands first, all else can be unfolded. */
static void test_order(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    sample_comparison(result);
    struct buffer out;
    print(result, &out);
    static const char *const order[] = {
        "## pitot prod\n\nsqlite 3.54.1, turso 0.8.3, turso-next; Example CPU 9000, 2 cores; "
        "3 rounds; ",
        "**3 warnings**\n\n* turso 0.8.3, known fault: ",
        "\n\n**turso-next failed: the worker ended by signal 6 (Aborted)**\n\n  * line 3 of the",
        "\n\n**Compared with sqlite: ",
        "\n\n<details><summary>The figures</summary>\n",
        "| **user\\_by\\_id** | | | | | | | | |\n| &emsp;sqlite | 5.00 µs | 15.0 µs | 20.0 µs | "
        "\\~25.0 µs |",
        "Event loop: ",
        "\n</details>\n\n<details><summary>What was measured, and on what</summary>\n",
        "* Settings: journal\\_mode=wal, cache\\_size=-65536\n* CPU: Example",
        "\n</details>\n",
    };
    const char *at = out.data;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *found = strstr(at, order[i]);
        if (found == NULL) {
            fail_msg("'%s' does not follow in:\n%s", order[i], out.data);
            break;
        }
        at = found;
    }
    assert_string_equal(at, order[sizeof order / sizeof *order - 1]);
    buffer_release(&out);
    result_free(result);
}

/* Each command's own tables. */
static void test_commands(void **state)
{
    (void)state;
    static const struct {
        const char *command, *part;
    } cases[] = {
        {"prod", "| reads/s | 6,543 | 1.0 % |"},
        {"bench", "| | ops/s | spread | p50 | p95 | p99 | CPU/op |"},
        {"concurrent", "| | ops/s | spread | scaling | least | most | fairness | CPU/op |"},
        {"concurrent", "| | p50 | p99 | p99.9 | busy | failed | slept | off CPU |"},
        {"verify", "* Answers: prod small"},
        {"numbers", "| &emsp;libpitot | 20.0 µs | 30.0 µs | 90.0 µs | 2,000 | 0.500 |"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = sample_full_result();
        free(result->command);
        result->command = sample_text(cases[i].command);
        if (strcmp(cases[i].command, "numbers") == 0) {
            sample_numbers(result);
        }
        struct buffer out;
        print(result, &out);
        assert_has(&out, cases[i].part);
        assert_null(strstr(out.data, "\x1b"));
        buffer_release(&out);
        result_free(result);
    }
}

/* A comment holds 65,536 characters: whole parts, and how many are missing. */
static void test_what_a_comment_holds(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    sample_comparison(result);
    struct result_comparison_table *table = &result->comparison.tables.items[0];
    for (size_t i = 0; i < 600; i++) {
        struct result_comparison_row *row = sample_must(result_list_add(&table->rows));
        row->best = sample_text("sqlite");
        row->best_lead = row->best_lead_low = row->best_lead_high = 0.5;
        for (size_t k = 0; k < 3; k++) {
            struct result_comparison_cell *cell = sample_must(result_list_add(&row->cells));
            *cell = (struct result_comparison_cell){.engine = sample_text("turso"),
                                                    .verdict = sample_text("faster"),
                                                    .more_rounds = RESULT_ABSENT};
        }
    }
    struct buffer out;
    print(result, &out);
    assert_true(out.length <= 65536);
    assert_has(&out, "**Compared with sqlite");
    assert_null(strstr(out.data, "Noise floor"));
    assert_has(&out, " parts are left out, since a comment holds no more than 65,536");
    buffer_release(&out);
    /* A table that fits just so, and figures that do not: the fold is closed. */
    result_free(result);
    result = sample_full_result();
    sample_comparison(result);
    for (size_t i = 0; i < 120; i++) {
        sample_case(result, "a case");
        for (size_t k = 0; k < 2; k++) {
            sample_summary(&result->engines.items[k], 1);
        }
        struct result_summary *failed =
            sample_must(result_list_add(&result->engines.items[2].summaries));
        result_summary_init(failed);
    }
    print(result, &out);
    assert_true(out.length > 60000 && out.length <= 65536);
    assert_has(&out, "Noise floor");
    assert_has(&out, "<details><summary>The figures</summary>");
    assert_has(&out, "\n</details>\n");
    assert_tables_hold(out.data);
    buffer_release(&out);
    result_free(result);
}

static void test_names_are_text(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    free(result->engines.items[0].name);
    result->engines.items[0].name = sample_text("<b>a|b</b>\n# *x* `y` [z](w) ~~ @team &lt;");
    struct buffer out;
    print(result, &out);
    assert_tables_hold(out.data);
    assert_null(strstr(out.data, "<b>"));
    assert_has(&out, "&lt;b\\>a\\|b&lt;/b\\>?\\# \\*x\\* \\`y\\` \\[z\\](w) \\~\\~ "
                     "@<!-- -->team &amp;lt; 3.54.1");
    buffer_release(&out);
    result_free(result);
}

static void test_nothing_measured_is_said(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    result->partial = true;
    struct buffer out;
    print(result, &out);
    assert_has(&out, "**Ended early: ");
    buffer_release(&out);
    result_free(result);
    result = result_new();
    print(result, &out);
    assert_has(&out, "## pitot");
    buffer_release(&out);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_hold),
        cmocka_unit_test(test_only_a_verdict_is_bold),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_what_a_comment_holds),
        cmocka_unit_test(test_names_are_text),
        cmocka_unit_test(test_nothing_measured_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
