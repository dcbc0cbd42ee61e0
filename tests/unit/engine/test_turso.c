/* The turso driver against tests/engines/fake-turso.c, which answers whatever a test tells it. */
#include "engine_test.h"

#include "../../engines/fake-turso.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#define FAKE TEST_BINARY_DIR "/tests/fake-turso.so"
#define FAKE_WITHOUT_RUN_IO TEST_BINARY_DIR "/tests/fake-turso-lacks-run-io.so"

static struct fake_turso *fake;
static struct engine *engine;
static const struct engine_identity *identity;
static struct engine_connection *connection;
static char folder[FOLDER_SIZE];
static char database[PATH_SIZE];

static int group_setup(void **state)
{
    (void)state;
    void *library = dlopen(FAKE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    struct fake_turso *(*get)(void);
    void *address = dlsym(library, "fake_turso");
    assert_non_null(address);
    memcpy(&get, &address, sizeof get);
    fake = get();
    folder_make(folder);
    snprintf(database, sizeof database, "%s/d.db", folder);
    FILE *file = fopen(database, "w");
    assert_non_null(file);
    fclose(file);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

static int next_code;
static const char *next_text;

static int setup(void **state)
{
    (void)state;
    next_code = TURSO_DONE;
    next_text = NULL;
    memset(fake, 0, sizeof *fake);
    strcpy(fake->abi_version, "0.8.3");
    strcpy(fake->version, "0.8.3");
    strcpy(fake->journal_mode, "wal");
    return 0;
}

static int load(const char *library, const struct engine_option *options, size_t count,
                struct error *error)
{
    const struct engine_config config = {"turso", library, options, count};
    return engine_turso.load(&config, &engine, &identity, error);
}

static void open_with(const char *async_io, uint32_t timeout_ms)
{
    const struct engine_option option = {"async_io", async_io};
    struct error error = ERROR_INIT;
    if (load(FAKE, &option, 1, &error) != 0 ||
        engine_turso.open(engine, database, timeout_ms, false, &connection, &error) != 0) {
        fail_msg("%s", error.message);
    }
    fake->calls[0] = '\0';
    fake->resets = 0;
}

/* Everything that the library handed out has been given back. */
static void close_all(void)
{
    engine_turso.close(connection);
    engine_turso.unload(engine);
    assert_int_equal(fake->statements, 0);
    assert_int_equal(fake->connections, 0);
    assert_int_equal(fake->databases, 0);
    assert_int_equal(fake->strings, 0);
}

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

static struct engine_statement *prepare(const char *sql)
{
    struct engine_statement *statement = NULL;
    assert_int_equal(engine_turso.prepare(connection, sql, &statement), ENGINE_OK);
    return statement;
}

static enum engine_status run(struct engine_statement *statement, bool one,
                              struct engine_effect *effect)
{
    *effect = (struct engine_effect){0, 0};
    return engine_turso.run(statement, NULL, 0, one, effect, NULL);
}

static void expect_error(int code, const char *text)
{
    int found;
    assert_string_equal(engine_turso.error_text(connection, &found), text);
    assert_int_equal(found, code);
}

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

/* ---- outcomes -------------------------------------------------------------------------- */

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
        cmocka_unit_test_setup(test_codes, setup),
        cmocka_unit_test_setup(test_failed_reset, setup),
        cmocka_unit_test_setup(test_async_io, setup),
        cmocka_unit_test_setup(test_counted_waits, setup),
        cmocka_unit_test_setup(test_timeout, setup),
        cmocka_unit_test_setup(test_who_waits, setup),
        cmocka_unit_test_setup(test_interrupt, setup),
        cmocka_unit_test_setup(test_transactions, setup),
        cmocka_unit_test_setup(test_mvcc, setup),
        cmocka_unit_test_setup(test_mvcc_conflict, setup),
        cmocka_unit_test_setup(test_settings, setup),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
