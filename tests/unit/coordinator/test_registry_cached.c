/* NAME@VERSION: which versions are found among the built ones, and what naming another says. */
#include "coordinator/registry.h"
#include "coordinator/registry_internal.h"

#include <setjmp.h>

#include "../folder.h"

static struct registry registry;
static engine_choices choices;
static result_warnings warnings;
static struct error error;

static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    error_clear(&error);
    static const char *const folders[] = {"cache", "cache/pitot", "cache/pitot/engines", "mine"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        mkdir(in_folder(folders[i]), 0755);
    }
    setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
    setenv("XDG_CONFIG_HOME", in_folder("config"), 1);
    unsetenv("PITOT_ENGINES");
    return 0;
}

static int tear_down(void **state)
{
    engine_choices_release(&choices);
    registry_release(&registry);
    return remove_test_folder(state);
}

static void build(const char *name, const char *library)
{
    char path[256];
    snprintf(path, sizeof path, "cache/pitot/engines/%s", name);
    mkdir(in_folder(path), 0755);
    if (library != NULL) {
        snprintf(path, sizeof path, "cache/pitot/engines/%s/%s", name, library);
        write_text(in_folder(path), "a library");
    }
}

static int choose(const char *list)
{
    engine_choices_release(&choices);
    error_clear(&error);
    return registry_choose(&registry, list, &choices, &warnings, &error);
}

static void load(void)
{
    assert_int_equal(registry_load(&registry, &error), 0);
    assert_int_equal(registry.problems.count, 0);
}

static void built_versions_are_engines(void **state)
{
    (void)state;
    build("turso@0.7.1", "libturso.so");
    build("turso@0.9.0-pre.2", "libturso.so");
    build("turso@0.6.0", NULL);                /* no library in it */
    build("turso@", "libturso.so");            /* no version */
    build("turso@new", "libturso.so");         /* nor this */
    build("turso-0.7.1-abc", "libturso.so");   /* what a link points to */
    build("sqlite@3.50.0", "libsqlite3.so.0"); /* takes no versions */
    load();
    const struct manifest *turso = registry_find(&registry, "turso");
    const struct manifest *old = registry_find(&registry, "turso@0.7.1");
    assert_true(turso->takes_version && turso->base == NULL);
    assert_non_null(old);
    assert_string_equal(old->base, "turso");
    assert_string_equal(old->version, "0.7.1");
    assert_string_equal(old->library, in_folder("cache/pitot/engines/turso@0.7.1/libturso.so"));
    assert_string_equal(old->get, "scripts/build-engine-turso 0.7.1");
    assert_string_equal(old->driver, turso->driver);
    assert_string_equal(old->options.items[0].name, "version");
    assert_string_equal(old->options.items[0].value, "0.7.1");
    assert_string_equal(turso->options.items[0].value, turso->version);
    assert_true(turso->is_default && !old->is_default && !old->takes_version);
    assert_int_equal(old->faults.count, 3);
    for (size_t i = 0; i < old->faults.count; i++) {
        assert_true(manifest_fault_applies(&old->faults.items[i], "0.7.1"));
        assert_true(manifest_fault_applies(&old->faults.items[i], "0.8.0-pre.1"));
        assert_false(manifest_fault_applies(&old->faults.items[i], turso->version));
    }
    size_t versions = 0;
    for (size_t i = 0; i < registry.manifests.count; i++) {
        versions += registry.manifests.items[i].base != NULL;
    }
    assert_int_equal(versions, 2);
    assert_int_equal(choose("turso@0.7.1,turso@0.9.0-pre.2,turso@0.7.1"), 0);
    assert_ptr_equal(choices.items[0].manifest, old);
    assert_string_equal(choices.items[1].name, "turso@0.9.0-pre.2");
    assert_string_equal(choices.items[2].name, "turso@0.7.1#2");
}

/* The other Turso engines name the version that they are of. */
static void of_fixed_versions(void **state)
{
    (void)state;
    load();
    static const char *const names[] = {"turso", "turso-mvcc", "turso-next"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct manifest *manifest = registry_find(&registry, names[i]);
        char path[256], get[256];
        snprintf(path, sizeof path, "cache/pitot/engines/turso@%s/libturso.so", manifest->version);
        snprintf(get, sizeof get, "scripts/build-engine-turso %s", manifest->version);
        assert_string_equal(manifest->library, in_folder(path));
        assert_string_equal(manifest->get, get);
        assert_string_equal(manifest->options.items[0].value, manifest->version);
        assert_true(manifest->is_default == (i == 0));
        assert_true(manifest->no_shm);
    }
    const struct manifest *mvcc = registry_find(&registry, "turso-mvcc");
    assert_string_equal(mvcc->version, registry_find(&registry, "turso")->version);
    assert_string_equal(mvcc->required.items[0].name, "journal_mode");
    assert_string_equal(mvcc->required.items[0].value, "mvcc");
}

static void versions_that_are_not_built(void **state)
{
    (void)state;
    load();
    assert_int_equal(choose("null,turso@0.8.1-pre.3"), ERROR_UNAVAILABLE);
    assert_holds(error.message, "turso@0.8.1-pre.3 is not ready");
    assert_holds(error.message, "scripts/build-engine-turso 0.8.1-pre.3");
    build("turso@0.8.1-pre.3", "libturso.so");
    assert_int_equal(choose("turso@0.8.1-pre.3"), ERROR_UNAVAILABLE);
    assert_holds(error.message, "try again");
    static const char *const refused[][3] = {
        {"turso@", "\"\" is no version", "turso@0.8.3"},
        {"turso@new", "\"new\" is no version", "turso@0.8.3"},
        {"sqlite@3.54.1", "sqlite takes no version", "sqlite@3.54.1"},
        {"turso-mvcc@0.7.1", "turso-mvcc takes no version", ""},
        {"tursoo@0.7.1", "there is no engine \"tursoo@0.7.1\"", "Known: "},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(choose(refused[i][0]), ERROR_INVALID);
        assert_holds(error.message, refused[i][1]);
        assert_holds(error.message, refused[i][2]);
    }
}

/* A manifest of the user's takes versions, too; what it needs lies in its own folder. */
static void of_the_user(void **state)
{
    (void)state;
    write_text(in_folder("mine/mine.json"),
               "{\"name\":\"mine\",\"summary\":\"s\",\"driver\":\"sqlite\",\"version\":\"1.0\","
               "\"takes_version\":true,\"library\":\"${cache}/mine@${version}/lib.so\","
               "\"needs\":[\"helper\"]}");
    write_text(in_folder("mine/helper"), "x");
    setenv("PITOT_ENGINES", in_folder("mine"), 1);
    build("mine@1.1", "lib.so");
    load();
    const struct manifest *other = registry_find(&registry, "mine@1.1");
    assert_non_null(other);
    assert_string_equal(other->needs.items[0], in_folder("mine/helper"));
    assert_string_equal(other->file, in_folder("mine/mine.json"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(built_versions_are_engines),
        TEST(of_fixed_versions),
        TEST(versions_that_are_not_built),
        TEST(of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
