/* What is known of how a library was built. */
#include "coordinator/library_build.h"

#include <setjmp.h>

#include "../folder.h"

static struct error error;
static result_pairs facts;

static int tear_down(void **state)
{
    for (size_t i = 0; i < facts.count; i++) {
        free(facts.items[i].name);
        free(facts.items[i].value);
    }
    free(facts.items);
    facts = (result_pairs){.items = NULL};
    return remove_test_folder(state);
}

/* Of the library FOLDER/built/lib.so, to which the manifest's path leads. */
static int read_build(const char *manifest_library)
{
    char asked[PATH_MAX], real[PATH_MAX];
    snprintf(asked, sizeof asked, "%s", in_folder(manifest_library));
    snprintf(real, sizeof real, "%s", in_folder("built/lib.so"));
    const struct manifest manifest = {.library = asked};
    const struct engine_choice choice = {.manifest = &manifest, .library = real};
    error_clear(&error);
    return library_build_read(&choice, &facts, &error);
}

static void make_library(const char *build)
{
    mkdir(in_folder("built"), 0755);
    write_text(in_folder("built/lib.so"), "x");
    write_text(in_folder("other.so"), "x");
    assert_int_equal(symlink("built", in_folder("link")), 0);
    if (build != NULL) {
        write_text(in_folder("built/build.json"), build);
    }
}

static void texts_and_lists(void **state)
{
    (void)state;
    make_library("{\"lock\":\"ab12\",\"flags\":[\"-O3\",\"-g\"],\"count\":1,\"none\":[],"
                 "\"parts\":[\"a\",2],\"inner\":{\"a\":\"b\"},\"empty\":\"\"}");
    assert_int_equal(read_build("link/lib.so"), 0);
    static const char *const expected[][2] = {
        {"lock", "ab12"}, {"flags", "-O3 -g"}, {"none", ""}, {"empty", ""}};
    assert_int_equal(facts.count, 4);
    for (size_t i = 0; i < facts.count; i++) {
        assert_string_equal(facts.items[i].name, expected[i][0]);
        assert_string_equal(facts.items[i].value, expected[i][1]);
    }
}

static void of_the_manifests_library_only(void **state)
{
    (void)state;
    make_library("{\"lock\":\"ab12\"}");
    assert_int_equal(read_build("other.so"), 0);
    assert_int_equal(facts.count, 0);
    const struct manifest manifest = {.library = NULL};
    const struct engine_choice none = {.manifest = &manifest};
    assert_int_equal(library_build_read(&none, &facts, &error), 0);
    assert_int_equal(facts.count, 0);
}

static void no_file(void **state)
{
    (void)state;
    make_library(NULL);
    assert_int_equal(read_build("built/lib.so"), 0);
    assert_int_equal(facts.count, 0);
}

static void a_file_that_cannot_be_read(void **state)
{
    (void)state;
    make_library("[\"lock\"]");
    assert_int_equal(read_build("built/lib.so"), ERROR_INVALID);
    assert_holds(error.message, "built/build.json must hold a JSON object");
    write_text(in_folder("built/build.json"), "{\"lock\":");
    assert_int_not_equal(read_build("built/lib.so"), 0);
    assert_holds(error.message, "built/build.json");
    assert_int_equal(facts.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(texts_and_lists),
        TEST(of_the_manifests_library_only),
        TEST(no_file),
        TEST(a_file_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
