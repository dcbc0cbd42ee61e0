/* Of a worker's log that is kept which says why it ended. */
#include "coordinator/worker_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void release(result_strings *log)
{
    for (size_t i = 0; i < log->count; i++) {
        free(log->items[i]);
    }
    free(log->items);
}

static void test_last_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *last;
        size_t count;
    } cases[] = {
        {"", NULL, 0},
        {"\n\n\n", NULL, 0},
        {"one\n\ntwo\n", "two", 2},
        {"no line feed", "no line feed", 1},
        /* A module that throws. */
        {"file:///w/worker.mjs:1\nthrow new Error('why')\n      ^\n\nError: why\n"
         "    at file:///w/worker.mjs:1:7\n    at async f (node:x:1:2)\n\nNode.js v24.0.0\n",
         "Error: why", 3},
        /* A module that is missing. */
        {"Error [ERR_X]: why\n    at f (node:x:1:2) {\n  code: 'ERR_X',\n  url: 'file:///w/a.mjs'\n"
         "}\n\nNode.js v24.0.0\n",
         "Error [ERR_X]: why", 1},
        /* Node without memory. */
        {"#\n# Fatal process out of memory: why\n#\n----- Native stack trace -----\n\n"
         " 1: 0x9f17a1  [/n/node]\n 2: 0x27e v8::base::FatalOOM() [/n/node]\n13: 0x7 _start\n",
         "# Fatal process out of memory: why", 1},
        {"#\n# Fatal error in , line 0\n# Check failed: why.\n#\n#\n#FailureMessage Object: "
         "0x7ffc\n"
         "----- Native stack trace -----\n 1: 0x9\n",
         "# Check failed: why.", 2},
        /* A panic, with RUST_BACKTRACE=1 and without. */
        {"thread 'main' panicked at core/x.rs:1:2:\nwhy\nstack backtrace:\n   0: begin_unwind\n"
         "             at /rustc/1/x.rs:1:2\n   1: main\n"
         "note: Some details are omitted, run with `RUST_BACKTRACE=full`\n",
         "why", 2},
        {"thread 'main' panicked at core/x.rs:1:2:\nwhy\nnote: run with `RUST_BACKTRACE=1`\n",
         "why", 2},
        /* Looks alike, and is none. */
        {"12:30 done\n", "12:30 done", 1},
        {"1234: done\n", "1234: done", 1},
        {"attention\n", "attention", 1},
        {"\xc3\xbc\n", "\xc3\xbc", 1},
        /* Nothing else. */
        {" 1: 0x9\n 2: 0x8\n", " 2: 0x8", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result_strings log = {NULL, 0};
        worker_log_keep(cases[i].text, strlen(cases[i].text), &log);
        assert_int_equal(log.count, cases[i].count);
        if (log.count > 0) {
            assert_string_equal(log.items[log.count - 1], cases[i].last);
        }
        release(&log);
    }
}

static void test_limits(void **state)
{
    (void)state;
    char text[4096] = "first\n";
    for (int i = 0; i < 12; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "line %d\n   %d: frame\n", i, i);
    }
    size_t used = strlen(text);
    memset(text + used, 'x', WORKER_LOG_LINE_BYTES + 1);
    text[used + WORKER_LOG_LINE_BYTES + 1] = '\0';
    result_strings log = {NULL, 0};
    worker_log_keep(text, strlen(text), &log);
    assert_int_equal(log.count, WORKER_LOG_LINES);
    assert_string_equal(log.items[0], "line 3");
    assert_int_equal(strlen(log.items[WORKER_LOG_LINES - 1]), WORKER_LOG_LINE_BYTES);
    release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_line),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
