#include "measure/usage.h"

#include "core/clock.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

static void differences_keep_what_is_absent(void **state)
{
    (void)state;
    struct usage from = {.cpu_user_ns = 10,
                         .cpu_system_ns = 5,
                         .minor_faults = 1,
                         .major_faults = USAGE_ABSENT,
                         .voluntary_switches = 3,
                         .involuntary_switches = 9,
                         .read_bytes = USAGE_ABSENT,
                         .write_bytes = 100};
    struct usage to = {.cpu_user_ns = 30,
                       .cpu_system_ns = 5,
                       .minor_faults = 4,
                       .major_faults = 7,
                       .voluntary_switches = USAGE_ABSENT,
                       .involuntary_switches = 7,
                       .read_bytes = USAGE_ABSENT,
                       .write_bytes = 4196};
    struct usage window = usage_between(&from, &to);
    assert_int_equal(window.cpu_user_ns, 20);
    assert_int_equal(window.cpu_system_ns, 0);
    assert_int_equal(window.minor_faults, 3);
    assert_int_equal(window.major_faults, USAGE_ABSENT);
    assert_int_equal(window.voluntary_switches, USAGE_ABSENT);
    assert_int_equal(window.involuntary_switches, USAGE_ABSENT); /* went back */
    assert_int_equal(window.read_bytes, USAGE_ABSENT);
    assert_int_equal(window.write_bytes, 4096);
}

static void cpu_and_faults_are_counted(void **state)
{
    (void)state;
    struct usage from, to;
    const size_t size = (size_t)8 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    usage_now(&from);
    uint64_t thread_from = clock_thread_cpu_ns();
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += page) {
        memory[i] = 1;
    }
    while (clock_thread_cpu_ns() - thread_from < 20 * NS_PER_MS) {
    }
    usage_now(&to);
    munmap(memory, size);
    struct usage window = usage_between(&from, &to);
    assert_true(window.minor_faults >= size / page);
    assert_true(window.cpu_user_ns + window.cpu_system_ns > 0);
    assert_true(window.cpu_user_ns != USAGE_ABSENT && window.cpu_system_ns != USAGE_ABSENT);
}

static void peak_memory_knows_what_was_touched(void **state)
{
    (void)state;
    uint64_t before = usage_peak_memory();
    if (before == USAGE_ABSENT) {
        print_message("no VmHWM here\n");
        skip();
    }
    const size_t size = (size_t)before + ((size_t)16 << 20);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 1, size);
    munmap(memory, size);
    assert_true(usage_peak_memory() >= size);
}

/* Bytes written to a file and synced reach the storage layer. */
static void written_bytes_are_counted(void **state)
{
    (void)state;
    struct usage from, to;
    char path[256], part[4096];
    memset(part, 'x', sizeof part);
    snprintf(path, sizeof path, "%s/test-usage-XXXXXX", TEST_BINARY_DIR);
    usage_now(&from);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(write(fd, part, sizeof part), sizeof part);
    }
    fsync(fd);
    usage_now(&to);
    double share = usage_resident_share(path);
    close(fd);
    unlink(path);
    struct usage window = usage_between(&from, &to);
    assert_true(window.write_bytes == USAGE_ABSENT || window.write_bytes == 0 || /* tmpfs */
                window.write_bytes >= 64 * sizeof part);
    assert_true(share > 0.0 && share <= 1.0);
}

static void residence_is_nan_where_it_cannot_be_told(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/test-usage-XXXXXX", TEST_BINARY_DIR);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(isnan(usage_resident_share(path))); /* no page, no share */
    /* Three parts of the walk; a hole that nobody has read is not in memory. */
    assert_int_equal(ftruncate(fd, ((off_t)128 << 20) + 1), 0);
    assert_true(usage_resident_share(path) == 0.0);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)128 << 20), 1);
    assert_true(usage_resident_share(path) > 0.0);
    close(fd);
    unlink(path);
    assert_true(isnan(usage_resident_share(path)));
    assert_true(isnan(usage_resident_share("/dev/null")));
    assert_true(isnan(usage_resident_share(TEST_BINARY_DIR)));
}

static void run_queue_never_goes_back(void **state)
{
    (void)state;
    assert_int_equal(usage_run_queue_ns(-1), USAGE_ABSENT);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(usage_run_queue_ns(null), USAGE_ABSENT);
    close(null);
    int fd = usage_run_queue_open();
    if (fd < 0) {
        print_message("no schedstat here\n");
        skip();
    }
    uint64_t last = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t now = usage_run_queue_ns(fd);
        assert_true(now >= last || last == USAGE_ABSENT);
        last = now;
    }
    close(fd);
}

static void zeros_of_a_kernel_without_accounts_are_absent(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t expected;
    } cases[] = {
        {"0 0 0\n", USAGE_ABSENT}, {"123 0 1\n", 0},      {"5 777 9\n", 777},
        {"5 777", USAGE_ABSENT},   {"x\n", USAGE_ABSENT}, {"", USAGE_ABSENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = memfd_create("schedstat", MFD_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, cases[i].text, strlen(cases[i].text)), strlen(cases[i].text));
        assert_int_equal(usage_run_queue_ns(fd), cases[i].expected);
        close(fd);
    }
}

static void machine_times_add_up(void **state)
{
    (void)state;
    struct usage_machine from, to;
    assert_int_equal(usage_machine_now(&from), 0);
    assert_true(from.total_ns > 0);
    assert_true(from.busy_ns + from.steal_ns <= from.total_ns);
    uint64_t start = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() - start < 100 * NS_PER_MS) {
    }
    assert_int_equal(usage_machine_now(&to), 0);
    assert_true(to.total_ns > from.total_ns);
    assert_true(to.busy_ns > from.busy_ns);
}

/* A process whose name is made to look like other fields. */
static void process_cpu_reads_past_any_name(void **state)
{
    (void)state;
    assert_int_equal(usage_process_cpu_ns(-1), USAGE_ABSENT);
    assert_int_equal(prctl(PR_SET_NAME, "a) R 1 (b", 0, 0, 0), 0);
    uint64_t before = usage_process_cpu_ns((int)getpid());
    uint64_t start = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() - start < 100 * NS_PER_MS) {
    }
    uint64_t after = usage_process_cpu_ns((int)getpid());
    assert_true(before != USAGE_ABSENT && after != USAGE_ABSENT);
    assert_true(after > before);
    struct usage usage;
    usage_now(&usage);
    assert_true(after <= usage.cpu_user_ns + usage.cpu_system_ns + 20 * NS_PER_MS);
}

static void dirty_bytes_are_pages(void **state)
{
    (void)state;
    uint64_t dirty = usage_dirty_bytes();
    assert_true(dirty != USAGE_ABSENT);
    assert_int_equal(dirty % 1024, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_keep_what_is_absent),
        cmocka_unit_test(cpu_and_faults_are_counted),
        cmocka_unit_test(peak_memory_knows_what_was_touched),
        cmocka_unit_test(written_bytes_are_counted),
        cmocka_unit_test(residence_is_nan_where_it_cannot_be_told),
        cmocka_unit_test(run_queue_never_goes_back),
        cmocka_unit_test(zeros_of_a_kernel_without_accounts_are_absent),
        cmocka_unit_test(machine_times_add_up),
        cmocka_unit_test(process_cpu_reads_past_any_name),
        cmocka_unit_test(dirty_bytes_are_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
