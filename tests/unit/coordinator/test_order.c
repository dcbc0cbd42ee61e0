#include "coordinator/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 7 };

/* Over as many rounds as there are engines, each engine has each position once. */
static void every_square_is_latin(void **state)
{
    (void)state;
    for (size_t engines = 1; engines <= MOST; engines++) {
        for (uint32_t seed = 0; seed < 20; seed++) {
            for (size_t square = 0; square < 3; square++) {
                bool seen[MOST][MOST] = {{false}};
                for (size_t row = 0; row < engines; row++) {
                    size_t order[MOST];
                    order_of_round(seed, engines, square * engines + row, square, order);
                    for (size_t position = 0; position < engines; position++) {
                        assert_true(order[position] < engines);
                        assert_false(seen[order[position]][position]);
                        seen[order[position]][position] = true;
                    }
                }
            }
        }
    }
}

static void the_seed_decides(void **state)
{
    (void)state;
    size_t first[MOST];
    size_t again[MOST];
    size_t differ = 0;
    for (uint32_t seed = 0; seed < 20; seed++) {
        order_of_round(seed, MOST, 0, 0, first);
        order_of_round(seed, MOST, 0, 0, again);
        assert_memory_equal(first, again, sizeof first);
        order_of_round(seed + 1, MOST, 0, 0, again);
        differ += memcmp(first, again, sizeof first) != 0 ? 1 : 0;
        order_of_round(seed, MOST, 0, 1, again); /* another case, another order */
        differ += memcmp(first, again, sizeof first) != 0 ? 1 : 0;
    }
    assert_true(differ >= 38);
}

static void every_round_and_case_has_numbers_of_its_own(void **state)
{
    (void)state;
    enum { ROUNDS = 30, CASES = 4 };
    assert_int_equal(order_seed(7, 0, 0), 7);
    for (size_t i = 0; i < ROUNDS * CASES; i++) {
        assert_int_equal(order_seed(7, i / CASES, i % CASES), order_seed(7, i / CASES, i % CASES));
        for (size_t other = 0; other < i; other++) {
            assert_int_not_equal(order_seed(7, i / CASES, i % CASES),
                                 order_seed(7, other / CASES, other % CASES));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_square_is_latin),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(every_round_and_case_has_numbers_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
