/* The turso driver: loading the library, opening, statements and their rows. */
#include "turso_test.h"

#include <fcntl.h>
#include <sys/wait.h>

static void expect_load_error(const char *library, const char *name, const char *value,
                              enum error_code code, const char *text)
{
    const struct engine_option option = {name, value};
    struct error error = ERROR_INIT;
    assert_int_equal(load(library, &option, name != NULL, &error), code);
    if (strstr(error.message, text) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", error.message, text);
    }
    assert_int_equal(fake->databases + fake->connections + fake->statements + fake->strings, 0);
}

/* ---- load ------------------------------------------------------------------------------ */

static void test_load_errors(void **state)
{
    (void)state;
    expect_load_error(NULL, NULL, NULL, ERROR_INVALID, "names no library for driver turso");
    expect_load_error("/nowhere/libturso.so", NULL, NULL, ERROR_ENGINE, "/nowhere/libturso.so");
    expect_load_error(TEST_SOURCE_DIR "/README.md", NULL, NULL, ERROR_ENGINE,
                      "cannot be opened as a library");
    expect_load_error(FAKE_WITHOUT_RUN_IO, NULL, NULL, ERROR_ENGINE,
                      "has no function turso_statement_run_io: a library with Turso's C ABI");
    expect_load_error(FAKE, "speed", "11", ERROR_INVALID,
                      "no option 'speed': driver turso has version, vfs and async_io");
    expect_load_error(FAKE, "async_io", "yes", ERROR_INVALID, "'yes': 0 or 1 was expected");
    expect_load_error(FAKE, "version", "0.8.4", ERROR_ENGINE,
                      "is Turso 0.8.3 (its C ABI says 0.8.3), and version 0.8.4 was named");
    /* The C ABI is what was named, the engine under it is not. */
    strcpy(fake->version, "0.8.2");
    expect_load_error(FAKE, "version", "0.8.3", ERROR_ENGINE,
                      "is Turso 0.8.2 (its C ABI says 0.8.3), and version 0.8.3 was named");
}

static int refuse_version(const char *sql, unsigned steps, const char **text)
{
    (void)steps;
    *text = "no such function";
    return strstr(sql, "turso_version") != NULL ? TURSO_ERROR : FAKE_DEFAULT;
}

static void test_no_version(void **state)
{
    (void)state;
    fake->step = refuse_version;
    expect_load_error(FAKE, NULL, NULL, ERROR_ENGINE, "gave no such function (code 127)");
    fake->step = NULL;
    fake->connect_code = TURSO_IOERR;
    expect_load_error(FAKE, NULL, NULL, ERROR_ENGINE, "no line (134)");
}

static void test_identity(void **state)
{
    (void)state;
    const struct engine_option options[] = {
        {"version", "0.8.3"}, {"vfs", "io_uring"}, {"async_io", "1"}};
    assert_int_equal(load(FAKE, options, 3, NULL), 0);
    assert_string_equal(identity->version, "0.8.3");
    assert_string_equal(identity->library, FAKE);
    assert_int_equal(identity->warning_count, 0);
    assert_int_equal(identity->compile_option_count, 2);
    assert_string_equal(identity->compile_options[0], "async_io=1");
    assert_string_equal(identity->compile_options[1], "vfs=io_uring");
    assert_int_equal(identity->lacks, 0);
    engine_turso.unload(engine);

    strcpy(fake->version, "0.8.2"); /* and no version was named */
    assert_int_equal(load(FAKE, NULL, 0, NULL), 0);
    assert_int_equal(identity->warning_count, 1);
    assert_non_null(strstr(identity->warnings[0], "Turso 0.8.2 under a C ABI of version 0.8.3"));
    assert_int_equal(identity->lacks, ENGINE_COUNTS_WAITING); /* the library waits, unseen */
    engine_turso.unload(engine);
}

/* ---- opening --------------------------------------------------------------------------- */

static void test_open(void **state)
{
    (void)state;
    const struct engine_option options[] = {{"vfs", "syscall"}};
    struct engine_connection *second;
    assert_int_equal(load(FAKE, options, 1, NULL), 0);
    fake->calls[0] = '\0';
    assert_int_equal(engine_turso.open(engine, database, 1500, false, &connection, NULL), 0);
    /* The busy timeout comes before anything is prepared: setting it invalidates statements. */
    assert_string_equal(fake->calls, "connect\ntimeout 1500\nprepare BEGIN\nprepare COMMIT\n"
                                     "prepare ROLLBACK\nprepare PRAGMA journal_mode\n"
                                     "step PRAGMA journal_mode\nprepare BEGIN IMMEDIATE\n");
    assert_string_equal(fake->path, database);
    assert_string_equal(fake->vfs, "syscall");
    const struct turso_database_config others = {.path = fake->config.path,
                                                 .vfs = fake->config.vfs};
    assert_memory_equal(&fake->config, &others, sizeof others);
    /* One database for all connections, and it goes with the last one. */
    assert_int_equal(engine_turso.open(engine, database, 0, false, &second, NULL), 0);
    assert_int_equal(fake->databases, 1);
    assert_int_equal(fake->connections, 2);
    engine_turso.close(second);
    assert_int_equal(fake->databases, 1);
    close_all();
}

static void expect_open_error(const char *path, enum error_code code, const char *text)
{
    struct error error = ERROR_INIT;
    assert_int_equal(engine_turso.open(engine, path, 0, false, &connection, &error), code);
    if (strstr(error.message, text) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", error.message, text);
    }
    assert_int_equal(fake->databases + fake->connections + fake->statements + fake->strings, 0);
}

static void test_open_errors(void **state)
{
    (void)state;
    char missing[PATH_SIZE + 8];
    snprintf(missing, sizeof missing, "%s.not", database);
    assert_int_equal(load(FAKE, NULL, 0, NULL), 0);
    expect_open_error("", ERROR_INVALID, "empty");
    expect_open_error(missing, ERROR_ENGINE, "No such file");
    fake->open_code = TURSO_NOTADB;
    expect_open_error(database, ERROR_ENGINE, "cannot be opened: no door (code 132)");
    fake->open_code = 0;
    fake->connect_code = TURSO_CORRUPT;
    expect_open_error(database, ERROR_ENGINE, "cannot be opened: no line (code 133)");
    fake->connect_code = 0;
    fake->prepare_code = TURSO_BUSY;
    expect_open_error(database, ERROR_BUSY, "cannot be opened: no sense (code 4)");
    engine_turso.unload(engine);
}

/* Another process holds a lock on the file, as Turso and SQLite do. */
static void test_held_by_another(void **state)
{
    (void)state;
    int ready[2];
    char expected[64];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(database, O_RDWR);
        char told = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
        if (write(ready[1], &told, 1) == 1) {
            pause();
        }
        _exit(1);
    }
    char told = 'n';
    assert_int_equal(read(ready[0], &told, 1), 1);
    assert_int_equal(told, 'y');
    assert_int_equal(load(FAKE, NULL, 0, NULL), 0);
    fake->open_code = TURSO_ERROR;
    snprintf(expected, sizeof expected, "process %ld has ", (long)child);
    expect_open_error(database, ERROR_ENGINE, expected);
    expect_open_error(database, ERROR_ENGINE, "only for one process at a time");
    engine_turso.unload(engine);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_open_wants_io(void **state)
{
    (void)state;
    fake->open_ios = 5; /* the database in memory, where the version is asked for, gets them */
    open_with("1", 0);
    assert_int_equal(fake->open_ios, 0);
    assert_int_equal(fake->config.async_io, 1);
    close_all();
}

/* ---- statements ------------------------------------------------------------------------ */

static void test_prepare(void **state)
{
    (void)state;
    open_with("0", 0);
    struct engine_statement *statement = NULL;
    static const struct {
        const char *sql, *text;
    } wrong[] = {
        {"", "one statement was expected, found none"},
        {" ; ", "one statement was expected, found none"},
        {"SELECT 1; SELECT 2", "one statement was expected, and more text stands behind it"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(engine_turso.prepare(connection, wrong[i].sql, &statement), ENGINE_FAILED);
        expect_error(TURSO_ERROR, wrong[i].text);
        assert_null(statement);
    }
    fake->prepare_code = TURSO_CONSTRAINT;
    assert_int_equal(engine_turso.prepare(connection, "SELECT 1", &statement), ENGINE_FAILED);
    expect_error(TURSO_CONSTRAINT, "no sense");
    fake->prepare_code = 0;
    statement = prepare("SELECT ?, ? ; ");
    assert_int_equal(engine_turso.parameter_count(statement), 2);
    assert_true(engine_turso.readonly(statement));
    engine_turso.finalize(statement);
    statement = prepare("WITH a AS (SELECT 1) DELETE FROM t");
    assert_false(engine_turso.readonly(statement));
    engine_turso.finalize(statement);
    engine_turso.finalize(NULL);
    assert_int_equal(engine_turso.exec(connection, "A; B ;; C"), ENGINE_OK);
    assert_non_null(strstr(fake->calls, "step A\nprepare B \nstep B \nprepare C\nstep C\n"));
    close_all();
}

static void test_bind(void **state)
{
    (void)state;
    open_with("0", 0);
    struct engine_statement *statement = prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)");
    const struct value values[] = {
        {.type = VALUE_INTEGER, .integer = INT64_MIN},
        {.type = VALUE_DOUBLE, .real = 0.5},
        {.type = VALUE_NULL},
        {.type = VALUE_TEXT, .bytes = "text", .length = 3},
        {.type = VALUE_BLOB, .bytes = "bl\0b", .length = 4},
        {.type = VALUE_BLOB, .bytes = NULL, .length = 0},
    };
    struct engine_effect effect = {0, 0};
    fake->n_change = 1;
    assert_int_equal(engine_turso.run(statement, values, 6, false, &effect, NULL), ENGINE_OK);
    assert_int_equal(fake->bound[0].integer, INT64_MIN);
    assert_true(fake->bound[1].real == 0.5);
    assert_int_equal(fake->bound[2].type, VALUE_NULL);
    /* Without a copy: the very bytes, and no more of them. */
    assert_ptr_equal(fake->bound[3].bytes, values[3].bytes);
    assert_int_equal(fake->bound[3].length, 3);
    assert_int_equal(fake->bound[4].type, VALUE_BLOB);
    assert_ptr_equal(fake->bound[4].bytes, values[4].bytes);
    assert_non_null(fake->bound[5].bytes); /* the library refuses NULL */
    assert_int_equal(effect.rows_changed, 1);
    assert_int_equal(fake->resets, 1);
    assert_int_equal(engine_turso.run(statement, values, 5, false, &effect, NULL), ENGINE_FAILED);
    fake->bind_code = TURSO_MISUSE;
    assert_int_equal(engine_turso.run(statement, values, 6, false, &effect, NULL), ENGINE_FAILED);
    expect_error(TURSO_MISUSE, "a value was refused: text must be UTF-8");
    assert_int_equal(fake->resets, 2); /* what was bound before is unbound */
    engine_turso.finalize(statement);
    close_all();
}

static unsigned rows_left;

static int give_rows(const char *sql, unsigned steps, const char **text)
{
    (void)sql;
    (void)text;
    return steps <= rows_left ? TURSO_ROW : TURSO_DONE;
}

static int keep_row(void *context, const struct value *columns, uint32_t count)
{
    memcpy(context, columns, count * sizeof *columns);
    return count == 5 ? 0 : 1;
}

static int stop(void *context, const struct value *columns, uint32_t count)
{
    (void)context;
    (void)columns;
    (void)count;
    return 1;
}

static void test_rows(void **state)
{
    (void)state;
    open_with("0", 0);
    struct engine_statement *statement = prepare("SELECT * FROM t");
    struct engine_effect effect;
    struct value row[5];
    const struct engine_sink sink = {keep_row, row};
    const struct engine_sink stopping = {stop, NULL};
    fake->step = give_rows;
    rows_left = 3;
    fake->columns = 5;
    fake->row[0] = (struct value){.type = VALUE_INTEGER, .integer = -7};
    fake->row[1] = (struct value){.type = VALUE_DOUBLE, .real = 2.5};
    fake->row[2] = (struct value){.type = VALUE_TEXT, .bytes = "text", .length = 4};
    fake->row[3] = (struct value){.type = VALUE_BLOB, .bytes = NULL, .length = 0};
    fake->row[4] = (struct value){.type = VALUE_NULL};
    fake->n_change = 9; /* of a statement that writes: not asked here */
    assert_int_equal(run(statement, false, &effect), ENGINE_OK);
    assert_int_equal(effect.rows_read, 3);
    assert_int_equal(effect.rows_changed, 0);
    assert_int_equal(run(statement, true, &effect), ENGINE_OK);
    assert_int_equal(effect.rows_read, 1);
    assert_int_equal(engine_turso.run(statement, NULL, 0, false, &effect, &sink), ENGINE_OK);
    assert_int_equal(row[0].integer, -7);
    assert_true(row[1].real == 2.5);
    assert_memory_equal(row[2].bytes, "text", 4);
    assert_int_equal(row[3].type, VALUE_BLOB);
    assert_non_null(row[3].bytes);
    assert_int_equal(row[4].type, VALUE_NULL);
    assert_int_equal(engine_turso.run(statement, NULL, 0, false, &effect, &stopping),
                     ENGINE_FAILED);
    expect_error(TURSO_ERROR, "stopped by the receiver of its rows");
    assert_int_equal(fake->resets, 4);
    engine_turso.finalize(statement);
    close_all();
}

/* A reset takes back what has not ended: a writing statement goes on to its end. */
static void test_one_row_of_a_write(void **state)
{
    (void)state;
    open_with("0", 0);
    struct engine_statement *statement = prepare("INSERT INTO t SELECT 1 RETURNING a");
    struct engine_effect effect;
    fake->step = give_rows;
    rows_left = 3;
    fake->n_change = 3;
    assert_int_equal(run(statement, true, &effect), ENGINE_OK);
    assert_int_equal(effect.rows_read, 1);
    assert_int_equal(effect.rows_changed, 3);
    unsigned steps = 0;
    for (const char *at = fake->calls; (at = strstr(at, "step ")) != NULL; at++) {
        steps++;
    }
    assert_int_equal(steps, 4);
    engine_turso.finalize(statement);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_load_errors, setup),
        cmocka_unit_test_setup(test_no_version, setup),
        cmocka_unit_test_setup(test_identity, setup),
        cmocka_unit_test_setup(test_open, setup),
        cmocka_unit_test_setup(test_open_errors, setup),
        cmocka_unit_test_setup(test_held_by_another, setup),
        cmocka_unit_test_setup(test_open_wants_io, setup),
        cmocka_unit_test_setup(test_prepare, setup),
        cmocka_unit_test_setup(test_bind, setup),
        cmocka_unit_test_setup(test_rows, setup),
        cmocka_unit_test_setup(test_one_row_of_a_write, setup),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
