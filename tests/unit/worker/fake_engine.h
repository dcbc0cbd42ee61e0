/* An engine whose answers a test writes down, one status after the other. Everything is static,
 * since each test program is one file. */
#ifndef PITOT_TESTS_FAKE_ENGINE_H
#define PITOT_TESTS_FAKE_ENGINE_H

#include "engine/engine.h"

#include <string.h>

enum { FAKE_VALUES = 4096 };

/* What it answers, and what it was asked. */
static struct {
    enum engine_status runs[64]; /* in order; the rest is ENGINE_OK */
    enum engine_status begin, commit, rollback;
    const char *text;
    int code;
    struct engine_effect effect; /* of each run that is ok */
    atomic_bool *flag;           /* set during run number flag_at */
    int flag_at;
    uint32_t parameters; /* that every statement counts */
    int rows[64];        /* that run gives to a sink: 1, 2, … in order; negative: backwards */

    int ran, begun, committed, rolled_back, finalized;
    int64_t values[FAKE_VALUES]; /* first value of each run */
} fake;

static inline void fake_reset(void)
{
    memset(&fake, 0, sizeof(fake));
    fake.text = "";
    fake.flag_at = -1;
}

struct engine_connection {
    char unused;
};
struct engine_statement {
    char unused;
};
static struct engine_connection fake_connection;
static struct engine_statement fake_statement;

static enum engine_status fake_prepare(struct engine_connection *connection, const char *sql,
                                       struct engine_statement **out)
{
    (void)connection;
    *out = &fake_statement;
    return strcmp(sql, "wrong") == 0 ? ENGINE_FAILED : ENGINE_OK;
}

static void fake_finalize(struct engine_statement *statement)
{
    (void)statement;
    fake.finalized++;
}

static uint32_t fake_parameter_count(const struct engine_statement *statement)
{
    (void)statement;
    return fake.parameters;
}

static enum engine_status fake_run(struct engine_statement *statement, const struct value *values,
                                   uint32_t count, bool one, struct engine_effect *effect,
                                   const struct engine_sink *sink)
{
    (void)statement;
    (void)one;
    int number = fake.ran++;
    int rows = sink != NULL && number < 64 ? fake.rows[number] : 0;
    for (int i = 0; i < (rows < 0 ? -rows : rows); i++) {
        struct value row = {.type = VALUE_INTEGER, .integer = rows < 0 ? -rows - i : i + 1};
        if (sink->row(sink->context, &row, 1) != 0) {
            return ENGINE_FAILED;
        }
    }
    if (number < FAKE_VALUES && count > 0) {
        fake.values[number] = values[0].integer;
    }
    if (number == fake.flag_at) {
        atomic_store(fake.flag, true);
    }
    enum engine_status status = number < 64 ? fake.runs[number] : ENGINE_OK;
    if (status == ENGINE_OK) {
        effect->rows_read += fake.effect.rows_read;
        effect->rows_changed += fake.effect.rows_changed;
    }
    return status;
}

static enum engine_status fake_begin(struct engine_connection *connection, bool write)
{
    (void)connection;
    (void)write;
    fake.begun++;
    return fake.begin;
}

static enum engine_status fake_commit(struct engine_connection *connection)
{
    (void)connection;
    fake.committed++;
    return fake.commit;
}

static enum engine_status fake_rollback(struct engine_connection *connection)
{
    (void)connection;
    fake.rolled_back++;
    return fake.rollback;
}

static const char *fake_error_text(struct engine_connection *connection, int *code)
{
    (void)connection;
    *code = fake.code;
    return fake.text;
}

static const struct engine_ops fake_ops = {
    .driver = "fake",
    .abi_version = ENGINE_ABI_VERSION,
    .prepare = fake_prepare,
    .finalize = fake_finalize,
    .parameter_count = fake_parameter_count,
    .run = fake_run,
    .begin = fake_begin,
    .commit = fake_commit,
    .rollback = fake_rollback,
    .error_text = fake_error_text,
};

#endif
