/* The parser of options: words to values, or to a message that says what would be right. */
#include "cli/options.h"

#include "core/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct values {
    const char *name;
    const char *format;
    uint64_t threads, absent;
    uint64_t duration_ns, timeout_ns, every_ns;
    int64_t cache;
    struct option_amount warmup;
    struct option_rate rate;
    result_pairs pairs;
    bool fresh;
};

#define FIELD(field) .offset = offsetof(struct values, field)

static const char *const formats[] = {"table", "csv", NULL};
static const struct option options[] = {
    {.name = "name", .kind = OPTION_TEXT, FIELD(name), .argument = "TEXT", .help = "A name."},
    {.name = "format",
     .kind = OPTION_CHOICE,
     FIELD(format),
     .argument = "NAME",
     .help = "A form.",
     .choices = formats,
     .fallback = "table"},
    {.name = "threads",
     .kind = OPTION_COUNT,
     FIELD(threads),
     .argument = "N",
     .help = "A count.",
     .min = 1,
     .max = 10000,
     .fallback = "4"},
    {.name = "absent",
     .kind = OPTION_COUNT,
     FIELD(absent),
     .argument = "N",
     .help = "A count without a default.",
     .max = 9},
    {.name = "duration",
     .kind = OPTION_DURATION,
     FIELD(duration_ns),
     .argument = "SECONDS",
     .help = "A time.",
     .min = NS_PER_MS,
     .max = 1000 * NS_PER_S,
     .bare_ns = NS_PER_S,
     .fallback = "5"},
    {.name = "timeout",
     .kind = OPTION_DURATION,
     FIELD(timeout_ns),
     .argument = "MS",
     .help = "Another time.",
     .max = 1000 * NS_PER_S,
     .bare_ns = NS_PER_MS,
     .fallback = "15000"},
    {.name = "cache",
     .kind = OPTION_CACHE_SIZE,
     FIELD(cache),
     .argument = "N",
     .help = "A size.",
     .fallback = "-65536"},
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     FIELD(warmup),
     .argument = "TIME|OPS",
     .help = "An amount.",
     .fallback = "3s"},
    {.name = "rate",
     .kind = OPTION_RATE,
     FIELD(rate),
     .argument = "N|N%",
     .help = "A rate without a default."},
    {.name = "pragma",
     .kind = OPTION_PAIRS,
     FIELD(pairs),
     .argument = "NAME=VALUE",
     .help = "A pair."},
    {.name = "fresh", .kind = OPTION_SWITCH, FIELD(fresh), .help = "A switch."},
    {.letter = 'P',
     .kind = OPTION_DURATION,
     FIELD(every_ns),
     .argument = "SECONDS",
     .help = "A short one.",
     .min = 1,
     .max = 1000 * NS_PER_S,
     .bare_ns = NS_PER_S,
     .fallback = "5"},
    OPTION_HELP_ENTRY,
};
static const struct option_table table = {
    .options = options, .count = sizeof(options) / sizeof(options[0]), .argument = "FILE"};
static const struct option_table table_without_argument = {
    .options = options, .count = sizeof(options) / sizeof(options[0])};
static const struct option_table table_with_needed_argument = {.options = options,
                                                               .count = sizeof(options) /
                                                                        sizeof(options[0]),
                                                               .argument = "FILE",
                                                               .argument_needed = true};

enum { WORDS_MAX = 20 };

/* One parse of a line of words that are separated by single spaces. */
struct parsed {
    struct values values;
    const char *argument;
    result_strings echo;
    struct error error;
    int code;
    char line[256];
};

static void parse_with(const struct option_table *with, const char *line, struct parsed *parsed)
{
    *parsed = (struct parsed){0};
    char *words[WORDS_MAX];
    int count = 0;
    snprintf(parsed->line, sizeof(parsed->line), "%s", line);
    for (char *word = strtok(parsed->line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_in_range(count, 0, WORDS_MAX - 1);
        words[count++] = word;
    }
    parsed->code = options_parse(with, count, words, &parsed->values, &parsed->argument,
                                 &parsed->echo, &parsed->error);
}

static void parse(const char *line, struct parsed *parsed)
{
    parse_with(&table, line, parsed);
}

static void release(struct parsed *parsed)
{
    options_release(&table, &parsed->values);
    for (size_t i = 0; i < parsed->echo.count; i++) {
        free(parsed->echo.items[i]);
    }
    free(parsed->echo.items);
}

static void test_defaults_go_through_the_parser(void **state)
{
    (void)state;
    struct parsed parsed;
    parse("", &parsed);
    assert_int_equal(parsed.code, OPTIONS_GIVEN);
    assert_null(parsed.values.name);
    assert_string_equal(parsed.values.format, "table");
    assert_int_equal(parsed.values.threads, 4);
    assert_true(parsed.values.absent == OPTION_ABSENT);
    assert_true(parsed.values.duration_ns == 5 * NS_PER_S);
    assert_true(parsed.values.timeout_ns == 15 * NS_PER_S);
    assert_int_equal(parsed.values.cache, -65536);
    assert_true(parsed.values.warmup.ns == 3 * NS_PER_S);
    assert_true(parsed.values.warmup.operations == OPTION_ABSENT);
    assert_true(isnan(parsed.values.rate.per_second) && isnan(parsed.values.rate.share));
    assert_int_equal(parsed.values.pairs.count, 0);
    assert_false(parsed.values.fresh);
    assert_null(parsed.argument);
    assert_int_equal(parsed.echo.count, 0);
    release(&parsed);
}

static void test_a_rate_is_a_number_or_a_share(void **state)
{
    (void)state;
    struct parsed parsed;
    parse("--rate 250.5", &parsed);
    assert_int_equal(parsed.code, OPTIONS_GIVEN);
    assert_true(parsed.values.rate.per_second == 250.5 && isnan(parsed.values.rate.share));
    release(&parsed);
    parse("--rate=70%", &parsed);
    assert_int_equal(parsed.code, OPTIONS_GIVEN);
    assert_true(parsed.values.rate.share == 0.7 && isnan(parsed.values.rate.per_second));
    assert_string_equal(parsed.echo.items[0], "--rate=70%");
    release(&parsed);
    parse("--rate 70%% --threads 2", &parsed);
    assert_int_equal(parsed.code, ERROR_INVALID);
    assert_non_null(strstr(parsed.error.message, "--rate: \"70%%\" is no rate"));
    release(&parsed);
}

static void test_both_spellings(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--name x --threads 8 --duration 2 --timeout 200 --cache -2000 --warmup 500 --fresh -P 7 f",
        "f --name=x --threads=8 --duration=2s --timeout=200ms --cache=-2000 --warmup=500 --fresh "
        "-P7",
        "--name=x --threads=8 --duration 2000ms --timeout 0.2s --cache=-2000 --warmup 500 --fresh "
        "-P=7 -- f",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct parsed parsed;
        parse(lines[i], &parsed);
        assert_string_equal(parsed.error.message, "");
        assert_int_equal(parsed.code, OPTIONS_GIVEN);
        assert_string_equal(parsed.values.name, "x");
        assert_int_equal(parsed.values.threads, 8);
        assert_true(parsed.values.duration_ns == 2 * NS_PER_S);
        assert_true(parsed.values.timeout_ns == 200 * NS_PER_MS);
        assert_int_equal(parsed.values.cache, -2000);
        assert_true(parsed.values.warmup.operations == 500);
        assert_true(parsed.values.warmup.ns == OPTION_ABSENT);
        assert_true(parsed.values.fresh);
        assert_true(parsed.values.every_ns == 7 * NS_PER_S);
        assert_string_equal(parsed.argument, "f");
        release(&parsed);
    }
}

static void test_pairs_repeat(void **state)
{
    (void)state;
    struct parsed parsed;
    parse("--pragma a=1 --pragma=b=c=d --pragma a=", &parsed);
    assert_int_equal(parsed.code, OPTIONS_GIVEN);
    assert_int_equal(parsed.values.pairs.count, 3);
    assert_string_equal(parsed.values.pairs.items[0].name, "a");
    assert_string_equal(parsed.values.pairs.items[0].value, "1");
    assert_string_equal(parsed.values.pairs.items[1].name, "b");
    assert_string_equal(parsed.values.pairs.items[1].value, "c=d");
    assert_string_equal(parsed.values.pairs.items[2].value, "");
    release(&parsed);
}

static void test_echo_has_one_spelling(void **state)
{
    (void)state;
    struct parsed parsed;
    parse("--threads 8 --fresh -P 1 --pragma a=b file", &parsed);
    static const char *const expected[] = {"--threads=8", "--fresh", "-P=1", "--pragma=a=b",
                                           "file"};
    assert_int_equal(parsed.echo.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(parsed.echo.items[i], expected[i]);
    }
    release(&parsed);
}

static void test_a_dash_alone_and_negative_numbers_are_values(void **state)
{
    (void)state;
    struct parsed parsed;
    parse("--name - --cache -1", &parsed);
    assert_int_equal(parsed.code, OPTIONS_GIVEN);
    assert_string_equal(parsed.values.name, "-");
    assert_int_equal(parsed.values.cache, -1);
    release(&parsed);
    parse("--name=--fresh", &parsed);
    assert_string_equal(parsed.values.name, "--fresh");
    assert_false(parsed.values.fresh);
    release(&parsed);
}

static void test_help_ends_the_parse(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "--threads 2 --help --nonsense"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct parsed parsed;
        parse(lines[i], &parsed);
        assert_int_equal(parsed.code, OPTIONS_HELP);
        release(&parsed);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *message; /* part of it */
    } cases[] = {
        {"--thread 4", "unknown option --thread: did you mean --threads?"},
        {"--thread=4", "unknown option --thread: did you mean --threads?"},
        {"-threads 4", "unknown option -threads: did you mean --threads?"},
        {"--xyzzy", "unknown option --xyzzy"},
        {"-x", "unknown option -x"},
        {"-help", "unknown option -help: did you mean --help?"},
        {"--threads 4 --threads 8", "--threads is given twice, as 4 and as 8"},
        {"--threads=4 --threads=4", "--threads is given twice, as 4 and as 4"},
        {"--fresh --fresh", "--fresh is given twice"},
        {"-P 1 -P 2", "-P is given twice, as 1 and as 2"},
        {"--threads", "--threads needs a value: --threads N"},
        {"--name --fresh", "--name needs a value: --name TEXT"},
        {"--name -P", "--name needs a value"},
        {"-P", "-P needs a value: -P SECONDS"},
        {"--fresh=yes", "--fresh takes no value, found \"yes\""},
        {"--name=", "--name: TEXT is empty"},
        {"--threads 0", "--threads"},
        {"--threads 10001", "--threads"},
        {"--threads 4x", "--threads"},
        {"--threads -1", "--threads"},
        {"--threads 99999999999999999999", "--threads"},
        {"--duration 5x", "--duration"},
        {"--duration 5MiB", "--duration"},
        {"--duration -5", "--duration"},
        {"--duration nan", "--duration"},
        {"--duration 0", "--duration: 0 is outside of"},
        {"--duration 1001", "--duration: 1001 is outside of"},
        {"--timeout abc", "--timeout"},
        {"--cache 5s", "--cache"},
        {"--warmup 3x", "--warmup"},
        {"--warmup 1.5", "--warmup"},
        {"--warmup -3", "--warmup"},
        {"--format cvs", "--format: \"cvs\" is none of table, csv"},
        {"--pragma page_size", "--pragma: \"page_size\" is not of the form NAME=VALUE"},
        {"--pragma =5", "--pragma: \"=5\" is not of the form NAME=VALUE"},
        {"a b", "one FILE is expected, found \"a\" and \"b\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed parsed;
        parse(cases[i].line, &parsed);
        if (parsed.code != ERROR_INVALID ||
            strstr(parsed.error.message, cases[i].message) == NULL) {
            fail_msg("%s: code %d, message \"%s\"", cases[i].line, parsed.code,
                     parsed.error.message);
        }
        release(&parsed);
    }
}

static void test_arguments(void **state)
{
    (void)state;
    struct parsed parsed;
    parse_with(&table_without_argument, "--fresh stray", &parsed);
    assert_int_equal(parsed.code, ERROR_INVALID);
    assert_non_null(strstr(parsed.error.message, "\"stray\""));
    release(&parsed);
    parse_with(&table_with_needed_argument, "--fresh", &parsed);
    assert_int_equal(parsed.code, ERROR_INVALID);
    assert_string_equal(parsed.error.message, "FILE is missing");
    release(&parsed);
    parse_with(&table_with_needed_argument, "--help", &parsed);
    assert_int_equal(parsed.code, OPTIONS_HELP);
    release(&parsed);
}

static void test_help_names_every_option_within_the_width(void **state)
{
    (void)state;
    for (size_t columns = 40; columns <= 120; columns += 20) {
        struct buffer text;
        buffer_init(&text);
        options_help(&table, columns, &text);
        for (size_t i = 0; i < table.count; i++) {
            char label[32];
            snprintf(label, sizeof(label), options[i].name != NULL ? "--%s" : "-%s",
                     options[i].name != NULL ? options[i].name : "P");
            assert_non_null(strstr(text.data, label));
        }
        assert_non_null(strstr(text.data, "Default: "));
        for (const char *line = text.data; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            assert_in_range(length, 1, columns);
            assert_int_not_equal(line[length - 1], ' ');
            line += length + 1;
        }
        buffer_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_go_through_the_parser),
        cmocka_unit_test(test_a_rate_is_a_number_or_a_share),
        cmocka_unit_test(test_both_spellings),
        cmocka_unit_test(test_pairs_repeat),
        cmocka_unit_test(test_echo_has_one_spelling),
        cmocka_unit_test(test_a_dash_alone_and_negative_numbers_are_values),
        cmocka_unit_test(test_help_ends_the_parse),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_help_names_every_option_within_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
