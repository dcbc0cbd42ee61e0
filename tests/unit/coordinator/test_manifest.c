/* One manifest: what is taken, what is refused and how that is said. */
#include "coordinator/registry_internal.h"

#include <setjmp.h>

#include "../folder.h"

static int parse(const char *text, const char *of_folder, struct manifest *out, struct error *error)
{
    const struct manifest_source source = {.bytes = text,
                                           .length = strlen(text),
                                           .file = "/m/mine.json",
                                           .stem = "mine",
                                           .folder = of_folder};
    return manifest_parse(&source, out, error);
}

static void whole_manifest(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/cache", 1);
    struct manifest manifest;
    struct error error = ERROR_INIT;
    assert_int_equal(parse("{\"name\":\"mine\",\"summary\":\"Mine\",\"driver\":\"sqlite\","
                           "\"library\":\"${cache}/x-${version}/"
                           "$$a.so\",\"version\":\"1.2\",\"get\":\"make V=${version}\","
                           "\"takes_path\":true,\"default\":false,\"no_database\":true,"
                           "\"options\":{\"b\":\"v${version}\",\"a\":\"\"},\"required\":{\"journal_"
                           "mode\":\"mvcc\"},"
                           "\"notes\":[\"one\",\"two\"],\"second_opinion\":\"other\","
                           "\"faults\":[{\"versions\":\"1.0..1.2\",\"text\":\"bad\"}]}",
                           "/m", &manifest, &error),
                     0);
    assert_string_equal(manifest.name, "mine");
    assert_string_equal(manifest.file, "/m/mine.json");
    assert_string_equal(manifest.library, "/cache/pitot/engines/x-1.2/$a.so");
    assert_string_equal(manifest.get, "make V=1.2");
    assert_true(manifest.takes_path && manifest.no_database && !manifest.is_default);
    assert_int_equal(manifest.options.count, 2);
    assert_string_equal(manifest.options.items[0].name, "b");
    assert_string_equal(manifest.options.items[0].value, "v1.2");
    assert_string_equal(manifest.options.items[1].value, "");
    assert_string_equal(manifest.required.items[0].value, "mvcc");
    assert_string_equal(manifest.faults.items[0].text, "bad");
    assert_int_equal(manifest.notes.count, 2);
    assert_string_equal(manifest.notes.items[1], "two");
    assert_string_equal(manifest.second_opinion, "other");
    manifest_release(&manifest);
}

#define START "{\"name\":\"mine\",\"summary\":\"Mine\""

static void relative_paths(void **state)
{
    (void)state;
    struct manifest manifest;
    struct error error = ERROR_INIT;
    assert_int_equal(
        parse(START ",\"driver\":\"sqlite\",\"library\":\"lib/a.so\"}", "/m", &manifest, &error),
        0);
    assert_string_equal(manifest.library, "/m/lib/a.so");
    manifest_release(&manifest);
    assert_int_equal(parse(START ",\"command\":[\"./w\",\"./x\"]}", "/m", &manifest, &error), 0);
    assert_string_equal(manifest.command.items[0], "/m/./w");
    assert_string_equal(manifest.command.items[1], "./x");
    manifest_release(&manifest);
    assert_int_equal(parse(START ",\"command\":[\"sh\"]}", "/m", &manifest, &error), 0);
    assert_string_equal(manifest.command.items[0], "sh");
    assert_true(manifest_ready(&manifest, NULL));
    manifest_release(&manifest);
    assert_int_equal(
        parse(START ",\"command\":[\"sh\"],\"needs\":[\"/\",\"a/b.js\"]}", "/m", &manifest, &error),
        0);
    assert_int_equal(manifest.needs.count, 2);
    assert_string_equal(manifest.needs.items[1], "/m/a/b.js");
    char *why = NULL;
    assert_false(manifest_ready(&manifest, &why));
    assert_string_equal(why, "it needs /m/a/b.js: No such file or directory");
    free(why);
    manifest_release(&manifest);
    assert_int_equal(
        parse(START ",\"driver\":\"sqlite\",\"library\":\"a.so\"}", NULL, &manifest, &error),
        ERROR_INVALID);
    assert_holds(error.message, "relative");
}

static const struct {
    const char *text, *first, *second;
} refused_table[] = {
    {"", "/m/mine.json", ""},
    {"[]", "a list", "object"},
    {"{\"name\":\"mine\",}", "/m/mine.json", ""},
    {START ",\"summary\":\"x\",\"driver\":\"null\"}", "/m/mine.json", "duplicate"},
    {START ",\"driver\":\"null\",\"libary\":\"x\"}", "\"libary\"", "\"library\""},
    {START ",\"driver\":\"null\",\"zzzzzzzzzz\":1}", "\"zzzzzzzzzz\"", "takes_path"},
    {"{\"summary\":\"x\",\"driver\":\"null\"}", "\"name\"", "missing"},
    {"{\"name\":\"mine\",\"driver\":\"null\"}", "\"summary\"", "missing"},
    {"{\"name\":7,\"summary\":\"x\",\"driver\":\"null\"}", "\"name\"", "a number"},
    {"{\"name\":\"a,b\",\"summary\":\"x\",\"driver\":\"null\"}", "a,b", "letters"},
    {"{\"name\":\"other\",\"summary\":\"x\",\"driver\":\"null\"}", "other.json", "disagree"},
    {START "}", "neither", "driver"},
    {START ",\"driver\":\"null\",\"command\":[\"x\"]}", "both", "driver"},
    {START ",\"command\":[]}", "an empty list", "program"},
    {START ",\"command\":\"x\"}", "a text", "list"},
    {START ",\"command\":[\"x\",1]}", "a number", "text"},
    {START ",\"driver\":\"\"}", "\"driver\"", "empty"},
    {START ",\"driver\":null}", "\"driver\"", "null"},
    {START ",\"driver\":\"null\",\"needs\":\"x\"}", "a text", "list of paths"},
    {START ",\"driver\":\"null\",\"needs\":[true]}", "\"needs\"", "text"},
    {START ",\"driver\":\"null\",\"default\":1}", "\"default\"", "true or false"},
    {START ",\"driver\":\"null\",\"options\":{\"a\":1}}", "\"a\"", "text"},
    {START ",\"driver\":\"null\",\"options\":{\"a=b\":\"1\"}}", "a=b", "'='"},
    {START ",\"driver\":\"null\",\"required\":[]}", "\"required\"", "object of texts"},
    {START ",\"driver\":\"null\",\"notes\":\"x\"}", "\"notes\"", "list of texts"},
    {START ",\"driver\":\"null\",\"notes\":[1]}", "\"notes\"", "text"},
    {START ",\"driver\":\"null\",\"second_opinion\":true}", "\"second_opinion\"", "text"},
    {START ",\"driver\":\"null\",\"faults\":{}}", "\"faults\"", "list"},
    {START ",\"driver\":\"null\",\"faults\":[1]}", "faults[0]", "object"},
    {START ",\"driver\":\"null\",\"faults\":[{\"versions\":\"1\"}]}", "faults[0]", "\"text\""},
    {START ",\"driver\":\"null\",\"faults\":[{\"versions\":\"1\",\"txt\":\"x\"}]}", "\"txt\"",
     "\"text\""},
    {START ",\"driver\":\"null\",\"faults\":[{\"versions\":\"<1\",\"text\":\"x\"}]}", "\"<1\"",
     "1.2.3..1.4.0"},
    {START ",\"driver\":\"null\",\"library\":\"/${version}\"}", "${version}", "\"version\""},
    {START ",\"driver\":\"null\",\"library\":\"/${home}\"}", "${home}", "${cache}"},
    {START ",\"driver\":\"null\",\"get\":\"x ${home}\"}", "\"get\"", "${home}"},
    {START ",\"driver\":\"null\",\"options\":{\"a\":\"${version}\"}}", "\"options\"", "${version}"},
    {START ",\"driver\":\"null\",\"takes_version\":true}", "found none",
     "${cache}/mine@${version}/"},
    {START ",\"driver\":\"null\",\"takes_version\":true,\"version\":\"1\",\"library\":\"/x.so\"}",
     "found /x.so", "${cache}/mine@${version}/"},
    {START ",\"driver\":\"null\",\"takes_version\":true,"
           "\"library\":\"${cache}/mine@${version}/x.so\"}",
     "needs a \"version\"", "/m/mine.json"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_table / sizeof *refused_table; i++) {
        struct manifest manifest;
        struct error error = ERROR_INIT;
        if (parse(refused_table[i].text, "/m", &manifest, &error) != ERROR_INVALID) {
            fail_msg("%s: %d %s", refused_table[i].text, (int)error.code, error.message);
        }
        assert_null(manifest.name);
        assert_holds(error.message, "/m/mine.json");
        assert_holds(error.message, refused_table[i].first);
        assert_holds(error.message, refused_table[i].second);
    }
}

static void check_ready(const char *text, const char *reason)
{
    struct manifest manifest;
    struct error error = ERROR_INIT;
    char *why = NULL;
    assert_int_equal(parse(text, folder, &manifest, &error), 0);
    assert_int_equal(manifest_ready(&manifest, &why), reason == NULL);
    if (reason == NULL) {
        assert_null(why);
    } else {
        assert_non_null(why);
        assert_holds(why, reason);
    }
    free(why);
    manifest_release(&manifest);
}

static void ready(void **state)
{
    (void)state;
    write_text(in_folder("a.so"), "x");
    write_text(in_folder("program"), "x");
    chmod(in_folder("program"), 0755);
    check_ready(START ",\"driver\":\"null\"}", NULL);
    check_ready(START ",\"driver\":\"sqlite\",\"library\":\"a.so\"}", NULL);
    check_ready(START ",\"driver\":\"sqlite\",\"library\":\"b.so\"}", "b.so");
    check_ready(START ",\"driver\":\"sqlite\",\"library\":\".\"}", "no file");
    check_ready(START ",\"driver\":\"sqlite\",\"takes_path\":true}", "mine=PATH");
    check_ready(START ",\"command\":[\"./program\"]}", NULL);
    check_ready(START ",\"command\":[\"./a.so\"]}", "may not be run");
    check_ready(START ",\"command\":[\"./none\"]}", "none");
    check_ready(START ",\"command\":[\"pitot-no-such-program\"]}", "PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_manifest),
        cmocka_unit_test(relative_paths),
        cmocka_unit_test(refused),
        cmocka_unit_test_setup_teardown(ready, make_test_folder, remove_test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
