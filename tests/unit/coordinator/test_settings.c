#include "coordinator/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void asked_and_got(void **state)
{
    (void)state;
    const struct {
        const char *name, *asked, *got;
        bool agrees;
    } cases[] = {
        {"synchronous", "normal", "1", true},
        {"synchronous", "NORMAL", "1", true},
        {"synchronous", "normal", "2", false},
        {"synchronous", "off", "0", true},
        {"synchronous", "extra", "3", true},
        {"journal_mode", "WAL", "wal", true},
        {"journal_mode", "wal", "delete", false},
        {"journal_mode", "off", "off", true},
        {"journal_mode", "off", "wal", false},
        {"cache_size", "-65536", "-65536", true},
        {"cache_size", "-65536", "-2000", false},
        {"page_size", "512", "512", true},
        {"auto_vacuum", "full", "1", true},
        {"auto_vacuum", "1", "1", true},
        {"encoding", "'UTF-16le'", "UTF-16le", true},
        {"encoding", "utf-16LE", "UTF-16le", true},
        {"encoding", "'UTF-16le'", "UTF-8", false},
        {"foreign_keys", "on", "1", true},
        {"foreign_keys", "yes", "1", true},
        {"foreign_keys", "off", "1", false},
        {"temp_store", "memory", "2", true},
        {"mmap_size", "0", NULL, false},
        {"mmap_size", "0x10", "16", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (setting_agrees(cases[i].name, cases[i].asked, cases[i].got) != cases[i].agrees) {
            fail_msg("%s: asked %s, got %s", cases[i].name, cases[i].asked,
                     cases[i].got ? cases[i].got : "nothing");
        }
    }
}

static const char *value_of(const result_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, name) == 0) {
            return pairs->items[i].value;
        }
    }
    return NULL;
}

static void pragmas_replace_defaults_and_come_in_order(void **state)
{
    (void)state;
    struct result_pair given[] = {
        {(char[]){"mmap_size"}, (char[]){"1000"}},
        {(char[]){"page_size"}, (char[]){"512"}},
        {(char[]){"synchronous"}, (char[]){"full"}},
    };
    const result_pairs pragmas = {given, 3};
    const struct plan plan = {.cache_size = -65536, .busy_timeout_ms = 15000, .pragmas = &pragmas};
    struct error error = ERROR_INIT;
    result_pairs out = {NULL, 0};
    assert_int_equal(settings_of_plan(&plan, NULL, &out, &error), 0);
    assert_string_equal(value_of(&out, "page_size"), "512");
    assert_string_equal(value_of(&out, "journal_mode"), "wal");
    assert_string_equal(value_of(&out, "synchronous"), "full");
    assert_string_equal(value_of(&out, "cache_size"), "-65536");
    assert_string_equal(value_of(&out, "mmap_size"), "1000");
    assert_string_equal(out.items[0].name, "page_size");
    assert_string_equal(value_of(&out, "busy_timeout"), "15000");
    assert_int_equal(out.count, 6);
    settings_release(&out);

    result_strings file = {NULL, 0};
    assert_int_equal(settings_of_file(&plan, &file, &error), 0);
    assert_int_equal(file.count, 1);
    assert_string_equal(file.items[0], "page_size=512");
    free(file.items[0]);
    free(file.items);
}

static void a_manifest_has_the_last_word(void **state)
{
    (void)state;
    struct result_pair own[] = {{(char[]){"journal_mode"}, (char[]){"mvcc"}}};
    const struct manifest manifest = {.required = {own, 1}};
    const struct plan plan = {.cache_size = 100};
    struct error error = ERROR_INIT;
    result_pairs out = {NULL, 0};
    assert_int_equal(settings_of_plan(&plan, &manifest, &out, &error), 0);
    assert_string_equal(value_of(&out, "journal_mode"), "mvcc");
    settings_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_and_got),
        cmocka_unit_test(pragmas_replace_defaults_and_come_in_order),
        cmocka_unit_test(a_manifest_has_the_last_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
