/* Which engines there are, and which of them --engines means. */
#include "coordinator/registry.h"
#include "coordinator/registry_internal.h"

#include <elf.h>
#include <setjmp.h>

#include "../folder.h"

static struct registry registry;
static engine_choices choices;
static result_warnings warnings;
static struct error error;

static void release_warnings(void)
{
    for (size_t i = 0; i < warnings.count; i++) {
        free(warnings.items[i].subject);
        free(warnings.items[i].text);
    }
    free(warnings.items);
    warnings = (result_warnings){.items = NULL};
}

/* Everything that a registry looks at lies in the folder, and nothing else. */
static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    error_clear(&error);
    mkdir(in_folder("one"), 0755);
    mkdir(in_folder("two"), 0755);
    mkdir(in_folder("cache"), 0755);
    setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
    setenv("XDG_CONFIG_HOME", in_folder("config"), 1);
    unsetenv("PITOT_ENGINES");
    return 0;
}

static int tear_down(void **state)
{
    engine_choices_release(&choices);
    release_warnings();
    registry_release(&registry);
    return remove_test_folder(state);
}

static void load(void)
{
    registry_release(&registry);
    assert_int_equal(registry_load(&registry, &error), 0);
}

static int choose(const char *list)
{
    engine_choices_release(&choices);
    release_warnings();
    error_clear(&error);
    return registry_choose(&registry, list, &choices, &warnings, &error);
}

/* The text of the warning about an engine. */
static const char *warned(const char *subject)
{
    for (size_t i = 0; i < warnings.count; i++) {
        if (strcmp(warnings.items[i].subject, subject) == 0) {
            return warnings.items[i].text;
        }
    }
    fail_msg("no warning about %s", subject);
    return "";
}

/* The chosen engine whose name begins so; one without a name: none. */
static const struct engine_choice *chosen(const char *start)
{
    static const struct engine_choice none;
    for (size_t i = 0; i < choices.count; i++) {
        if (strncmp(choices.items[i].name, start, strlen(start)) == 0) {
            return &choices.items[i];
        }
    }
    return &none;
}

static void make_sqlite_ready(void)
{
    mkdir(in_folder("cache/pitot"), 0755);
    mkdir(in_folder("cache/pitot/engines"), 0755);
    mkdir(in_folder("cache/pitot/engines/sqlite"), 0755);
    write_text(registry_find(&registry, "sqlite")->library, "a library");
}

static void write_manifest(const char *file, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "{\"name\":\"%s\",\"summary\":\"s\",\"driver\":\"null\"}", name);
    write_text(in_folder(file), text);
}

static void built_in(void **state)
{
    (void)state;
    load();
    assert_int_equal(registry.problems.count, 0);
    const struct manifest *sqlite = registry_find(&registry, "sqlite");
    const struct manifest *null = registry_find(&registry, "null");
    assert_non_null(sqlite);
    assert_non_null(null);
    assert_string_equal(sqlite->file, "built in");
    assert_true(sqlite->is_default && sqlite->takes_path && !sqlite->no_database);
    assert_true(!null->is_default && null->no_database);
    assert_null(registry_find(&registry, "sqlit"));
    static const struct {
        const char *name;
        bool is_default, no_shm;
        size_t faults;
    } node[] = {{"better-sqlite3", true, false, 0},
                {"node:sqlite", true, false, 0},
                {"turso-js", true, true, 3},
                {"turso-js-async", false, true, 3}};
    for (size_t i = 0; i < sizeof node / sizeof *node; i++) {
        const struct manifest *manifest = registry_find(&registry, node[i].name);
        assert_non_null(manifest);
        assert_true(manifest->is_default == node[i].is_default);
        assert_true(manifest->no_shm == node[i].no_shm);
        assert_int_equal(manifest->faults.count, node[i].faults);
        assert_string_equal(manifest->get, "scripts/build-engines-node");
        char *why = NULL;
        assert_false(manifest_ready(manifest, &why));
        assert_holds(why, "/node/node");
        free(why);
    }
    for (size_t i = 1; i < registry.manifests.count; i++) {
        assert_true(strcmp(registry.manifests.items[i - 1].name, registry.manifests.items[i].name) <
                    0);
    }
}

static void user_folders(void **state)
{
    (void)state;
    write_manifest("one/mine.json", "mine");
    write_manifest("two/also.json", "also");
    write_manifest("one/.hidden.json", "hidden");
    write_manifest("one/note.txt", "note");
    mkdir(in_folder("config"), 0755);
    mkdir(in_folder("config/pitot"), 0755);
    assert_int_equal(symlink(in_folder("one"), in_folder("config/pitot/engines")), 0);
    /* Named three times, once by another name, and read once. */
    char list[1024];
    snprintf(list, sizeof list, "%s:%s/:%s", in_folder("one"), in_folder("one"), in_folder("two"));
    setenv("PITOT_ENGINES", list, 1);
    load();
    assert_int_equal(registry.problems.count, 0);
    assert_non_null(registry_find(&registry, "mine"));
    assert_string_equal(registry_find(&registry, "mine")->file, in_folder("one/mine.json"));
    assert_non_null(registry_find(&registry, "also"));
    assert_null(registry_find(&registry, "hidden"));
    assert_int_equal(choose("mine,also"), 0);
    assert_int_equal(choices.count, 2);
}

static void problems(void **state)
{
    (void)state;
    write_manifest("one/sqlite.json", "sqlite");
    write_manifest("one/twice.json", "twice");
    write_manifest("two/twice.json", "twice");
    write_text(in_folder("one/broken.json"), "{");
    mkdir(in_folder("one/folder.json"), 0755);
    char list[1024];
    snprintf(list, sizeof list, "%s::%s:%s", in_folder("one"), in_folder("two"),
             in_folder("missing"));
    setenv("PITOT_ENGINES", list, 1);
    load();
    assert_int_equal(registry.problems.count, 5);
    assert_int_equal(choose("null"), 0);

    static const char *const table[][2] = {
        {"sqlite", "built in"},        {"sqlite=/x", "built in"},     {"twice", "one/twice.json"},
        {"broken", "one/broken.json"}, {"folder", "one/folder.json"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(choose(table[i][0]), ERROR_INVALID);
        assert_holds(error.message, "cannot be used");
        assert_holds(error.message, table[i][1]);
    }
    bool told = false;
    for (size_t i = 0; i < registry.problems.count; i++) {
        told = told || (registry.problems.items[i].subject == NULL &&
                        strstr(registry.problems.items[i].text, "missing") != NULL);
    }
    assert_true(told);
}

static void chosen_by_name(void **state)
{
    (void)state;
    load();
    make_sqlite_ready();
    assert_int_equal(choose("sqlite, null ,sqlite,null,sqlite"), 0);
    static const char *const names[] = {"sqlite", "null", "sqlite#2", "null#2", "sqlite#3"};
    assert_int_equal(choices.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(choices.items[i].name, names[i]);
    }
    assert_ptr_equal(choices.items[0].manifest, registry_find(&registry, "sqlite"));
    assert_non_null(choices.items[0].library);
    assert_null(choices.items[1].library);
    assert_int_equal(warnings.count, 0);
}

static void chosen_by_path(void **state)
{
    (void)state;
    load();
    const char *odd = "a,b|c\\d=e\".so";
    write_text(in_folder(odd), "x");
    assert_int_equal(symlink(odd, in_folder("link")), 0);
    char list[1024], expected[1024];
    snprintf(list, sizeof list, "null,sqlite=%s/a\\,b|c\\\\d=e\".so,sqlite=%s/link", folder,
             folder);
    snprintf(expected, sizeof expected, "sqlite=%s", in_folder(odd));
    assert_int_equal(choose(list), 0);
    assert_int_equal(choices.count, 3);
    assert_string_equal(choices.items[1].name, expected);
    assert_string_equal(choices.items[1].library, in_folder(odd));
    /* A link is shown as it was given and opened by what it names. */
    snprintf(expected, sizeof expected, "sqlite=%s", in_folder("link"));
    assert_string_equal(choices.items[2].name, expected);
    assert_string_equal(choices.items[2].library, in_folder(odd));

    snprintf(list, sizeof list, "sqlite=%s,sqlite=%s", in_folder("link"), in_folder("link"));
    assert_int_equal(choose(list), 0);
    snprintf(expected, sizeof expected, "sqlite=%s#2", in_folder("link"));
    assert_string_equal(choices.items[1].name, expected);
}

static const struct {
    const char *list, *first, *second;
} refused_table[] = {
    {"", "empty", "comma"},
    {" ", "empty", ""},
    {"null,", "empty", ""},
    {",null", "empty", ""},
    {"null,,null", "empty", ""},
    {"nul", "\"nul\"", "\"null\""},
    {"sqlitee", "did you mean \"sqlite\"", "Known: "},
    {"oracle", "\"oracle\"", "Known: "},
    {"oracle", "null", "sqlite"},
    {"/usr/lib/libsqlite3.so", "sqlite=PATH", "\\,"},
    {"null=/x", "null", "takes no path"},
    {"sqlite=", "no path", "sqlite="},
    {"sqlite=/no/such.so", "/no/such.so", "No such file"},
    {"sqlite=/no/a,b.so", "/no/a", "\\,"},
    {"sqlite=/", "a folder", "file must be named"},
    {"sqlite=/dev/null", "/dev/null", "no regular file"},
    {"sqlite=/a\\b", "backslash", "\\\\"},
    {"null\\", "backslash", ""},
};

static void refused(void **state)
{
    (void)state;
    load();
    for (size_t i = 0; i < sizeof refused_table / sizeof *refused_table; i++) {
        if (choose(refused_table[i].list) != ERROR_INVALID) {
            fail_msg("\"%s\": %d %s", refused_table[i].list, (int)error.code, error.message);
        }
        assert_int_equal(choices.count, 0);
        assert_holds(error.message, "--engines");
        assert_holds(error.message, refused_table[i].first);
        assert_holds(error.message, refused_table[i].second);
    }
}

static void not_ready(void **state)
{
    (void)state;
    load();
    assert_int_equal(choose("null,sqlite"), ERROR_UNAVAILABLE);
    assert_holds(error.message, "sqlite is not ready");
    assert_holds(error.message, registry_find(&registry, "sqlite")->get);
    assert_holds(error.message, registry_find(&registry, "sqlite")->library);
    assert_holds(error.message, "sqlite=PATH");
}

/* An ELF header is all that is looked at. */
static void write_library(const char *path, unsigned char class, uint16_t machine)
{
    Elf64_Ehdr header = {.e_machine = machine};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = class;
    write_bytes(path, &header, sizeof header);
}

#if defined(__x86_64__)
#define OWN EM_X86_64
#define FOREIGN EM_AARCH64
#else
#define OWN EM_AARCH64
#define FOREIGN EM_X86_64
#endif

static void system_library(void **state)
{
    (void)state;
    char *found = NULL;
    char first[512], second[512];
    snprintf(first, sizeof first, "%s", in_folder("one"));
    snprintf(second, sizeof second, "%s", in_folder("two"));
    const char *const folders[] = {"/no/such/folder", first, second, NULL};
    assert_int_equal(registry_system_library(folders, &found, &error), 0);
    assert_null(found);
    write_text(in_folder("one/libsqlite3.so.0"), "INPUT(-lsqlite3)");
    write_library(in_folder("two/libsqlite3.so.0"), ELFCLASS64, OWN);
    assert_int_equal(registry_system_library(folders, &found, &error), 0);
    assert_string_equal(found, in_folder("two/libsqlite3.so.0"));
    free(found);
    write_library(in_folder("one/libsqlite3.so.0"), ELFCLASS32, OWN);
    write_library(in_folder("two/libsqlite3.so.0"), ELFCLASS64, FOREIGN);
    assert_int_equal(registry_system_library(folders, &found, &error), 0);
    assert_null(found);
}

static void default_engines(void **state)
{
    (void)state;
    load();
    make_sqlite_ready();
    assert_int_equal(choose(NULL), 0);
    for (size_t i = 0; i < choices.count; i++) {
        assert_true(choices.items[i].manifest->is_default);
        assert_string_not_equal(choices.items[i].name, "null");
    }
    assert_string_equal(chosen("sqlite")->name, "sqlite");

    struct engine_choice builder;
    assert_int_equal(registry_template_engine(&registry, &builder, &error), 0);
    assert_string_equal(builder.name, "sqlite");
    assert_string_equal(builder.library, chosen("sqlite")->library);
    engine_choice_release(&builder);
}

/* What happens depends on whether this machine has a library of its own: both are facts. */
static void default_without_sqlite(void **state)
{
    (void)state;
    load();
    int status = choose(NULL);
    struct engine_choice builder;
    struct error problem = ERROR_INIT;
    int builder_status = registry_template_engine(&registry, &builder, &problem);
    if (status == 0) {
        const struct engine_choice *system = chosen("sqlite=/");
        assert_non_null(system->name);
        assert_string_equal(system->manifest->name, "sqlite");
        assert_non_null(system->library);
        assert_holds(warned(system->name), registry_find(&registry, "sqlite")->get);
        assert_int_equal(builder_status, 0);
        assert_string_equal(builder.name, system->name);
    } else {
        assert_int_equal(status, ERROR_UNAVAILABLE);
        assert_holds(error.message, registry_find(&registry, "sqlite")->get);
        assert_int_equal(builder_status, ERROR_UNAVAILABLE);
    }
    engine_choice_release(&builder);
}

static void default_with_problems(void **state)
{
    (void)state;
    write_manifest("one/sqlite.json", "sqlite");
    write_text(in_folder("one/late.json"),
               "{\"name\":\"late\",\"summary\":\"s\",\"driver\":\"sqlite\",\"library\":\"no.so\","
               "\"get\":\"make late\",\"default\":true}");
    setenv("PITOT_ENGINES", in_folder("one"), 1);
    load();
    make_sqlite_ready();
    assert_int_equal(choose(NULL), 0);
    assert_string_equal(chosen("sqlite")->name, "sqlite");
    assert_string_equal(chosen("sqlite")->manifest->file, "built in");
    assert_null(chosen("late")->name);
    assert_holds(warned("late"), "make late");
    assert_holds(warned("sqlite"), "one/sqlite.json");
}

static void cache_folder(void **state)
{
    (void)state;
    static const struct {
        const char *cache, *home, *expected;
    } table[] = {
        {"/c", "/h", "/c/pitot/engines"},
        {NULL, "/h", "/h/.cache/pitot/engines"},
        {"", "/h", "/h/.cache/pitot/engines"},
        {"relative", "/h", "/h/.cache/pitot/engines"},
    };
    const char *before = getenv("HOME");
    char *home = before == NULL ? NULL : strdup(before);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        table[i].cache == NULL ? unsetenv("XDG_CACHE_HOME")
                               : setenv("XDG_CACHE_HOME", table[i].cache, 1);
        setenv("HOME", table[i].home, 1);
        char *path = registry_cache_folder();
        assert_string_equal(path, table[i].expected);
        free(path);
    }
    home == NULL ? unsetenv("HOME") : setenv("HOME", home, 1);
    free(home);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(built_in),
        TEST(user_folders),
        TEST(problems),
        TEST(chosen_by_name),
        TEST(chosen_by_path),
        TEST(refused),
        TEST(not_ready),
        TEST(system_library),
        TEST(default_engines),
        TEST(default_without_sqlite),
        TEST(default_with_problems),
        TEST(cache_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
