#include "cli/prod_options.h"

#include "base/text.h"
#include "cli/common_options.h"
#include "core/clock.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GRACE_MAX_NS (5 * NS_PER_S)
#define LONGEST_NS COMMON_OPTION_LONGEST_NS

#define FIELD(name) COMMON_OPTION_FIELD(name)

const char *const prod_check_names[] = {"full", "quick", "counts", NULL};

const char *const common_option_busy[] = {"engine", "fine", NULL};

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    COMMON_OPTION_SCALE,
    COMMON_OPTION_THREADS,
    {.name = "duration",
     .kind = OPTION_DURATION,
     FIELD(duration_ns),
     .argument = "SECONDS",
     .min = NS_PER_MS,
     .max = LONGEST_NS,
     .bare_ns = NS_PER_S,
     .fallback = "5",
     .help = "Length of one round, in seconds; or with a suffix: 500ms, 2m."},
    COMMON_OPTION_ROUNDS,
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     FIELD(warmup),
     .argument = "TIME|OPS",
     .fallback = "3s",
     .help = "Work before each round that is not measured: a time with its suffix (3s, 500ms), "
             "or a bare number of operations a connection."},
    COMMON_OPTION_RATE,
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT,
    COMMON_OPTIONS_RUN,
    {.name = "workload",
     .kind = OPTION_TEXT,
     FIELD(workload),
     .argument = "FOLDER",
     .help = "A workload of your own (schema.sql, load.sql, scripts, suite.json) instead of prod."},
    COMMON_OPTION_DIR,
    COMMON_OPTION_FRESH,
    COMMON_OPTION_KEEP,
    {.name = "event-loop",
     .kind = OPTION_SWITCH,
     FIELD(event_loop),
     .help = "After the rounds, each engine whose worker has an event loop also runs one "
             "connection on its main thread, at half of what it can do: how late a timer of 1 ms "
             "is meanwhile, and for engines with promises how several operations at once go."},
    COMMON_OPTIONS_RESULT,
};

const struct option_table prod_option_table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* ---- pragmas ------------------------------------------------------------ */

/* Settings that a flag sets on every connection: two places for one value would disagree. */
static const struct {
    const char *pragma;
    const char *flag;
} flagged[] = {
    {"cache_size", "--cache"},
    {"busy_timeout", "--timeout"},
};

static bool is_identifier(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') {
        return false;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') {
            return false;
        }
    }
    return true;
}

/* 4096, -2000, 0.5, wal, UTF-16le: what needs no quotes on a command line. */
static bool is_plain_value(const char *text)
{
    return text[0] != '\0' &&
           text[strspn(
               text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.")] == '\0';
}

/* Takes one pair of single quotes off, in place. */
static void unquote(char *text)
{
    size_t length = strlen(text);
    if (length >= 2 && text[0] == '\'' && text[length - 1] == '\'') {
        memmove(text, text + 1, length - 2);
        text[length - 2] = '\0';
    }
}

static int check_pragma(const result_pairs *pragmas, size_t index, struct error *error)
{
    const struct result_pair *pragma = &pragmas->items[index];
    if (!is_identifier(pragma->name)) {
        return error_set(error, ERROR_INVALID,
                         "--pragma: \"%s\" is no name of a setting: letters, digits and _ only",
                         pragma->name);
    }
    for (size_t i = 0; i < sizeof(flagged) / sizeof(flagged[0]); i++) {
        if (strcasecmp(pragma->name, flagged[i].pragma) == 0) {
            return error_set(error, ERROR_INVALID, "--pragma %s=%s: use %s for this setting",
                             pragma->name, pragma->value, flagged[i].flag);
        }
    }
    for (size_t i = 0; i < index; i++) {
        if (strcasecmp(pragma->name, pragmas->items[i].name) == 0) {
            return error_set(error, ERROR_INVALID, "--pragma %s is given twice, as %s and as %s",
                             pragma->name, pragmas->items[i].value, pragma->value);
        }
    }
    unquote(pragma->value);
    if (!is_plain_value(pragma->value)) {
        return error_set(error, ERROR_INVALID,
                         "--pragma %s: \"%s\" is no value of a setting: a number or a word, such "
                         "as 4096 or wal",
                         pragma->name, pragma->value);
    }
    return 0;
}

int prod_options_check(struct prod_options *given, struct error *error)
{
    if (given->timeout_ns % NS_PER_MS != 0) {
        return error_set(error, ERROR_INVALID,
                         "--timeout: engines wait whole milliseconds; found a part of one");
    }
    for (size_t i = 0; i < given->pragmas.count; i++) {
        int code = check_pragma(&given->pragmas, i, error);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

/* ---- plan --------------------------------------------------------------- */

static int unknown_scale(const struct suite *suite, const char *name, struct error *error)
{
    struct buffer known;
    buffer_init(&known);
    const char **names = calloc(suite->scale_count + 1, sizeof(*names));
    for (size_t i = 0; i < suite->scale_count; i++) {
        buffer_printf(&known, "%s%s", i > 0 ? ", " : "", suite->scales[i].name);
        if (names != NULL) {
            names[i] = suite->scales[i].name;
        }
    }
    const char *nearest = names != NULL ? text_nearest(name, names) : NULL;
    int code = error_set(error, ERROR_INVALID, "--scale: %s has no scale \"%s\"%s%s%s; it has %s",
                         suite->name, name, nearest != NULL ? " (did you mean " : "",
                         nearest != NULL ? nearest : "", nearest != NULL ? "?)" : "", known.data);
    free(names);
    buffer_release(&known);
    return code;
}

int prod_options_scale(const struct suite *suite, const char *name, const struct suite_scale **out,
                       struct error *error)
{
    /* A suite has at least one scale; the first is the default. */
    *out = name != NULL ? suite_find_scale(suite, name) : &suite->scales[0];
    return *out != NULL ? 0 : unknown_scale(suite, name, error);
}

static int choose_scenario(const struct suite *suite, const struct suite_scenario **out,
                           struct error *error)
{
    if (suite->scenario_count == 1) {
        *out = &suite->scenarios[0];
        return 0;
    }
    return error_set(error, ERROR_INVALID,
                     "workload %s has %zu scenarios; prod measures a workload with exactly one",
                     suite->name, suite->scenario_count);
}

const char *prod_options_data_folder(const struct prod_options *given)
{
    const char *variable = getenv("BENCH_DATA_DIR");
    if (given->dir != NULL) {
        return given->dir;
    }
    return variable != NULL && variable[0] != '\0' ? variable : "data";
}

static enum plan_check check_of(const struct prod_options *given)
{
    return given->check == NULL                 ? PLAN_CHECK_ENDS
           : strcmp(given->check, "full") == 0  ? PLAN_CHECK_FULL
           : strcmp(given->check, "quick") == 0 ? PLAN_CHECK_QUICK
                                                : PLAN_CHECK_COUNTS;
}

static uint64_t grace_of(const struct prod_options *given)
{
    if (given->grace_ns != OPTION_ABSENT) {
        return given->grace_ns;
    }
    return given->timeout_ns < GRACE_MAX_NS ? given->timeout_ns : GRACE_MAX_NS;
}

void prod_options_fill(const struct prod_options *given, struct plan *plan)
{
    *plan = (struct plan){
        .data_folder = prod_options_data_folder(given),
        .cache_size = given->cache_size,
        .busy_timeout_ms = (uint32_t)(given->timeout_ns / NS_PER_MS),
        .grace_ns = grace_of(given),
        .latency_limit_ns = given->latency_limit_ns,
        .max_tries = (uint32_t)given->max_tries,
        .rounds = (uint32_t)given->rounds,
        .seed = (uint32_t)given->seed,
        .pragmas = &given->pragmas,
        .check = check_of(given),
        .fresh = given->fresh,
        .keep = given->keep,
        .event_loop = given->event_loop,
    };
}

int prod_options_case(const struct prod_options *given, const struct suite *suite,
                      struct plan_case *plan_case, struct error *error)
{
    *plan_case = (struct plan_case){
        .label = suite->name,
        .suite = suite,
        .threads = (uint32_t)given->threads,
        .duration_ns = given->duration_ns,
        .operations = UINT64_MAX,
        .warmup_ns = given->warmup.ns,
        .warmup_operations = given->warmup.operations,
        .rate = given->rate.per_second,
        .rate_share = given->rate.share,
    };
    int code = prod_options_scale(suite, given->scale, &plan_case->scale, error);
    return code != 0 ? code : choose_scenario(suite, &plan_case->scenario, error);
}

int prod_options_plan(const struct prod_options *given, const struct suite *suite,
                      struct plan *plan, struct plan_case *plan_case, struct error *error)
{
    prod_options_fill(given, plan);
    int code = prod_options_case(given, suite, plan_case, error);
    plan_case->plan = plan;
    plan->cases = plan_case;
    plan->case_count = 1;
    return code;
}
