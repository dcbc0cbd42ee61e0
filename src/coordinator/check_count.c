/* How many rows each table must have after a run: arithmetic, no worker. */
#include "coordinator/check.h"

#include "core/error.h"
#include "script/effect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void row_counts_release(row_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++) {
        free(counts->items[i].table);
    }
    free(counts->items);
    counts->items = NULL;
    counts->count = 0;
}

const char *check_kind(const struct plan *plan, uint64_t round)
{
    switch (plan->check) {
    case PLAN_CHECK_FULL:
        return "full";
    case PLAN_CHECK_QUICK:
        return "quick";
    case PLAN_CHECK_COUNTS:
        return "counts";
    case PLAN_CHECK_ENDS:
        break;
    }
    return round == 1 || round == plan->rounds ? "full" : "counts";
}

/* What the statements did to one table. */
struct balance {
    uint64_t inserted, deleted;
    const char *why; /* it cannot be told; NULL: it can */
};

struct balances {
    const row_counts *before;
    struct balance *items; /* by table of `before` */
};

static void add_unknown(struct balances *balances, const char *table, const char *why)
{
    for (size_t i = 0; i < balances->before->count; i++) {
        struct balance *balance = &balances->items[i];
        bool here = table == NULL || effect_same_table(table, balances->before->items[i].table);
        if (here && balance->why == NULL) {
            balance->why = why;
        }
    }
}

static int add_statement(struct balances *balances, const char *sql, uint64_t rows)
{
    struct effect effect;
    int status = effect_of_statement(sql, &effect);
    if (status == 0 && (effect.kind == EFFECT_UNKNOWN || effect.kind == EFFECT_ANY)) {
        add_unknown(balances, effect.table, effect.why);
    }
    for (size_t i = 0; status == 0 && effect.table != NULL && i < balances->before->count; i++) {
        if (effect_same_table(effect.table, balances->before->items[i].table)) {
            balances->items[i].inserted += effect.kind == EFFECT_INSERT ? rows : 0;
            balances->items[i].deleted += effect.kind == EFFECT_DELETE ? rows : 0;
        }
    }
    effect_release(&effect);
    return status;
}

static const struct script *find_script(const struct suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->script_count; i++) {
        if (strcmp(suite->scripts[i].name, name) == 0) {
            return suite->scripts[i].script;
        }
    }
    return NULL;
}

static const char *why_of_schema(const struct suite *suite)
{
    const char *why = effect_of_schema(suite->schema, suite->schema_length);
    for (uint32_t i = 0; why == NULL && i < suite->load->statement_count; i++) {
        const char *sql = suite->load->statements[i].sql;
        why = effect_of_schema(sql, strlen(sql));
    }
    return why;
}

static int balance_run(const struct plan_case *plan_case, const struct result_run *run,
                       struct balances *balances)
{
    const char *why = why_of_schema(plan_case->suite);
    if (why != NULL) {
        add_unknown(balances, NULL, why);
    }
    int status = 0;
    for (size_t i = 0; i < run->scripts.count && status == 0; i++) {
        const struct result_script *counted = &run->scripts.items[i];
        const struct script *script = find_script(plan_case->suite, counted->script);
        for (size_t k = 0; script != NULL && k < counted->acknowledged.count && status == 0; k++) {
            status =
                add_statement(balances, script->statements[k].sql, counted->acknowledged.items[k]);
        }
    }
    return status;
}

static uint64_t rows_of(const row_counts *counts, const char *table)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (effect_same_table(counts->items[i].table, table)) {
            return counts->items[i].rows;
        }
    }
    return RESULT_ABSENT;
}

static int add_count(const struct row_count *before, const struct balance *balance, uint64_t found,
                     struct result_check *check)
{
    struct result_table_count *count = result_list_add(&check->counts);
    if (count == NULL || (count->table = strdup(before->table)) == NULL) {
        return ERROR_MEMORY;
    }
    uint64_t most = before->rows + balance->inserted;
    count->found = found;
    count->expected = RESULT_ABSENT;
    if (balance->why == NULL) {
        /* More deletes than rows is an account that cannot be: nothing should be left. */
        count->expected = most > balance->deleted ? most - balance->deleted : 0;
    } else if ((count->unchecked = strdup(balance->why)) == NULL) {
        return ERROR_MEMORY;
    }
    return 0;
}

int check_count(const struct plan_case *plan_case, const row_counts *before,
                const row_counts *after, const struct result_run *run, struct result_check *check)
{
    struct balances balances = {before, calloc(before->count + 1, sizeof *balances.items)};
    int status = balances.items != NULL ? balance_run(plan_case, run, &balances) : ERROR_MEMORY;
    for (size_t i = 0; i < before->count && status == 0; i++) {
        status = add_count(&before->items[i], &balances.items[i],
                           rows_of(after, before->items[i].table), check);
    }
    free(balances.items);
    return status;
}

/* NULL: nothing is wrong, or out of memory (*status). */
static char *count_problem(const struct result_table_count *count, int *status)
{
    char *text = NULL;
    if (count->expected == RESULT_ABSENT || count->expected == count->found) {
        return NULL;
    }
    if (count->found == RESULT_ABSENT) {
        text = result_text("table %s is gone", count->table);
    } else {
        bool fewer = count->found < count->expected;
        uint64_t rows = fewer ? count->expected - count->found : count->found - count->expected;
        text = result_text("%s has %" PRIu64 " row%s %s than were acknowledged (expected %" PRIu64
                           ", found %" PRIu64 ")",
                           count->table, rows, rows == 1 ? "" : "s", fewer ? "fewer" : "more",
                           count->expected, count->found);
    }
    *status = text != NULL ? 0 : ERROR_MEMORY;
    return text;
}

int check_judge(struct result_check *check)
{
    int status = 0;
    for (size_t i = 0; i < check->counts.count && check->problem == NULL && status == 0; i++) {
        check->problem = count_problem(&check->counts.items[i], &status);
    }
    if (status != 0 || check->problem != NULL || check->kind == NULL ||
        strcmp(check->kind, "counts") == 0) {
        return status;
    }
    if (check->integrity.count == 1 && strcasecmp(check->integrity.items[0], "ok") == 0) {
        return 0;
    }
    check->problem =
        result_text("the %s integrity check says: %s", check->kind,
                    check->integrity.count > 0 ? check->integrity.items[0] : "nothing at all");
    return check->problem != NULL ? 0 : ERROR_MEMORY;
}

/* A table of which the two count different rows, although neither finds anything wrong: how many
 * there must be is not known. NULL: none, or out of memory (*status). */
static char *other_count(const struct result_check *check, const struct result_check *second,
                         const char *other, int *status)
{
    for (size_t i = 0; i < check->counts.count && i < second->counts.count; i++) {
        const struct result_table_count *a = &check->counts.items[i];
        const struct result_table_count *b = &second->counts.items[i];
        if (a->found != b->found) {
            char *text = result_text("its %s has %" PRIu64 " rows, and %" PRIu64 " rows for %s",
                                     a->table, a->found, b->found, other);
            *status = text != NULL ? 0 : ERROR_MEMORY;
            return text;
        }
    }
    return NULL;
}

int check_compare(struct result_check *check, const struct result_check *second, const char *other)
{
    int status = 0;
    char *text = NULL;
    const char *a = check->problem;
    const char *b = second->problem;
    if (a == NULL && b == NULL) {
        text = other_count(check, second, other, &status);
        if (text == NULL) {
            return status;
        }
    } else if (a == NULL) {
        text = result_text("it finds nothing wrong, and %s finds this: %s", other, b);
    } else if (b == NULL) {
        text = result_text("%s; %s finds nothing wrong", a, other);
    } else if (strcmp(a, b) == 0) {
        text = result_text("%s; %s finds the same", a, other);
    } else {
        text = result_text("%s; %s finds this: %s", a, other, b);
    }
    if (text == NULL) {
        return ERROR_MEMORY;
    }
    free(check->problem);
    check->problem = text;
    return 0;
}
