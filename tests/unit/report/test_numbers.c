/* `pitot numbers` as a table and as CSV. */
#include "../result/sample.h"

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct result *make(void)
{
    struct result *result = sample_result(1);
    free(result->command);
    result->command = sample_text("numbers");
    sample_numbers(result);
    return result;
}

static char *table(const struct result *result, size_t width)
{
    struct buffer text;
    struct report_style style = {.width = width};
    buffer_init(&text);
    report_table(result, &style, &text);
    char *taken = buffer_take(&text);
    assert_non_null(taken);
    return taken;
}

static void assert_line(const char *text, const char *line)
{
    if (strstr(text, line) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", line, text);
    }
}

static void test_lines(void **state)
{
    (void)state;
    struct result *result = make();
    char *text = table(result, 400); /* notes are not wrapped */
    assert_line(text, "SQLite 3.54.1 (sqlite), /lib/libsqlite3.so.0\n");
    assert_line(text, "Options   THREADSAFE=2\n");
    assert_line(text, "\nread: writer busy\n"
                      "  libpitot   20.0 µs     30.0 µs    90.0 µs    2,000  0.500\n"
                      "  plain      40.0 µs    ~60.0 µs    5.00 ms      500\n");
    assert_line(text, "  libpitot  2.00 M/s    1.50 M/s   1.00 M/s    2,000  0.500\n");
    assert_line(text, "read: writer busy. libpitot: 2,000 of 2,000 due reads done, 0 missed, 0");
    assert_line(text, "beside 700 passes; plain: 500 of 520 due reads done, 13 missed, 7 failed");
    assert_line(text, "a note");
    assert_line(text, "~ fewer than 10 samples above this percentile");
    assert_line(text, "(1.20)");
    assert_line(text, "to those beside an idle one in the same round: p50 1.25, p99 1.50\n");
    assert_line(text, "(16.0 B a row)");
    assert_line(text, "failed: it has fallen over\n  | the last line\n");
    assert_null(strstr(text, "mean nothing"));
    free(text);
    result_free(result);
}

static void test_build_that_means_nothing(void **state)
{
    (void)state;
    struct result *result = make();
    free(result->build);
    result->build = sample_text("asan");
    char *text = table(result, 100);
    assert_line(text, "A asan build of pitot: these numbers mean nothing.");
    free(text);
    result_free(result);
}

/* Every figure is there in a window that has no room for columns. */
static void test_narrow(void **state)
{
    (void)state;
    struct result *result = make();
    char *text = table(result, 40);
    assert_line(text, "read: writer busy\nlibpitot\nmedian");
    assert_line(text, "~60.0 µs");
    assert_line(text, "0.500\n");
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");
        size_t columns = 0;
        for (size_t i = 0; i < length; i++) {
            columns += ((unsigned char)line[i] & 0xc0) != 0x80;
        }
        assert_in_range(columns, 0, 40);
    }
    free(text);
    result_free(result);
}

static void test_csv(void **state)
{
    (void)state;
    struct result *result = make();
    struct buffer text;
    buffer_init(&text);
    report_csv(result, &text);
    assert_line(text.data, "sqlite,3.54.1,read,libpitot,writer busy,median,ns,20000,,,\r\n");
    assert_line(text.data, "sqlite,3.54.1,read,plain,writer busy,busy,count,7,,,\r\n");
    assert_line(text.data, "sqlite,3.54.1,read,plain,writer busy,passes,count,,,,\r\n");
    assert_line(text.data, "sqlite,3.54.1,pass,libpitot,rows,ratio,1,0.5,,,\r\n");
    assert_line(text.data, "sqlite,3.54.1,read,libpitot,writer busy,note,text,,,,a note\r\n");
    assert_line(text.data, "sqlite,3.54.1,,,,merge_kept,bytes,160000,,,\r\n");
    assert_line(text.data, "system,,,,,status,text,,,,failed: it has fallen over\r\n");
    buffer_release(&text);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_build_that_means_nothing),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
