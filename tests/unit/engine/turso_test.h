/* What the tests of the turso driver share: tests/engines/fake-turso.c, which answers whatever a
 * test tells it, opened by the driver. */
#ifndef PITOT_TESTS_TURSO_TEST_H
#define PITOT_TESTS_TURSO_TEST_H

#include "engine_test.h"

#include "../../engines/fake-turso.h"

#include <dlfcn.h>

#define FAKE TEST_BINARY_DIR "/tests/fake-turso.so"
#define FAKE_WITHOUT_RUN_IO TEST_BINARY_DIR "/tests/fake-turso-lacks-run-io.so"

static struct fake_turso *fake;
static struct engine *engine;
static const struct engine_identity *identity;
static struct engine_connection *connection;
static char folder[FOLDER_SIZE];
static char database[PATH_SIZE];

static inline int group_setup(void **state)
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

static inline int group_teardown(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Before each test: an answer as of a library without faults. */
static inline int setup(void **state)
{
    (void)state;
    memset(fake, 0, sizeof *fake);
    strcpy(fake->abi_version, "0.8.3");
    strcpy(fake->version, "0.8.3");
    strcpy(fake->journal_mode, "wal");
    return 0;
}

static inline int load(const char *library, const struct engine_option *options, size_t count,
                       struct error *error)
{
    const struct engine_config config = {"turso", library, options, count};
    return engine_turso.load(&config, &engine, &identity, error);
}

static inline void open_with(const char *async_io, uint32_t timeout_ms)
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
static inline void close_all(void)
{
    engine_turso.close(connection);
    engine_turso.unload(engine);
    assert_int_equal(fake->statements, 0);
    assert_int_equal(fake->connections, 0);
    assert_int_equal(fake->databases, 0);
    assert_int_equal(fake->strings, 0);
}

static inline struct engine_statement *prepare(const char *sql)
{
    struct engine_statement *statement = NULL;
    assert_int_equal(engine_turso.prepare(connection, sql, &statement), ENGINE_OK);
    return statement;
}

static inline enum engine_status run(struct engine_statement *statement, bool one,
                                     struct engine_effect *effect)
{
    *effect = (struct engine_effect){0, 0};
    return engine_turso.run(statement, NULL, 0, one, effect, NULL);
}

static inline void expect_error(int code, const char *text)
{
    int found;
    assert_string_equal(engine_turso.error_text(connection, &found), text);
    assert_int_equal(found, code);
}

#endif
