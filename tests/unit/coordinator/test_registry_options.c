/* --engine-option: which engine gets what, and what is refused. */
#include "coordinator/registry.h"

#include <setjmp.h>

#include "../folder.h"

static struct manifest manifests[] = {
    {.name = (char *)"dotted.js"},
    {.name = (char *)"other"},
    {.name = (char *)"sqlite"},
    {.name = (char *)"sqlite@3.1", .base = (char *)"sqlite"},
};
static const struct registry registry = {.manifests = {manifests, 4}};

/* sqlite twice, dotted.js once. */
static struct engine_choice chosen[3];
static engine_choices choices;

static void choose(void)
{
    chosen[0] = (struct engine_choice){.name = strdup("sqlite"), .manifest = &manifests[2]};
    chosen[1] = (struct engine_choice){.name = strdup("dotted.js"), .manifest = &manifests[0]};
    chosen[2] = (struct engine_choice){.name = strdup("sqlite=/x"), .manifest = &manifests[2]};
    choices = (engine_choices){chosen, 3};
}

static void release(void)
{
    for (size_t i = 0; i < 3; i++) {
        engine_choice_release(&chosen[i]);
    }
}

static void handed_over(void **state)
{
    (void)state;
    struct result_pair given[] = {
        {(char *)"sqlite.a", (char *)"1"},
        {(char *)"dotted.js.integers", (char *)"big=int"},
        {(char *)"sqlite.b", (char *)""},
    };
    const result_pairs pairs = {given, 3};
    struct error error = ERROR_INIT;
    choose();
    assert_int_equal(registry_engine_options(&registry, &pairs, &choices, &error), 0);
    for (size_t i = 0; i < 3; i += 2) {
        assert_int_equal(chosen[i].options.count, 2);
        assert_string_equal(chosen[i].options.items[0].name, "a");
        assert_string_equal(chosen[i].options.items[0].value, "1");
        assert_string_equal(chosen[i].options.items[1].name, "b");
        assert_string_equal(chosen[i].options.items[1].value, "");
    }
    assert_int_equal(chosen[1].options.count, 1);
    assert_string_equal(chosen[1].options.items[0].name, "integers");
    assert_string_equal(chosen[1].options.items[0].value, "big=int");
    release();
}

/* A version has what its engine has, and what is given to it alone. */
static void of_versions(void **state)
{
    (void)state;
    struct result_pair given[] = {{(char *)"sqlite.a", (char *)"1"},
                                  {(char *)"sqlite@3.1.b", (char *)"2"}};
    const result_pairs pairs = {given, 2};
    struct error error = ERROR_INIT;
    choose();
    chosen[1].manifest = &manifests[3];
    assert_int_equal(registry_engine_options(&registry, &pairs, &choices, &error), 0);
    assert_int_equal(chosen[0].options.count, 1);
    assert_int_equal(chosen[1].options.count, 2);
    assert_string_equal(chosen[1].options.items[0].name, "a");
    assert_string_equal(chosen[1].options.items[1].name, "b");
    release();
}

static const struct {
    const char *name, *value, *words;
} refused_table[] = {
    {"sqlite", "1", "must be NAME.KEY=VALUE"},
    {".a", "1", "must be NAME.KEY=VALUE"},
    {"sqlite.", "1", "must be NAME.KEY=VALUE"},
    {"sqlit.a", "1", "did you mean \"sqlite\"?"},
    {"zzzzzzz.a", "1", "there is no engine \"zzzzzzz\"; `pitot engines` lists them"},
    {"other.a", "1", "engine other takes no part"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_table / sizeof *refused_table; i++) {
        struct result_pair given[] = {
            {(char *)refused_table[i].name, (char *)refused_table[i].value}};
        const result_pairs pairs = {given, 1};
        struct error error = ERROR_INIT;
        choose();
        assert_int_equal(registry_engine_options(&registry, &pairs, &choices, &error),
                         ERROR_INVALID);
        assert_holds(error.message, refused_table[i].words);
        release();
    }
}

static void twice(void **state)
{
    (void)state;
    struct result_pair given[] = {{(char *)"sqlite.a", (char *)"1"},
                                  {(char *)"sqlite.a", (char *)"2"}};
    const result_pairs pairs = {given, 2};
    struct error error = ERROR_INIT;
    choose();
    assert_int_equal(registry_engine_options(&registry, &pairs, &choices, &error), ERROR_INVALID);
    assert_holds(error.message, "sqlite.a is given twice, as 1 and as 2");
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handed_over),
        cmocka_unit_test(of_versions),
        cmocka_unit_test(refused),
        cmocka_unit_test(twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
