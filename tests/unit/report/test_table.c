/* The table against golden files (PITOT_GOLDEN_UPDATE=1 writes them anew), and the rules that hold
 * at every width. */
#include "../result/sample.h"

#include "base/file.h"
#include "base/text.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void print(const struct result *result, size_t width, bool colour, struct buffer *out)
{
    const struct report_style style = {.width = width, .colour = colour};
    buffer_init(out);
    report_table(result, &style, out);
    assert_false(out->failed);
}

static void assert_golden(const struct result *result, size_t width, const char *name)
{
    char path[512];
    struct buffer found;
    struct buffer expected;
    struct error error = ERROR_INIT;

    print(result, width, false, &found);
    snprintf(path, sizeof(path), "%s/tests/unit/report/golden/%s.txt", TEST_SOURCE_DIR, name);
    if (getenv("PITOT_GOLDEN_UPDATE") != NULL) {
        assert_int_equal(file_replace(path, found.data, found.length, &error), 0);
    }
    buffer_init(&expected);
    assert_int_equal(file_read(path, 1 << 20, &expected, &error), 0);
    assert_string_equal(found.data, expected.data);
    buffer_release(&expected);
    buffer_release(&found);
}

/* No line is wider than the window. */
static void assert_fits(const struct buffer *text, size_t width)
{
    const char *line = text->data;
    while (*line != '\0') {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        size_t columns = text_width(line, (size_t)(end - line));
        if (columns > width) {
            fail_msg("%zu columns in a window of %zu: %.*s", columns, width, (int)(end - line),
                     line);
        }
        line = end + 1;
    }
}

static void assert_has(const struct buffer *text, const char *part)
{
    if (strstr(text->data, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, text->data);
    }
}

static void test_one_engine(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    sample_engine(result, "sqlite", 1, 1);
    assert_golden(result, 100, "one-engine-100");
    assert_golden(result, 40, "one-engine-40");
    assert_golden(result, 20, "one-engine-20");
    result_free(result);
}

static void test_several_engines(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    assert_golden(result, 100, "full-100");
    assert_golden(result, 80, "full-80");
    assert_golden(result, 40, "full-40");
    assert_golden(result, 20, "full-20");
    result_free(result);
}

/* A fault that two engines share is one warning. */
static void test_shared_fault(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    struct buffer text;
    struct result_engine *engine = sample_engine(result, "turso", 1, 1);
    SAMPLE_ADD_TEXT(&engine->known_faults, "a commit can be lost");
    engine = sample_engine(result, "sqlite", 1, 1);
    SAMPLE_ADD_TEXT(&engine->known_faults, "it is slow");
    engine = sample_engine(result, "turso-js", 1, 1);
    SAMPLE_ADD_TEXT(&engine->known_faults, "it is async");
    SAMPLE_ADD_TEXT(&engine->known_faults, "a commit can be lost");
    print(result, 100, false, &text);
    assert_has(&text, "\n3 warnings\n! turso 3.54.1, turso-js 3.54.1, known fault: a commit can be "
                      "lost\n! sqlite 3.54.1, known fault: it is slow\n! turso-js 3.54.1, known "
                      "fault: it is async\n");
    buffer_release(&text);
    result_free(result);
}

/* Nothing at all is known: every figure is a dash, and no number is invented. */
static void test_absent(void **state)
{
    (void)state;
    struct result *result = sample_must(result_new());
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text("null");
    engine->status = sample_text("failed");
    result_case_init(sample_must(result_list_add(&result->cases)));
    struct result_summary *summary = sample_must(result_list_add(&engine->summaries));
    result_summary_init(summary);
    summary->status = sample_text("failed");
    assert_golden(result, 100, "absent-100");
    result_free(result);
}

/* Two cases by operations, two engines; the second one failed in the second case. */
static struct result *two_cases(const char *command)
{
    struct result *result = sample_result(3);
    struct result_case *point = &result->cases.items[0];
    free(result->command);
    result->command = sample_text(command);
    free(point->label);
    point->label = sample_text("select-point");
    sample_case(result, "insert-batch");
    for (size_t i = 0; i < 2; i++) {
        result->cases.items[i].duration_ns = RESULT_ABSENT;
        result->cases.items[i].warmup_ns = RESULT_ABSENT;
        result->cases.items[i].operations = i == 0 ? 50000 : 92;
        result->cases.items[i].warmup_operations = i == 0 ? 5000 : 10;
    }
    for (size_t i = 0; i < 2; i++) {
        struct result_engine *engine = sample_engine(result, i == 0 ? "sqlite" : "turso", 3, 1);
        for (uint64_t round = 1; round <= (i == 0 ? 3 : 1); round++) {
            struct result_run *run = sample_run(engine, round);
            run->case_index = 1;
            run->scripts.items[0].operations_each = 1000;
        }
        if (i == 0) {
            sample_summary(engine, 4);
            engine->summaries.items[1].rounds_ok = 3;
            continue;
        }
        struct result_run *run = &engine->runs.items[3];
        free(run->status);
        run->status = sample_text("failed");
        run->error = sample_text("the worker ended by signal 6 (Aborted)");
        free(engine->status);
        engine->status = sample_text("partial");
        engine->error = sample_text("insert-batch, the worker ended by signal 6 (Aborted)");
        struct result_summary *summary = sample_must(result_list_add(&engine->summaries));
        result_summary_init(summary);
        summary->status = sample_text("failed");
        summary->error = sample_text("the worker ended by signal 6 (Aborted)");
    }
    return result;
}

static void test_several_cases(void **state)
{
    (void)state;
    struct result *result = two_cases("prod");
    assert_golden(result, 100, "cases-100");
    result_free(result);
}

static void test_bench(void **state)
{
    (void)state;
    struct result *result = two_cases("bench");
    assert_golden(result, 100, "bench-100");
    assert_golden(result, 40, "bench-40");
    result_free(result);
}

/* A verdict, a row that is failed, one that more rounds would separate; rounds that were disturbed;
 * an older file. */
static void test_comparison(void **state)
{
    (void)state;
    struct result *result = two_cases("compare");
    sample_comparison(result);
    struct result_comparison_table *table = &result->comparison.tables.items[0];
    struct result_comparison_row *row = sample_must(result_list_add(&table->rows));
    row->case_index = 1;
    row->script = sample_text("insert_order");
    row->best_lead = row->best_lead_low = row->best_lead_high = (double)NAN;
    static const char *const words[] = {"baseline", "no difference shown", "failed"};
    for (size_t i = 0; i < 3; i++) {
        struct result_comparison_cell *cell = sample_must(result_list_add(&row->cells));
        *cell = (struct result_comparison_cell){
            .engine = sample_text(i == 0 ? "sqlite" : "turso"),
            .median = i == 2 ? (double)NAN : 1234.5,
            .spread = i == 2 ? (double)NAN : 0.5,
            .thin = i == 1,
            .ratio = i == 1 ? 123.4 : (double)NAN,
            .ratio_low = i == 1 ? 0.5 : (double)NAN,
            .ratio_high = i == 1 ? 2e7 : (double)NAN,
            .verdict = i == 1 ? sample_text(words[i]) : NULL,
            .note = i == 1 ? NULL : sample_text(words[i]),
            .smallest_difference = i == 1 ? 11 : (double)NAN,
            .more_rounds = i == 1 ? 1001 : RESULT_ABSENT,
            .rounds = i == 1 ? 10 : 0,
        };
    }
    assert_golden(result, 100, "compare-100");
    assert_golden(result, 60, "compare-60");
    result_free(result);
}

/* A reason that the cells have no room for stands below the table once, with all whose it is. */
static void test_reasons(void **state)
{
    (void)state;
    struct result *result = two_cases("compare");
    struct buffer text;
    sample_comparison(result);
    struct result_comparison_table *table = &result->comparison.tables.items[0];
    static const char *const notes[] = {"not comparable: too few of them",
                                        "not comparable: too few of them", "unable: no file"};
    for (size_t i = 0; i < 3; i++) {
        struct result_comparison_row *row = sample_must(result_list_add(&table->rows));
        row->case_index = 1;
        row->script = sample_text(i == 0 ? "a" : i == 1 ? "b" : "c");
        row->best_lead = row->best_lead_low = row->best_lead_high = (double)NAN;
        struct result_comparison_cell *cell = sample_must(result_list_add(&row->cells));
        *cell = (struct result_comparison_cell){.engine = sample_text("turso"),
                                                .median = (double)NAN,
                                                .spread = (double)NAN,
                                                .ratio = (double)NAN,
                                                .ratio_low = (double)NAN,
                                                .ratio_high = (double)NAN,
                                                .smallest_difference = (double)NAN,
                                                .more_rounds = RESULT_ABSENT,
                                                .note = sample_text(notes[i])};
    }
    print(result, 100, false, &text);
    const char *label = result->cases.items[1].label;
    char expected[200];
    snprintf(expected, sizeof expected,
             "\n! not comparable: too few of them (%s, a, turso; %s, b, turso)\n"
             "! unable: no file (%s, c, turso)\n",
             label, label, label);
    assert_has(&text, expected);
    buffer_release(&text);
    result_free(result);
}

/* What the head says of few rounds; without A against A the floor is the least. */
static void test_few_rounds(void **state)
{
    (void)state;
    static const struct {
        uint64_t rounds;
        const char *said;
    } heads[] = {
        {1, "one run: no difference is claimed"},
        {2, "2 rounds, and a verdict needs 3"},
        {3, "of 3 rounds"},
    };
    for (size_t i = 0; i < 3; i++) {
        struct result *result = two_cases("bench");
        struct buffer text;
        buffer_init(&text);
        sample_comparison(result);
        struct result_comparison_table *table = &result->comparison.tables.items[0];
        table->floor_rows = 0;
        for (size_t k = 0; k < table->rows.items[0].cells.count; k++) {
            table->rows.items[0].cells.items[k].rounds = heads[i].rounds;
        }
        report_table(result, &(struct report_style){.width = 200}, &text);
        assert_non_null(strstr(text.data, heads[i].said));
        assert_non_null(strstr(text.data, "Noise floor 1.0 %, the least: sqlite did not run"));
        buffer_release(&text);
        result_free(result);
    }
}

/* Writers, then a writer and readers; the second engine locks its file, the third one failed. */
static struct result *concurrent_cases(void)
{
    struct result *result = sample_result(3);
    free(result->command);
    result->command = sample_text("concurrent");
    free(result->cases.items[0].label);
    result->cases.items[0].label = sample_text("write-contention ×4");
    sample_case(result, "read-write-mix ×4");
    for (size_t i = 0; i < 2; i++) {
        free(result->cases.items[i].isolation);
        result->cases.items[i].isolation = sample_text("processes");
    }
    static const char *const names[] = {"sqlite", "turso", "broken"};
    for (size_t i = 0; i < 3; i++) {
        struct result_engine *engine = sample_engine(result, names[i], 3, 1);
        for (uint64_t round = 1; round <= 3; round++) {
            sample_run(engine, round)->case_index = 1;
        }
        sample_summary(engine, 2);
        for (size_t of = 0; of < 2; of++) {
            struct result_summary *summary = &engine->summaries.items[of];
            summary->rounds_ok = 3;
            if (i > 0) {
                result_summary_clear(summary);
                free(summary->status);
                summary->status = sample_text(i == 1 ? "unable" : "failed");
            }
        }
    }
    struct result_summary *mix = &result->engines.items[0].summaries.items[1];
    sample_summary_role(mix, "reader", 4, 100)->scaling = sample_figure((double)NAN, 0);
    return result;
}

static void test_concurrent(void **state)
{
    (void)state;
    struct result *result = concurrent_cases();
    assert_golden(result, 100, "concurrent-100");
    assert_golden(result, 50, "concurrent-50");
    for (size_t width = 20; width <= 200; width++) {
        struct buffer text;
        print(result, width, false, &text);
        assert_fits(&text, width);
        buffer_release(&text);
    }
    result_free(result);
}

static void add_odd_names(struct result *result)
{
    static const char *const names[] = {
        "sqlite=/a,b/\"quoted\"/|pipe|/libsqlite3.so.0",
        "sqlite=/a,b/\"quoted\"/|pipe|/libsqlite3.so.1", /* the same once cut */
        "red\x1b[31m\xff\x7f",
        "日本語のとても長いエンジンの名前とその続き",
        "n\xcc\x81n\xcc\x81n\xcc\x81n\xcc\x81n\xcc\x81n\xcc\x81", /* combining */
        "",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sample_engine(result, names[i], 2, 1 + (double)i);
    }
    sample_failed_engine(result, "a\nb\tc");
    SAMPLE_ADD_TEXT(&result->engines.items[0].runs.items[0].log, "\x1b]0;title\x07");
    assert_int_equal(result_warn(result, names[2], "a\x1b[2Jb"), 0);
}

static void test_every_width(void **state)
{
    (void)state;
    struct result *result = sample_result(2);
    add_odd_names(result);
    for (size_t width = 20; width <= 240; width++) {
        struct buffer text;
        print(result, width, false, &text);
        assert_fits(&text, width);
        assert_null(strchr(text.data, '\x1b'));
        buffer_release(&text);
    }
    struct buffer narrow;
    print(result, 3, false, &narrow); /* raised to 20 */
    assert_fits(&narrow, 20);
    buffer_release(&narrow);
    result_free(result);
}

static void test_names_that_look_alike(void **state)
{
    (void)state;
    struct result *result = sample_result(2);
    struct buffer text;
    add_odd_names(result);
    print(result, 100, false, &text);
    assert_has(&text, "sqlite=…sqlite3.so.0");
    assert_has(&text, "sqlite=…sqlite3.so.1");
    assert_has(&text, "日本語のとても長い…");
    buffer_release(&text);
    /* Alike even so: numbered. */
    for (size_t i = 0; i < 2; i++) {
        free(result->engines.items[i].name);
        result->engines.items[i].name =
            sample_text(i == 0 ? "a-long-name-of-one-engine-1" : "a-long-name-of-one-engine-2");
    }
    print(result, 100, false, &text);
    assert_has(&text, "#1 a-long-name-of");
    assert_has(&text, "#2 a-long-name-of");
    buffer_release(&text);
    result_free(result);
}

static void test_colour_only_if_allowed(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    struct buffer text;
    print(result, 100, true, &text);
    assert_has(&text, "\x1b[33m3 warnings");
    assert_has(&text, "\x1b[31mfailed\x1b[0m");
    buffer_release(&text);
    print(result, 100, false, &text);
    assert_null(strchr(text.data, '\x1b'));
    buffer_release(&text);
    result_free(result);
}

/* With one connection an operation waits for nobody: tails can be compared. */
static void test_throughput_note(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    struct buffer text;
    print(result, 100, false, &text);
    char *note = strstr(text.data, "at different throughput");
    assert_non_null(note);
    assert_null(strstr(note + 1, "at different throughput"));
    buffer_release(&text);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 3; j++) {
            struct result_run *run = &result->engines.items[i].runs.items[j];
            struct result_connection *last = &run->connections.items[1];
            free(last->role);
            for (size_t k = 0; k < last->settings.count; k++) {
                free(last->settings.items[k].name);
                free(last->settings.items[k].asked);
                free(last->settings.items[k].got);
            }
            free(last->settings.items);
            run->connections.count = 1;
        }
    }
    print(result, 100, false, &text);
    assert_null(strstr(text.data, "at different throughput"));
    buffer_release(&text);
    result_free(result);
}

/* Numbers that no run gives must neither overrun nor hang. */
static void test_hostile_numbers(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    struct result_engine *engine = sample_engine(result, "sqlite", 2, 1);
    engine->summaries.items[0].reads_per_second = (struct result_figure){1e-300, -1e308, 1e308};
    engine->summaries.items[0].writes_per_second = (struct result_figure){0, 0, 0};
    engine->summaries.items[0].peak_memory_bytes.median = -1e300;
    engine->summaries.items[0].ok = UINT64_MAX - 1;
    engine->summaries.items[0].scripts.items[0].time_share.median = 1e300;
    engine->summaries.items[0].scripts.items[0].rows_read_each.median = -5;
    result->plan.seed = UINT64_MAX - 1;
    result->plan.rounds = UINT64_MAX - 1;
    for (size_t width = 20; width <= 100; width += 5) {
        struct buffer text;
        print(result, width, false, &text);
        assert_fits(&text, width);
        buffer_release(&text);
    }
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_engine),
        cmocka_unit_test(test_several_engines),
        cmocka_unit_test(test_shared_fault),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_several_cases),
        cmocka_unit_test(test_bench),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_few_rounds),
        cmocka_unit_test(test_concurrent),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_names_that_look_alike),
        cmocka_unit_test(test_colour_only_if_allowed),
        cmocka_unit_test(test_throughput_note),
        cmocka_unit_test(test_hostile_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
