/* The fair start: how long a copy that is still dirty is waited for, and what is said of it. */
#include "coordinator/conditions.h"

#include "core/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* A machine whose time passes only while it is waited for. */
struct machine {
    uint64_t now_ns;
    uint64_t dirty;
    uint64_t clean_at_ns; /* when the dirty bytes are written back; UINT64_MAX: never */
    uint64_t pauses;
};

static uint64_t dirty_bytes(void *context)
{
    const struct machine *machine = context;
    return machine->now_ns >= machine->clean_at_ns ? 0 : machine->dirty;
}

static uint64_t now_ns(void *context)
{
    return ((const struct machine *)context)->now_ns;
}

static void pass_time(void *context, uint64_t ns)
{
    struct machine *machine = context;
    machine->now_ns += ns;
    machine->pauses++;
}

static void begin(struct conditions *conditions, struct machine *machine, uint64_t dirty_at_start)
{
    const struct conditions_source source = {dirty_bytes, now_ns, pass_time, machine};
    *machine = (struct machine){
        .now_ns = 5 * NS_PER_S, .dirty = dirty_at_start, .clean_at_ns = UINT64_MAX};
    conditions_init_with(conditions, &source);
    assert_int_equal(conditions->dirty_at_start, dirty_at_start);
}

static void a_clean_machine_starts_at_once(void **state)
{
    (void)state;
    struct conditions conditions;
    struct machine machine;
    uint64_t dirty;
    begin(&conditions, &machine, 100 * MIB);
    /* What was dirty when the command started is not its own. */
    machine.dirty = 116 * MIB;
    assert_true(conditions_settle(&conditions, &dirty));
    assert_int_equal(dirty, 16 * MIB);
    machine.dirty = 3 * MIB;
    assert_true(conditions_settle(&conditions, &dirty));
    assert_int_equal(dirty, 0);
    assert_int_equal(machine.pauses, 0);
    assert_int_equal(conditions.timeouts, 0);
}

static void a_dirty_copy_is_waited_for(void **state)
{
    (void)state;
    struct conditions conditions;
    struct machine machine;
    uint64_t dirty;
    begin(&conditions, &machine, 0);
    machine.dirty = 16 * MIB + 1;
    machine.clean_at_ns = machine.now_ns + 29 * NS_PER_S;
    assert_true(conditions_settle(&conditions, &dirty));
    assert_int_equal(dirty, 0);
    assert_true(machine.now_ns >= machine.clean_at_ns);
    assert_true(machine.pauses > 0);
    assert_int_equal(conditions.timeouts, 0);
}

static void one_that_stays_dirty_is_told_of(void **state)
{
    (void)state;
    struct conditions conditions;
    struct machine machine;
    begin(&conditions, &machine, 0);
    machine.dirty = 500 * MIB;
    const uint64_t waits_s[] = {30, 30, 2, 2};
    for (size_t i = 0; i < sizeof waits_s / sizeof *waits_s; i++) {
        uint64_t before = machine.now_ns;
        uint64_t dirty = 0;
        assert_false(conditions_settle(&conditions, &dirty));
        /* More than CONDITIONS_DIRTY_MAX in the result is what warns. */
        assert_int_equal(dirty, 500 * MIB);
        assert_true(dirty > CONDITIONS_DIRTY_MAX);
        assert_int_equal(conditions.timeouts, i + 1);
        assert_true(machine.now_ns - before >= waits_s[i] * NS_PER_S);
        assert_true(machine.now_ns - before < (waits_s[i] + 1) * NS_PER_S);
    }
}

static void an_unknown_figure_holds_nothing_up(void **state)
{
    (void)state;
    struct conditions conditions;
    struct machine machine;
    uint64_t dirty = 1;
    begin(&conditions, &machine, USAGE_ABSENT);
    assert_true(conditions_settle(&conditions, &dirty));
    assert_int_equal(dirty, USAGE_ABSENT);
    begin(&conditions, &machine, 0);
    machine.dirty = USAGE_ABSENT;
    assert_true(conditions_settle(&conditions, &dirty));
    assert_int_equal(dirty, USAGE_ABSENT);
    assert_int_equal(machine.pauses, 0);
}

static void the_real_machine_answers(void **state)
{
    (void)state;
    struct conditions conditions;
    conditions_init(&conditions);
    assert_true(conditions.source.now_ns(NULL) > 0);
    assert_int_equal(conditions.timeouts, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_machine_starts_at_once),
        cmocka_unit_test(a_dirty_copy_is_waited_for),
        cmocka_unit_test(one_that_stays_dirty_is_told_of),
        cmocka_unit_test(an_unknown_figure_holds_nothing_up),
        cmocka_unit_test(the_real_machine_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
