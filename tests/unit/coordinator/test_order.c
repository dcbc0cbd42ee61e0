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
                    order_of_round(seed, engines, square * engines + row, order);
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
        order_of_round(seed, MOST, 0, first);
        order_of_round(seed, MOST, 0, again);
        assert_memory_equal(first, again, sizeof first);
        order_of_round(seed + 1, MOST, 0, again);
        differ += memcmp(first, again, sizeof first) != 0 ? 1 : 0;
    }
    assert_true(differ >= 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_square_is_latin),
        cmocka_unit_test(the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
