/* The turso driver: what becomes of an execution, waiting for locks and for input and output,
 * interrupts, transactions, settings. */
#include "turso_test.h"

/* ---- outcomes -------------------------------------------------------------------------- */

static int next_code;
static const char *next_text;

static int set_up(void **state)
{
    next_code = TURSO_DONE;
    next_text = NULL;
    return setup(state);
}

static int answer_next(const char *sql, unsigned steps, const char **text)
{
    (void)sql;
    (void)steps;
    *text = next_text;
    return next_code;
}

static void test_codes(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *text;
        enum engine_status status;
        const char *expected; /* NULL: the text */
    } cases[] = {
        {TURSO_DONE, NULL, ENGINE_OK, NULL},
        {TURSO_BUSY, "database is locked", ENGINE_BUSY, NULL},
        {TURSO_BUSY_SNAPSHOT, "database snapshot is stale", ENGINE_CONFLICT, NULL},
        {TURSO_ERROR, "Write-write conflict", ENGINE_CONFLICT, NULL},
        {TURSO_ERROR, "Commit dependency aborted", ENGINE_CONFLICT, NULL},
        {TURSO_ERROR, "Conflict: somebody was there", ENGINE_CONFLICT, NULL},
        {TURSO_ERROR, "Database schema conflict", ENGINE_CONFLICT, NULL},
        {TURSO_ERROR, "no such table: Conflict: ", ENGINE_FAILED, NULL},
        {TURSO_ERROR, NULL, ENGINE_FAILED, "ERROR without a message"},
        {TURSO_INTERRUPT, "interrupted", ENGINE_FAILED, NULL},
        {TURSO_MISUSE, "misused", ENGINE_FAILED, NULL},
        {TURSO_CONSTRAINT, "UNIQUE constraint failed: t.id", ENGINE_FAILED, NULL},
        {TURSO_READONLY, "database is readonly", ENGINE_FAILED, NULL},
        {TURSO_DATABASE_FULL, "database or disk is full", ENGINE_FAILED, NULL},
        {TURSO_NOTADB, "file is not a database", ENGINE_FAILED, NULL},
        {TURSO_CORRUPT, "Corrupt database: page 3", ENGINE_FAILED, NULL},
        {TURSO_IOERR, "I/O error (pwrite): no space", ENGINE_FAILED, NULL},
        {TURSO_IOERR, "", ENGINE_FAILED, "IOERR without a message"},
        {TURSO_OK, NULL, ENGINE_FAILED, "OK without a message"},
        {99, NULL, ENGINE_FAILED, "a code that turso.h does not have without a message"},
    };
    open_with("0", 1000);
    struct engine_statement *statement = prepare("UPDATE t SET a = 1");
    fake->step = answer_next;
    fake->n_change = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct engine_effect effect;
        next_code = cases[i].code;
        next_text = cases[i].text;
        assert_int_equal(run(statement, false, &effect), cases[i].status);
        assert_int_equal(effect.rows_changed, cases[i].status == ENGINE_OK);
        if (cases[i].status != ENGINE_OK) {
            expect_error(cases[i].code,
                         cases[i].expected != NULL ? cases[i].expected : cases[i].text);
        }
        assert_int_equal(fake->resets, i + 1); /* always, also after an error */
        /* Begin, commit and scripts of several statements tell the same. */
        assert_int_equal(engine_turso.begin(connection, true), cases[i].status);
        assert_int_equal(engine_turso.commit(connection), cases[i].status);
        assert_int_equal(engine_turso.exec(connection, "PRAGMA x"), cases[i].status);
        fake->resets -= 3;
    }
    engine_turso.finalize(statement);
    close_all();
}

static void test_failed_reset(void **state)
{
    (void)state;
    open_with("0", 0);
    struct engine_statement *statement = prepare("DELETE FROM t");
    struct engine_effect effect;
    fake->n_change = 4;
    fake->reset_code = TURSO_IOERR;
    assert_int_equal(run(statement, false, &effect), ENGINE_FAILED);
    expect_error(TURSO_IOERR, "no way back");
    assert_int_equal(effect.rows_changed, 0);
    /* The first failure is the one that is told. */
    fake->step = answer_next;
    next_code = TURSO_CONSTRAINT;
    next_text = "UNIQUE";
    assert_int_equal(run(statement, false, &effect), ENGINE_FAILED);
    expect_error(TURSO_CONSTRAINT, "UNIQUE");
    fake->reset_code = 0;
    engine_turso.finalize(statement);
    close_all();
}

/* ---- input and output, waiting ----------------------------------------------------------- */

static unsigned ios, busies;

/* Input and output first, then a lock that others hold, then the end. */
static int io_and_busy(const char *sql, unsigned steps, const char **text)
{
    if (strncmp(sql, "UPDATE", 6) != 0) {
        return FAKE_DEFAULT;
    }
    if (steps <= ios) {
        return TURSO_IO;
    }
    *text = steps <= ios + busies ? "database is locked" : NULL;
    return steps <= ios + busies ? TURSO_BUSY : TURSO_DONE;
}

static void test_async_io(void **state)
{
    (void)state;
    open_with("1", 10000);
    struct engine_statement *statement = prepare("UPDATE t SET a = 1");
    struct engine_effect effect;
    fake->step = io_and_busy;
    ios = 100;
    busies = 0;
    assert_int_equal(run(statement, false, &effect), ENGINE_OK);
    assert_int_equal(fake->run_ios, 100);
    assert_int_equal(engine_turso.waits(connection).count, 0);
    fake->run_io_code = TURSO_IOERR;
    assert_int_equal(run(statement, false, &effect), ENGINE_FAILED);
    expect_error(TURSO_IOERR, "no disk");
    engine_turso.finalize(statement);
    close_all();
}

static void test_counted_waits(void **state)
{
    (void)state;
    open_with("1", 10000);
    struct engine_statement *statement = prepare("UPDATE t SET a = 1");
    struct engine_effect effect;
    fake->step = io_and_busy;
    ios = 2;
    busies = 3;
    assert_int_equal(run(statement, false, &effect), ENGINE_OK);
    struct engine_waits waits = engine_turso.waits(connection);
    assert_int_equal(waits.count, 3);
    assert_false(waits.incomplete);
    assert_true(waits.slept_ns >= (1 + 2 + 5) * UINT64_C(1000000));
    assert_int_equal(fake->resets, 1); /* the statement goes on, it does not begin anew */
    engine_turso.finalize(statement);
    close_all();
}

static void test_timeout(void **state)
{
    (void)state;
    open_with("1", 4); /* sleeps of 1, 2 and 1 ms */
    struct engine_statement *statement = prepare("UPDATE t SET a = 1");
    struct engine_effect effect;
    fake->step = io_and_busy;
    ios = 0;
    busies = 1000;
    assert_int_equal(run(statement, false, &effect), ENGINE_BUSY);
    expect_error(TURSO_BUSY, "database is locked");
    assert_int_equal(engine_turso.waits(connection).count, 3);
    engine_turso.finalize(statement);
    close_all();

    open_with("0", 10000); /* the library has waited already */
    statement = prepare("UPDATE t SET a = 1");
    assert_int_equal(run(statement, false, &effect), ENGINE_BUSY);
    assert_int_equal(engine_turso.waits(connection).count, 0);
    engine_turso.finalize(statement);
    close_all();
}

static void test_who_waits(void **state)
{
    (void)state;
    char value[16];
    open_with("1", 700);
    assert_int_equal(engine_turso.setting_set(connection, "busy_timeout", "900", NULL), 0);
    assert_string_equal(fake->calls, "timeout 0\n"); /* so that it says BUSY */
    assert_int_equal(
        engine_turso.setting_get(connection, "busy_timeout", value, sizeof value, NULL), 0);
    assert_string_equal(value, "900");
    close_all();
    open_with("0", 700);
    assert_int_equal(engine_turso.setting_set(connection, "busy_timeout", "900", NULL), 0);
    assert_string_equal(fake->calls, "timeout 900\n");
    /* The same once more would only make it prepare everything anew. */
    assert_int_equal(engine_turso.setting_set(connection, "busy_timeout", "900", NULL), 0);
    assert_string_equal(fake->calls, "timeout 900\n");
    close_all();
}

/* ---- interrupts ---------------------------------------------------------------------------- */

static int interrupt_then(const char *sql, unsigned steps, const char **text)
{
    (void)sql;
    (void)steps;
    *text = next_code == TURSO_BUSY ? "database is locked" : NULL;
    engine_turso.interrupt(connection);
    return next_code;
}

static void test_interrupt(void **state)
{
    (void)state;
    open_with("1", 10000);
    struct engine_statement *statement = prepare("SELECT * FROM t");
    struct engine_statement *other = NULL;
    struct engine_effect effect;
    static const int codes[] = {TURSO_IO, TURSO_BUSY, TURSO_ROW};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        fake->step = interrupt_then;
        next_code = codes[i];
        assert_int_equal(run(statement, false, &effect), ENGINE_INTERRUPTED);
        fake->step = NULL;
        /* Everything ends so until the rollback. */
        assert_int_equal(run(statement, false, &effect), ENGINE_INTERRUPTED);
        assert_int_equal(engine_turso.begin(connection, false), ENGINE_INTERRUPTED);
        assert_int_equal(engine_turso.commit(connection), ENGINE_INTERRUPTED);
        assert_int_equal(engine_turso.exec(connection, "SELECT 1"), ENGINE_INTERRUPTED);
        assert_int_equal(engine_turso.prepare(connection, "SELECT 1", &other), ENGINE_INTERRUPTED);
        assert_int_equal(engine_turso.rollback(connection), ENGINE_OK);
        assert_int_equal(run(statement, false, &effect), ENGINE_OK);
    }
    assert_int_equal(engine_turso.waits(connection).count, 0);
    engine_turso.finalize(statement);
    close_all();
}

/* ---- transactions ------------------------------------------------------------------------ */

/* BEGIN, COMMIT and ROLLBACK do what they say; a statement is answered by the test. */
static int transact(const char *sql, unsigned steps, const char **text)
{
    (void)steps;
    if (strncmp(sql, "BEGIN", 5) == 0) {
        fake->in_transaction = true;
        return TURSO_DONE;
    }
    if (strcmp(sql, "ROLLBACK") == 0) {
        fake->in_transaction = false;
        return TURSO_DONE;
    }
    if (strcmp(sql, "COMMIT") == 0) {
        *text = next_text;
        fake->in_transaction = next_code != TURSO_DONE;
        return next_code;
    }
    return FAKE_DEFAULT;
}

static void test_transactions(void **state)
{
    (void)state;
    open_with("0", 0);
    fake->step = transact;
    next_code = TURSO_DONE;
    assert_int_equal(engine_turso.begin(connection, true), ENGINE_OK);
    assert_int_equal(engine_turso.commit(connection), ENGINE_OK);
    assert_int_equal(engine_turso.begin(connection, false), ENGINE_OK);
    assert_int_equal(engine_turso.rollback(connection), ENGINE_OK);
    assert_int_equal(engine_turso.rollback(connection), ENGINE_OK); /* none is open */
    assert_string_equal(fake->calls, "step BEGIN IMMEDIATE\nstep COMMIT\nstep BEGIN\n"
                                     "step ROLLBACK\n");
    /* A write in autocommit stays one statement. */
    struct engine_statement *statement = prepare("DELETE FROM t");
    struct engine_effect effect;
    fake->calls[0] = '\0';
    assert_int_equal(run(statement, false, &effect), ENGINE_OK);
    assert_string_equal(fake->calls, "step DELETE FROM t\n");
    engine_turso.finalize(statement);
    close_all();
}

static void open_mvcc(void)
{
    open_with("0", 0);
    strcpy(fake->journal_mode, "mvcc");
    assert_int_equal(engine_turso.setting_set(connection, "journal_mode", "mvcc", NULL), 0);
    fake->step = transact;
    next_code = TURSO_DONE;
    fake->calls[0] = '\0';
}

static void test_mvcc(void **state)
{
    (void)state;
    char mode[16];
    open_mvcc();
    assert_int_equal(engine_turso.setting_get(connection, "journal_mode", mode, sizeof mode, NULL),
                     0);
    assert_string_equal(mode, "mvcc");
    assert_true(engine_turso.waits(connection).incomplete); /* commits yield, uncounted */
    struct engine_statement *write = prepare("DELETE FROM t");
    struct engine_statement *read = prepare("SELECT 1");
    struct engine_statement *other = prepare("PRAGMA x");
    struct engine_effect effect;
    fake->n_change = 2;
    fake->calls[0] = '\0';
    /* A single write runs in a transaction, anything else does not. */
    assert_int_equal(run(write, false, &effect), ENGINE_OK);
    assert_int_equal(effect.rows_changed, 2);
    assert_int_equal(run(read, false, &effect), ENGINE_OK);
    assert_int_equal(run(other, false, &effect), ENGINE_OK);
    assert_string_equal(fake->calls, "step BEGIN CONCURRENT\nstep DELETE FROM t\nstep COMMIT\n"
                                     "step SELECT 1\nstep PRAGMA x\n");
    /* Inside of a transaction it is one statement of it. */
    fake->calls[0] = '\0';
    assert_int_equal(engine_turso.begin(connection, true), ENGINE_OK);
    assert_int_equal(run(write, false, &effect), ENGINE_OK);
    assert_int_equal(engine_turso.commit(connection), ENGINE_OK);
    assert_string_equal(fake->calls, "step BEGIN CONCURRENT\nstep DELETE FROM t\nstep COMMIT\n");
    engine_turso.finalize(write);
    engine_turso.finalize(read);
    engine_turso.finalize(other);
    close_all();
}

static void test_mvcc_conflict(void **state)
{
    (void)state;
    open_mvcc();
    struct engine_statement *statement = prepare("DELETE FROM t");
    struct engine_effect effect;
    fake->n_change = 2;
    next_code = TURSO_ERROR;
    next_text = "Write-write conflict";
    fake->calls[0] = '\0';
    assert_int_equal(run(statement, false, &effect), ENGINE_CONFLICT);
    /* Nothing is acknowledged, no transaction stays open, and the text is that of the conflict. */
    assert_int_equal(effect.rows_changed, 0);
    assert_false(fake->in_transaction);
    expect_error(TURSO_ERROR, "Write-write conflict");
    assert_string_equal(fake->calls, "step BEGIN CONCURRENT\nstep DELETE FROM t\nstep COMMIT\n"
                                     "step ROLLBACK\n");
    engine_turso.finalize(statement);
    close_all();
}

/* ---- settings ------------------------------------------------------------------------------ */

static int answer_pragma(const char *sql, unsigned steps, const char **text)
{
    if (strcmp(sql, "PRAGMA nothing") == 0) {
        return TURSO_DONE;
    }
    if (strcmp(sql, "PRAGMA broken") == 0 || strcmp(sql, "PRAGMA broken=1") == 0) {
        *text = "no such thing";
        return TURSO_ERROR;
    }
    return steps == 1 ? TURSO_ROW : TURSO_DONE;
}

static void test_settings(void **state)
{
    (void)state;
    char value[9];
    struct error error = ERROR_INIT;
    open_with("0", 0);
    fake->step = answer_pragma;
    fake->columns = 1;
    fake->row[0] = (struct value){.type = VALUE_INTEGER, .integer = -2000};
    assert_int_equal(engine_turso.setting_get(connection, "cache_size", value, 8, NULL), 0);
    assert_string_equal(value, "-2000");
    fake->row[0] = (struct value){.type = VALUE_DOUBLE, .real = 0.5};
    assert_int_equal(engine_turso.setting_get(connection, "cache_size", value, 8, NULL), 0);
    assert_string_equal(value, "0.5");
    fake->row[0] = (struct value){.type = VALUE_TEXT, .bytes = "12345678", .length = 8};
    assert_int_equal(engine_turso.setting_get(connection, "cache_size", value, 8, NULL),
                     ERROR_ENGINE);
    assert_int_equal(engine_turso.setting_get(connection, "cache_size", value, 9, NULL), 0);
    fake->row[0] = (struct value){.type = VALUE_NULL};
    assert_int_equal(engine_turso.setting_get(connection, "cache_size", value, 8, NULL), 1);
    assert_int_equal(engine_turso.setting_get(connection, "nothing", value, 8, NULL), 1);
    assert_int_equal(engine_turso.setting_get(connection, "broken", value, 8, &error),
                     ERROR_ENGINE);
    assert_string_equal(error.message, "broken could not be read: no such thing (code 127)");
    error = (struct error)ERROR_INIT;
    assert_int_equal(engine_turso.setting_set(connection, "broken", "1", &error), ERROR_ENGINE);
    assert_string_equal(error.message, "broken could not be set to 1: no such thing (code 127)");
    fake->calls[0] = '\0';
    assert_int_equal(engine_turso.setting_set(connection, "a", "it's", NULL), 0);
    assert_string_equal(fake->calls, "prepare PRAGMA a='it''s'\nstep PRAGMA a='it''s'\n"
                                     "step PRAGMA a='it''s'\n");
    assert_int_equal(engine_turso.setting_set(connection, "a b", "1", NULL), ERROR_INVALID);
    assert_int_equal(engine_turso.setting_get(connection, "a;b", value, 8, NULL), ERROR_INVALID);
    assert_int_equal(engine_turso.setting_set(connection, "busy_timeout", "soon", NULL),
                     ERROR_INVALID);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_codes, set_up),
        cmocka_unit_test_setup(test_failed_reset, set_up),
        cmocka_unit_test_setup(test_async_io, set_up),
        cmocka_unit_test_setup(test_counted_waits, set_up),
        cmocka_unit_test_setup(test_timeout, set_up),
        cmocka_unit_test_setup(test_who_waits, set_up),
        cmocka_unit_test_setup(test_interrupt, set_up),
        cmocka_unit_test_setup(test_transactions, set_up),
        cmocka_unit_test_setup(test_mvcc, set_up),
        cmocka_unit_test_setup(test_mvcc_conflict, set_up),
        cmocka_unit_test_setup(test_settings, set_up),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
