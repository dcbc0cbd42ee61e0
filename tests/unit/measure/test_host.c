#include "measure/host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_text(const char *found, const char *expected)
{
    if (expected == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, expected);
    }
}

static void processors_have_names_on_both_architectures(void **state)
{
    (void)state;
    static const struct {
        const char *cpuinfo, *tree_model, *expected;
    } cases[] = {
        {"processor\t: 0\nvendor_id\t: X\nmodel\t\t: 1\nmodel name\t: Fast CPU @ 3 GHz\nflags\t: "
         "a\n",
         NULL, "Fast CPU @ 3 GHz"},
        {"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n", NULL,
         "Arm Neoverse N1"},
        {"CPU implementer\t: 0x41\nCPU part\t: 0xd08\n", "Raspberry Pi 4 Model B Rev 1.4",
         "Arm Cortex-A72 on Raspberry Pi 4 Model B Rev 1.4"},
        {"CPU implementer\t: 0x41\nCPU part\t: 0xfff\n", NULL, "Arm part 0xfff"},
        {"CPU implementer\t: 0x7f\nCPU part\t: 0x001\n", NULL, "implementer 0x7f part 0x001"},
        {"processor\t: 0\n", "Some Board", "Some Board"},
        {"", "", NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *found = host_cpu_model(cases[i].cpuinfo, cases[i].tree_model);
        assert_text(found, cases[i].expected);
        free(found);
    }
}

static const char mounts[] = "22 27 0:21 / /proc rw - proc proc rw\n"
                             "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
                             "28 27 0:25 / /data rw shared:7 master:1 - xfs /dev/sdb1 rw\n"
                             "29 27 0:26 / /data/my\\040folder rw - tmpfs my\\134source rw\n"
                             "a broken line\n"
                             "30 27 0:27 / /over rw - overlay first rw\n"
                             "31 27 0:28 / /over rw - btrfs second rw\n";

static void the_innermost_latest_mount_counts(void **state)
{
    (void)state;
    static const struct {
        const char *path, *file_system, *device;
    } cases[] = {
        {"/", "ext4", "/dev/vda"},
        {"/home/x", "ext4", "/dev/vda"},
        {"/data", "xfs", "/dev/sdb1"},
        {"/data/x", "xfs", "/dev/sdb1"},
        {"/database", "ext4", "/dev/vda"}, /* not below /data */
        {"/data/my folder/x", "tmpfs", "my\\source"},
        {"/over/x", "btrfs", "second"},
        {"relative", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *file_system, *device;
        host_mount_of(mounts, cases[i].path, &file_system, &device);
        assert_text(file_system, cases[i].file_system);
        assert_text(device, cases[i].device);
        free(file_system);
        free(device);
    }
}

static void this_machine_is_known(void **state)
{
    (void)state;
    struct host host;
    host_read(&host, TEST_BINARY_DIR);
    assert_true(host.cores >= 1 && host.cores_online >= 1);
    assert_true(host.cores_online <= host.cores);
    assert_non_null(host.kernel);
    assert_int_equal(strncmp(host.kernel, "Linux ", 6), 0);
    assert_true(host.memory_total_bytes >= host.memory_available_bytes);
    assert_true(host.memory_available_bytes > 0);
    assert_true(isnan(host.load_average) || host.load_average >= 0);
    assert_true(host.clock_cost_ns > 0);
    assert_true(host.clock_resolution_ns >= 1);
    assert_non_null(host.file_system);
    assert_non_null(host.device);
    host_release(&host);
    assert_null(host.kernel);
    host_release(&host); /* twice does no harm */
    host_read(&host, "/no such folder");
    assert_null(host.file_system);
    assert_non_null(host.kernel);
    host_release(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_have_names_on_both_architectures),
        cmocka_unit_test(the_innermost_latest_mount_counts),
        cmocka_unit_test(this_machine_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
