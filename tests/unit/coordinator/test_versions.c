/* Which versions a known fault applies to. */
#include "coordinator/registry_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct {
    const char *versions, *version;
    bool applies;
} applies_table[] = {
    {"0.7.2", "0.7.2", true},
    {"0.7.2", "0.7.3", false},
    {"0.7.2", "0.7.20", false},
    {"0.7", "0.7.0", true},
    {"3.7.0..3.51.2", "3.7.0", true},
    {"3.7.0..3.51.2", "3.51.2", true},
    {"3.7.0..3.51.2", "3.9.1", true}, /* 9 comes before 51 */
    {"3.7.0..3.51.2", "3.6.23.1", false},
    {"3.7.0..3.51.2", "3.8.7.1", true},
    {"3.7.0..3.51.2", "3.51.3", false},
    {"3.7.0..3.51.2", "3.100.0", false},
    {"3.7.0..3.51.2", "4.0", false},
    {"3.7.0..3.51.2 except 3.44.6 3.50.7", "3.44.6", false},
    {"3.7.0..3.51.2 except 3.44.6 3.50.7", "3.50.7", false},
    {"3.7.0..3.51.2 except 3.44.6 3.50.7", "3.44.5", true},
    {"3.7.0..3.51.2 except 3.44.6 3.50.7", "3.40.1 (Debian)", true},
    {"3.7.0..3.51.2 except 3.44.6 3.50.7", "3.40.1+build7", true},
    {"0.8..0.9.0", "0.9.0-pre.2", true},
    {"0.8..0.9.0-pre.2", "0.9.0", false},
    {"0.9.0-pre.2", "0.9.0-pre.2", true},
    {"0.9.0-pre.2..0.9.0", "0.9.0-pre.10", true}, /* 10 comes after 2 */
    {"0.9.0-pre.2..0.9.0", "0.9.0-pre.1", false},
    {"0.9.0-pre.2..0.9.0", "0.9.0-pre", false},
    {"0.9.0-pre.2..0.9.0", "0.9.0-alpha", false},
    {"0.9.0-1..0.9.0-alpha", "0.9.0-2", true}, /* numbers come before words */
    {"0.7.2", NULL, false},
    {"0.7.2", "", false},
    {"0.7.2", "unknown", false},
    {"0.7.2", "0.7.2x", false},
};

static void fault_applies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof applies_table / sizeof *applies_table; i++) {
        char versions[64];
        snprintf(versions, sizeof versions, "%s", applies_table[i].versions);
        const struct manifest_fault fault = {.versions = versions};
        assert_true(versions_valid(versions));
        if (manifest_fault_applies(&fault, applies_table[i].version) != applies_table[i].applies) {
            fail_msg("%s with %s", versions,
                     applies_table[i].version == NULL ? "NULL" : applies_table[i].version);
        }
    }
}

static void invalid_versions(void **state)
{
    (void)state;
    static const char *const invalid[] = {
        "",          "x",     "1.",         ".1",       "1..",       "..1",        "1...2",
        "1.2.3.4.5", "2..1",  "1 2",        "1 except", "1 except ", "1 except x", "1 except 2 x",
        "1-",        "1-a b", "9999999999", "1,2",
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        if (versions_valid(invalid[i])) {
            fail_msg("\"%s\" is taken", invalid[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_applies),
        cmocka_unit_test(invalid_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
