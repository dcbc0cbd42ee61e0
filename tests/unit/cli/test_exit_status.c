/* Every error code and every mix of engines has one exit status. */
#include "cli/exit_status.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        enum error_code code;
        int signal;
        int status;
        int input_status;
    } cases[] = {
        {ERROR_NONE, 0, 0, 0},
        {ERROR_INVALID, 0, 2, 2},
        {ERROR_UNAVAILABLE, 0, 3, 3},
        {ERROR_ENGINE, 0, 3, 3},
        {ERROR_PROTOCOL, 0, 3, 2},
        {ERROR_IO, 0, 3, 2},
        {ERROR_FULL, 0, 3, 3},
        {ERROR_MEMORY, 0, 3, 3},
        {ERROR_TIMEOUT, 0, 3, 3},
        {ERROR_BUSY, 0, 3, 3},
        {ERROR_INTERRUPTED, SIGINT, 130, 130},
        {ERROR_INTERRUPTED, SIGTERM, 143, 143},
        {ERROR_INTERRUPTED, 0, 130, 130},
        /* A signal that came besides does not hide the cause. */
        {ERROR_FULL, SIGINT, 3, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(exit_status_of_error(cases[i].code, cases[i].signal), cases[i].status);
        assert_int_equal(exit_status_of_input_error(cases[i].code, cases[i].signal),
                         cases[i].input_status);
    }
}

static void test_results(void **state)
{
    (void)state;
    static const struct {
        const char *engines[3];
        bool partial;
        int signal;
        int status;
    } cases[] = {
        {{"ok", "ok"}, false, 0, 0},
        {{"ok", "failed"}, false, 0, 1},
        {{"ok", "partial"}, false, 0, 1},
        {{"partial"}, false, 0, 1},
        {{"failed", "failed"}, false, 0, 3},
        {{NULL}, false, 0, 3},
        {{"ok"}, true, 0, 1},
        /* To lock its file is no fault, but it measures nothing. */
        {{"ok", "unable"}, false, 0, 0},
        {{"unable", "failed", "ok"}, false, 0, 1},
        {{"unable", "failed"}, false, 0, 3},
        {{"unable"}, false, 0, 3},
        {{"partial", "ok"}, true, SIGINT, 130},
        {{"partial", "ok"}, true, SIGTERM, 143},
        {{"failed"}, true, SIGTERM, 143},
        /* The signal came when all was done. */
        {{"ok"}, false, SIGINT, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result_engine engines[3] = {0};
        struct result result = {.partial = cases[i].partial};
        result.engines.items = engines;
        while (result.engines.count < 3 && cases[i].engines[result.engines.count] != NULL) {
            engines[result.engines.count].status = (char *)cases[i].engines[result.engines.count];
            result.engines.count++;
        }
        assert_int_equal(exit_status_of_result(&result, cases[i].signal), cases[i].status);
    }
}

/* What went wrong after the rounds is told, too; that an engine has no event loop is nothing wrong.
 */
static void test_event_loop(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        int exit_status;
    } cases[] = {{"ok", 0}, {"unable", 0}, {"failed", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result_engine engine = {.status = (char *)"ok"};
        engine.event_loop.status = (char *)cases[i].status;
        struct result result = {.engines = {&engine, 1}};
        assert_int_equal(exit_status_of_result(&result, 0), cases[i].exit_status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_event_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
