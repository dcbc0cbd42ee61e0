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

static struct result_comparison_cell *
add_cell(struct result_comparison_row *row, const char *engine, const char *verdict, double ratio)
{
    struct result_comparison_cell *cell = sample_must(result_list_add(&row->cells));
    cell->engine = sample_text(engine);
    cell->verdict = verdict != NULL ? sample_text(verdict) : NULL;
    cell->median = 1000;
    cell->spread = 0.02;
    cell->ratio = ratio;
    cell->ratio_low = ratio * 0.98;
    cell->ratio_high = ratio * 1.02;
    cell->rounds = 10;
    return cell;
}

static void add_comparison(struct result *result)
{
    free(result->comparison.baseline);
    result->comparison.baseline = sample_text("sqlite");
    struct result_comparison_table *table =
        sample_must(result_list_add(&result->comparison.tables));
    table->suite = sample_text("prod");
    table->metric = sample_text("throughput");
    table->unit = sample_text("1/s");
    table->floor = 0.012;
    struct result_comparison_row *row = sample_must(result_list_add(&table->rows));
    add_cell(row, "sqlite", NULL, 1)->note = sample_text("baseline");
    add_cell(row, "turso", "slower", 0.7);
    add_cell(row, "near", "no difference shown", 1.001);
    add_cell(row, "gone", NULL, (double)NAN)->note = sample_text("it crashed | twice");
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
    add_comparison(result);
    struct buffer out;
    print(result, &out);
    assert_tables_hold(out.data);
    buffer_release(&out);
    result_free(result);
}

static void test_only_a_verdict_is_bold(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    add_comparison(result);
    struct buffer out;
    print(result, &out);
    assert_non_null(
        strstr(out.data, "| turso | 1,000 | 2.0 % | 0.700 | 0.686 to 0.714 | **slower** |"));
    assert_non_null(strstr(out.data, "| no difference shown |"));
    assert_null(strstr(out.data, "**no difference shown**"));
    assert_non_null(strstr(out.data, "| – | – to – | it crashed \\| twice |"));
    assert_non_null(
        strstr(out.data, "| sqlite | 1,000 | 2.0 % | 1.000 | 0.980 to 1.020 | baseline |"));
    assert_non_null(strstr(out.data, "Noise floor: 1.2 %."));
    buffer_release(&out);
    result_free(result);
}

static void test_names_are_text(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    free(result->engines.items[0].name);
    result->engines.items[0].name = sample_text("<b>a|b</b>\n# *x* `y` [z](w) ~~");
    struct buffer out;
    print(result, &out);
    assert_tables_hold(out.data);
    assert_null(strstr(out.data, "<b>"));
    assert_non_null(
        strstr(out.data, "&lt;b\\>a\\|b&lt;/b\\> \\# \\*x\\* \\`y\\` \\[z\\](w) \\~\\~"));
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
    assert_non_null(strstr(out.data, "ended early"));
    buffer_release(&out);
    result_free(result);
    result = result_new();
    print(result, &out);
    assert_non_null(strstr(out.data, "## pitot"));
    buffer_release(&out);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_hold),
        cmocka_unit_test(test_only_a_verdict_is_bold),
        cmocka_unit_test(test_names_are_text),
        cmocka_unit_test(test_nothing_measured_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
