/* Opening libraries: what is refused and how it is named, forwarding, identity. */
#include "engine_test.h"

#include "engine/sqlite_library.h"

static char folder[FOLDER_SIZE];
static char real_library[LIBRARIES_MAX][PATH_SIZE];
static size_t real_count;

static int group_setup(void **state)
{
    (void)state;
    real_count = libraries(real_library);
    folder_make(folder);
    return real_count > 0 ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Compiles `source` to folder/name with further arguments for cc. */
static void compile(const char *name, const char *source, const char *arguments,
                    char out[PATH_SIZE])
{
    char command[4 * PATH_SIZE];
    snprintf(out, PATH_SIZE, "%s/%s", folder, name);
    snprintf(command, sizeof command, "%s.c", out);
    FILE *file = fopen(command, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cc -w -shared -fPIC -o '%s' '%s.c' %s", out, out, arguments);
    assert_int_equal(system(command), 0);
}

/* Source of a library with all functions but those between commas in `without`. */
static void fake_source(char *out, size_t size, const char *without, int version_number)
{
    static const char *const names[] = {
#define X(result, name, arguments) #name,
        SQLITE_REQUIRED(X)
#undef X
    };
    size_t length = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, ",%s,", names[i]);
        if (strcmp(names[i], "libversion") == 0 || strcmp(names[i], "libversion_number") == 0 ||
            strstr(without, quoted) != NULL) {
            continue;
        }
        length += (size_t)snprintf(out + length, size - length,
                                   "int sqlite3_%s(void) { return 0; }\n", names[i]);
    }
    snprintf(out + length, size - length,
             "const char *sqlite3_libversion(void) { return \"%d.%d.%d\"; }\n"
             "int sqlite3_libversion_number(void) { return %d; }\n",
             version_number / 1000000, version_number / 1000 % 1000, version_number % 1000,
             version_number);
}

static int load(const char *library, struct engine **engine,
                const struct engine_identity **identity, struct error *error)
{
    const struct engine_config config = {.name = "x", .library = library};
    *engine = NULL;
    return engine_sqlite.load(&config, engine, identity, error);
}

static void expect_refused(const char *library, const char *const *words)
{
    struct engine *engine;
    const struct engine_identity *identity;
    struct error error = ERROR_INIT;
    assert_int_equal(load(library, &engine, &identity, &error), ERROR_ENGINE);
    assert_null(engine);
    for (; *words != NULL; words++) {
        if (strstr(error.message, *words) == NULL) {
            fail_msg("'%s' does not name '%s'", error.message, *words);
        }
    }
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_no_library(void **state)
{
    (void)state;
    struct engine *engine;
    const struct engine_identity *identity;
    assert_int_equal(load(NULL, &engine, &identity, NULL), ERROR_INVALID);
    expect_refused("/nowhere/lib.so", WORDS("/nowhere/lib.so", "No such file"));
    char ls[PATH_SIZE];
    assert_non_null(realpath("/bin/ls", ls));
    expect_refused("/bin/ls", WORDS(ls, "cannot be opened as a library"));
}

static void test_options(void **state)
{
    (void)state;
    struct engine *engine;
    const struct engine_identity *identity;
    struct error error = ERROR_INIT;
    const struct engine_option option = {"vfs", "memdb"};
    const struct engine_config config = {
        .name = "x", .library = real_library[0], .options = &option, .option_count = 1};
    assert_int_equal(engine_sqlite.load(&config, &engine, &identity, &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "'vfs'"));
}

static void test_missing_functions(void **state)
{
    (void)state;
    char source[8192];
    char library[PATH_SIZE];
    fake_source(source, sizeof source, ",bind_blob,", 3060000);
    compile("one.so", source, "", library);
    expect_refused(library, WORDS(library, "no function sqlite3_bind_blob:"));
    compile("none.so", "int nothing;\n", "", library);
    expect_refused(library, WORDS(library, "no function sqlite3_libversion (nor"));
}

static void test_threads(void **state)
{
    (void)state;
    char source[8192];
    char library[PATH_SIZE];
    struct engine *engine;
    const struct engine_identity *identity;
    fake_source(source, sizeof source, ",", 3060000);
    compile("single.so", source, "", library);
    assert_int_equal(load(library, &engine, &identity, NULL), 0);
    assert_string_equal(identity->version, "3.60.0");
    assert_null(identity->source_id);
    assert_null(identity->sync_call); /* imports neither */
    assert_int_equal(identity->warning_count, 0);
    struct engine_connection *first;
    struct engine_connection *second;
    struct error error = ERROR_INIT;
    assert_int_equal(engine_sqlite.open(engine, "/x", 0, false, &first, &error), 0);
    assert_int_equal(engine_sqlite.open(engine, "/x", 0, false, &second, &error), ERROR_ENGINE);
    assert_non_null(strstr(error.message, library));
    assert_non_null(strstr(error.message, "THREADSAFE=0"));
    engine_sqlite.close(first);
    assert_int_equal(engine_sqlite.open(engine, "/x", 0, false, &first, NULL), 0);
    engine_sqlite.close(first);
    engine_sqlite.unload(engine);
}

static void test_wal_reset_bug(void **state)
{
    (void)state;
    static const struct {
        int version;
        bool bug;
    } cases[] = {
        {3006023, false}, {3007000, true},  {3040001, true},  {3044005, true},
        {3044006, false}, {3044007, true},  {3050006, true},  {3050007, false},
        {3051002, true},  {3051003, false}, {3054001, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(sqlite_has_wal_reset_bug(cases[i].version), cases[i].bug);
    }
    char source[8192];
    char library[PATH_SIZE];
    struct engine *engine;
    const struct engine_identity *identity;
    fake_source(source, sizeof source, ",", 3040001);
    compile("old.so", source, "", library);
    assert_int_equal(load(library, &engine, &identity, NULL), 0);
    assert_int_equal(identity->warning_count, 1);
    assert_non_null(strstr(identity->warnings[0], "SQLite 3.40.1 can corrupt"));
    engine_sqlite.unload(engine);
}

static void test_sync_call(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *expected;
    } cases[] = {
        {"int f(int fd) { return fsync(fd); }\n", "fsync"},
        {"int f(int fd) { return fdatasync(fd); }\n", "fdatasync"},
        {"int f(int fd) { return fsync(fd) + fdatasync(fd); }\n", NULL},
        {"int f(int fd) { return fd; }\n", NULL},
    };
    static const char *const hashes[] = {"-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            char source[8192];
            char library[PATH_SIZE];
            char name[32];
            struct engine *engine;
            const struct engine_identity *identity;
            fake_source(source, sizeof source, ",", 3060000);
            strcat(source, cases[i].body);
            snprintf(name, sizeof name, "sync-%zu-%zu.so", i, j);
            compile(name, source, hashes[j], library);
            assert_int_equal(load(library, &engine, &identity, NULL), 0);
            if (cases[i].expected == NULL) {
                assert_null(identity->sync_call);
            } else {
                assert_non_null(identity->sync_call);
                assert_string_equal(identity->sync_call, cases[i].expected);
            }
            engine_sqlite.unload(engine);
        }
    }
}

static void test_forwarding(void **state)
{
    (void)state;
    char library[PATH_SIZE];
    char link[PATH_SIZE + 64];
    struct engine *engine;
    const struct engine_identity *identity;
    snprintf(link, sizeof link, "-Wl,--no-as-needed '%s'", real_library[0]);
    compile("forward.so", "int nothing;\n", link, library);
    assert_int_equal(load(library, &engine, &identity, NULL), 0);
    assert_string_equal(identity->library, real_library[0]);
    assert_true(identity->warning_count >= 1);
    assert_non_null(strstr(identity->warnings[0], "forwards to"));
    assert_non_null(strstr(identity->warnings[0], real_library[0]));
    engine_sqlite.unload(engine);

    compile("mixed.so", "const char *sqlite3_errmsg(void *db) { return \"mine\"; }\n", link,
            library);
    expect_refused(library, WORDS(library, "two libraries", "sqlite3_errmsg", real_library[0]));
}

static void test_identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < real_count; i++) {
        struct engine *engine;
        const struct engine_identity *identity;
        assert_int_equal(load(real_library[i], &engine, &identity, NULL), 0);
        assert_string_equal(identity->library, real_library[i]);
        assert_memory_equal(identity->version, "3.", 2);
        assert_non_null(identity->source_id);
        assert_non_null(identity->sync_call);
        bool threadsafe = false;
        for (size_t j = 0; j < identity->compile_option_count; j++) {
            threadsafe |= strncmp(identity->compile_options[j], "THREADSAFE=", 11) == 0;
        }
        assert_true(threadsafe);
        engine_sqlite.unload(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),        cmocka_unit_test(test_options),
        cmocka_unit_test(test_missing_functions), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wal_reset_bug),     cmocka_unit_test(test_sync_call),
        cmocka_unit_test(test_forwarding),        cmocka_unit_test(test_identity),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
