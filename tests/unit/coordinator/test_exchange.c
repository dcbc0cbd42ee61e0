/* What a worker may do to the coordinator, by small workers in the shell and short limits. */
#include "coordinator/exchange.h"
#include "coordinator/interrupt.h"
#include "coordinator/run_result.h"

#include "core/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Long enough for a shell to start on a busy machine; nothing that succeeds waits for it. */
#define PATIENCE_NS (60 * NS_PER_S)
#define SHORT_NS (200 * NS_PER_MS)

#define HELLO "echo '{\"kind\":\"hello\",\"protocol\":1}' >&3; "
#define READY "echo '{\"kind\":\"ready\"}' >&3; "
#define RESULT "echo '{\"kind\":\"result\"}' >&3; "
#define PROGRESS(done) "echo '{\"kind\":\"progress\",\"phase\":\"run\",\"done\":" #done "}' >&3; "
#define ERROR_LINE(phase, message)                                                                 \
    "echo '{\"kind\":\"error\",\"phase\":\"" phase "\",\"message\":\"" message "\"}' >&3; "
#define SILENCE "exec sleep 600"
/* A child in the worker's group that holds all its descriptors. */
#define CHILD "sleep 600 & "

/* ---- a worker, and what the coordinator knows of it ------------------------------------ */

static uint64_t updates, last_done;
static bool signal_at_update;

static void on_update(void *context, const struct progress_state *state)
{
    (void)context;
    last_done = state->done;
    updates++;
    if (signal_at_update) {
        raise(SIGINT);
    }
}

static void on_text(void *context, const char *text)
{
    (void)context, (void)text;
}

static const struct progress progress = {NULL, on_update, on_text, on_text};

struct worker {
    const char *command[3];
    struct manifest manifest;
    struct engine_choice choice;
    struct exchange_worker worker;
    result_strings log;
    struct error error;
};

static void describe(struct worker *worker, const char *script)
{
    static char name[] = "fake";
    memset(worker, 0, sizeof *worker);
    worker->command[0] = "/bin/sh";
    worker->command[1] = "-c";
    worker->command[2] = script;
    worker->manifest.name = name;
    worker->manifest.command.items = (char **)worker->command;
    worker->manifest.command.count = 3;
    worker->choice.name = name;
    worker->choice.manifest = &worker->manifest;
}

static int start(struct worker *worker, const char *script, uint64_t hello_ns)
{
    describe(worker, script);
    return worker_start_within(&worker->choice, hello_ns, &worker->worker.process,
                               &worker->worker.identity, &worker->log, &worker->error);
}

static void end(struct worker *worker)
{
    worker_end(worker->worker.process, 0, &worker->log);
    worker_identity_release(&worker->worker.identity);
    for (size_t i = 0; i < worker->log.count; i++) {
        free(worker->log.items[i]);
    }
    free(worker->log.items);
    /* This process is a subreaper: whatever a worker left has been killed and comes here. */
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    assert_int_equal(errno, ECHILD);
}

static struct exchange exchange_with(struct worker *worker)
{
    return (struct exchange){.workers = &worker->worker,
                             .count = 1,
                             .engine = "fake",
                             .step = "test",
                             .progress = &progress,
                             .started_ns = clock_now_ns(),
                             .expected_ns = PROGRESS_UNKNOWN,
                             .headway_ns = UINT64_MAX,
                             .deadline_ns = UINT64_MAX};
}

static void assert_says(const struct error *error, int status, enum error_code code,
                        const char *text)
{
    if (status != (int)code || strstr(error->message, text) == NULL) {
        fail_msg("%d: \"%s\"; expected %d and \"%s\"", status, error->message, (int)code, text);
    }
}

/* ---- hello ---------------------------------------------------------------------------------- */

static void hello(void **state)
{
    (void)state;
    const struct {
        const char *script;
        uint64_t limit_ns;
        enum error_code code;
        const char *text;
    } cases[] = {
        {SILENCE, SHORT_NS, ERROR_TIMEOUT, "did not say hello in 0.2 s"},
        {"trap '' TERM INT HUP; while :; do sleep 600; done", SHORT_NS, ERROR_TIMEOUT, "hello"},
        /* A log without end must not keep the coordinator from the clock. */
        {"exec yes >&2", SHORT_NS, ERROR_TIMEOUT, "hello"},
        {"exec yes", SHORT_NS, ERROR_TIMEOUT, "hello"},
        {"echo '{\"kind\":' >&3", PATIENCE_NS, ERROR_PROTOCOL, "broke the protocol"},
        {"echo nonsense >&3", PATIENCE_NS, ERROR_PROTOCOL, "nonsense"},
        {"echo '[1]' >&3", PATIENCE_NS, ERROR_PROTOCOL, "not a JSON object"},
        {"printf '{\"kind\":\"hel' >&3", PATIENCE_NS, ERROR_PROTOCOL, "in the middle of a line"},
        {"exec 3>&-; " SILENCE, PATIENCE_NS, ERROR_PROTOCOL, "closed descriptor 3"},
        {READY SILENCE, PATIENCE_NS, ERROR_PROTOCOL, "\"ready\", not hello"},
        {"echo '{\"kind\":\"hello\",\"protocol\":2}' >&3;" SILENCE, PATIENCE_NS, ERROR_PROTOCOL,
         "protocol version 2"},
        {"echo '{\"kind\":\"hello\"}' >&3;" SILENCE, PATIENCE_NS, ERROR_PROTOCOL, "protocol"},
        {"echo '{\"kind\":\"hello\",\"protocol\":NaN}' >&3;" SILENCE, PATIENCE_NS, ERROR_PROTOCOL,
         "broke the protocol"},
        {"echo '{\"kind\":\"error\",\"message\":\"no library\"}' >&3", PATIENCE_NS, ERROR_ENGINE,
         "no library"},
        {"exit 7", PATIENCE_NS, ERROR_ENGINE, "status 7"},
        {CHILD "exit 7", PATIENCE_NS, ERROR_ENGINE, "status 7"},
        {CHILD "kill -9 $$", PATIENCE_NS, ERROR_ENGINE, "signal 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct worker worker;
        int status = start(&worker, cases[i].script, cases[i].limit_ns);
        end(&worker);
        assert_says(&worker.error, status, cases[i].code, cases[i].text);
    }
}

static void the_last_words_are_kept(void **state)
{
    (void)state;
    struct worker worker;
    int status = start(&worker,
                       "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; "
                       "echo panic >&2; exit 7",
                       PATIENCE_NS);
    assert_says(&worker.error, status, ERROR_ENGINE, "status 7");
    assert_int_equal(worker.log.count, 10);
    assert_string_equal(worker.log.items[8], "line 2999");
    assert_string_equal(worker.log.items[9], "panic");
    end(&worker);
}

/* ---- after hello ------------------------------------------------------------------------------
 */

static void waiting_for_a_line(void **state)
{
    (void)state;
    const struct {
        const char *script;
        uint64_t headway_ns; /* UINT64_MAX: no limit */
        uint64_t limit_ns;
        enum error_code code;
        const char *text;
    } cases[] = {
        {HELLO READY SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_NONE, ""},
        {HELLO PROGRESS(1) PROGRESS(2) READY SILENCE, PATIENCE_NS, PATIENCE_NS, ERROR_NONE, ""},
        {HELLO READY "exit 7", UINT64_MAX, PATIENCE_NS, ERROR_NONE, ""},
        {HELLO SILENCE, SHORT_NS, PATIENCE_NS, ERROR_TIMEOUT, "no headway for 0.2 s"},
        {HELLO SILENCE, UINT64_MAX, SHORT_NS, ERROR_TIMEOUT, "gave no ready in time"},
        /* Lines alone are no sign of life. */
        {HELLO "while :; do " PROGRESS(7) "done", SHORT_NS, PATIENCE_NS, ERROR_TIMEOUT,
         "its counter stood at 7"},
        /* A counter that moves is, but no deadline waits for it. */
        {HELLO "while :; do " PROGRESS(1) PROGRESS(2) "done", PATIENCE_NS, SHORT_NS, ERROR_TIMEOUT,
         "gave no ready in time"},
        {HELLO "exec yes '{\"kind\":\"progress\",\"done\":1}' >&3", UINT64_MAX, SHORT_NS,
         ERROR_TIMEOUT, "gave no ready in time"},
        {HELLO "exec yes >&2", SHORT_NS, PATIENCE_NS, ERROR_TIMEOUT, "no headway"},
        /* Held by a signal, as by a debugger: it neither speaks nor ends. */
        {HELLO "kill -STOP $$", SHORT_NS, PATIENCE_NS, ERROR_TIMEOUT,
         "the worker of fake made no headway for 0.2 s"},
        {HELLO PROGRESS(7) "kill -STOP $$", UINT64_MAX, SHORT_NS, ERROR_TIMEOUT,
         "the worker of fake gave no ready in time"},
        {HELLO RESULT SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_PROTOCOL,
         "\"result\" where ready was due"},
        {HELLO HELLO SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_PROTOCOL,
         "\"hello\" where ready was due"},
        {HELLO "echo '{}' >&3; " SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_PROTOCOL, "kind"},
        {HELLO "printf '\\0\\377\\n' >&3; " SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_PROTOCOL,
         "broke the protocol"},
        {HELLO "head -c 70000000 /dev/zero | tr '\\0' x >&3; " SILENCE, UINT64_MAX, PATIENCE_NS,
         ERROR_PROTOCOL, "more than 64 MiB"},
        {HELLO "printf '{\"kind\":\"ready\"}' >&3", UINT64_MAX, PATIENCE_NS, ERROR_PROTOCOL,
         "in the middle of a line"},
        {HELLO ERROR_LINE("open", "no file") SILENCE, UINT64_MAX, PATIENCE_NS, ERROR_ENGINE,
         "open: no file"},
        {HELLO "exit 7", UINT64_MAX, PATIENCE_NS, ERROR_ENGINE, "status 7 without a result"},
        {HELLO "kill -6 $$", UINT64_MAX, PATIENCE_NS, ERROR_ENGINE, "signal 6"},
        /* The pipes stay open, and still its death is seen. */
        {HELLO CHILD "kill -9 $$", UINT64_MAX, PATIENCE_NS, ERROR_ENGINE, "signal 9"},
        {HELLO CHILD READY "kill -9 $$", UINT64_MAX, PATIENCE_NS, ERROR_NONE, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct worker worker;
        json_t *line = NULL;
        assert_int_equal(start(&worker, cases[i].script, PATIENCE_NS), 0);
        struct exchange exchange = exchange_with(&worker);
        exchange.headway_ns = cases[i].headway_ns;
        exchange.deadline_ns = clock_now_ns() + cases[i].limit_ns;
        int status = exchange_await(&exchange, "ready", &line, &worker.error);
        bool given = line != NULL;
        json_decref(line);
        end(&worker);
        assert_says(&worker.error, status, cases[i].code, cases[i].text);
        assert_int_equal(given, status == 0);
    }
}

/* Where one step may count nothing for as long as it takes. */
static void lines_as_signs_of_life(void **state)
{
    (void)state;
    const struct {
        const char *script;
        uint64_t headway_ns, limit_ns;
        const char *text;
    } cases[] = {
        {HELLO "while :; do " PROGRESS(7) "done", 2 * SHORT_NS, 5 * SHORT_NS, "gave no ready"},
        {HELLO PROGRESS(7) "kill -STOP $$", SHORT_NS, PATIENCE_NS,
         "the worker of fake made no headway for 0.2 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct worker worker;
        json_t *line = NULL;
        assert_int_equal(start(&worker, cases[i].script, PATIENCE_NS), 0);
        struct exchange exchange = exchange_with(&worker);
        exchange.lines_are_life = true;
        exchange.headway_ns = cases[i].headway_ns;
        exchange.deadline_ns = clock_now_ns() + cases[i].limit_ns;
        int status = exchange_await(&exchange, "ready", &line, &worker.error);
        end(&worker);
        assert_says(&worker.error, status, ERROR_TIMEOUT, cases[i].text);
    }
}

static void an_error_names_its_phase_once(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"job", "job: no rate", "job: no rate"},
                                           {"job", "jobs: no rate", "job: jobs: no rate"},
                                           {"open", "no file", "open: no file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool in_script;
        struct error error = ERROR_INIT;
        json_t *line = json_pack("{s:s, s:s}", "phase", cases[i][0], "message", cases[i][1]);
        run_read_error(NULL, line, false, &in_script, &error);
        json_decref(line);
        assert_string_equal(error.message, cases[i][2]);
    }
}

static void progress_is_passed_on(void **state)
{
    (void)state;
    struct worker worker;
    json_t *line = NULL;
    updates = 0;
    assert_int_equal(
        start(&worker, HELLO PROGRESS(1) PROGRESS(1) PROGRESS(5) READY SILENCE, PATIENCE_NS), 0);
    struct exchange exchange = exchange_with(&worker);
    assert_int_equal(exchange_await(&exchange, "ready", &line, &worker.error), 0);
    assert_int_equal(updates, 3);
    json_decref(line);
    end(&worker);
}

/* ---- several workers ------------------------------------------------------------------------- */

enum { SEVERAL = 3 };

struct several {
    struct worker workers[SEVERAL];
    struct exchange_worker members[SEVERAL];
    json_t *lines[SEVERAL];
    struct exchange exchange;
    struct error error;
};

static void start_several(struct several *several, const char *const scripts[SEVERAL])
{
    memset(several, 0, sizeof *several);
    for (size_t i = 0; i < SEVERAL; i++) {
        assert_int_equal(start(&several->workers[i], scripts[i], PATIENCE_NS), 0);
        several->members[i] = several->workers[i].worker;
        several->members[i].connection = i;
    }
    several->exchange = exchange_with(&several->workers[0]);
    several->exchange.workers = several->members;
    several->exchange.count = SEVERAL;
    several->exchange.deadline_ns = clock_now_ns() + PATIENCE_NS;
}

/* Waits for the line of each and ends them all; what a test expects is asserted afterwards, since
 * one that is left would be waited for. */
static int ready_of_several(struct several *several)
{
    int status = exchange_await(&several->exchange, "ready", several->lines, &several->error);
    for (size_t i = 0; i < SEVERAL; i++) {
        worker_end(several->workers[i].worker.process, 0, NULL);
        several->workers[i].worker.process = NULL;
    }
    for (size_t i = 0; i < SEVERAL; i++) {
        end(&several->workers[i]);
    }
    return status;
}

static void release_several(struct several *several)
{
    for (size_t i = 0; i < SEVERAL; i++) {
        json_decref(several->lines[i]);
    }
}

static int number_in(const json_t *line)
{
    return (int)json_integer_value(json_object_get(line, "n"));
}

static void all_are_waited_for_and_told_apart(void **state)
{
    (void)state;
    const char *const scripts[SEVERAL] = {
        HELLO "sleep 0.2; echo '{\"kind\":\"ready\",\"n\":10}' >&3; " SILENCE,
        /* One that has answered may end, or talk on, while others are waited for. */
        HELLO "echo '{\"kind\":\"ready\",\"n\":11}' >&3; exit 7",
        HELLO PROGRESS(5) "echo '{\"kind\":\"ready\",\"n\":12}' >&3; exec yes >&3",
    };
    struct several several;
    start_several(&several, scripts);
    assert_int_equal(ready_of_several(&several), 0);
    for (int i = 0; i < SEVERAL; i++) {
        assert_int_equal(number_in(several.lines[i]), 10 + i);
    }
    release_several(&several);
}

static void their_progress_is_a_sum(void **state)
{
    (void)state;
    const char *const scripts[SEVERAL] = {
        HELLO PROGRESS(100) READY SILENCE,
        HELLO PROGRESS(20) READY SILENCE,
        HELLO PROGRESS(1) PROGRESS(3) READY SILENCE,
    };
    struct several several;
    start_several(&several, scripts);
    assert_int_equal(ready_of_several(&several), 0);
    assert_int_equal(last_done, 123);
    release_several(&several);
}

static void the_one_that_fails_is_named(void **state)
{
    (void)state;
    const struct {
        const char *third;
        uint64_t headway_ns;
        const char *text;
    } cases[] = {
        {HELLO "exit 7", UINT64_MAX, "connection 2: the worker of fake ended with status 7"},
        {HELLO RESULT SILENCE, UINT64_MAX, "connection 2: the worker of fake said \"result\""},
        {HELLO SILENCE, SHORT_NS, "connection 2: the worker of fake made no headway for 0.2 s"},
        {HELLO "while :; do " PROGRESS(7) "done", SHORT_NS,
         "connection 2: the worker of fake made"},
        {HELLO "echo '{\"kind\":\"error\",\"phase\":\"open\",\"message\":\"no\"}' >&3", UINT64_MAX,
         "connection 2: open: no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const scripts[SEVERAL] = {HELLO READY SILENCE, HELLO READY SILENCE,
                                              cases[i].third};
        struct several several;
        start_several(&several, scripts);
        several.exchange.headway_ns = cases[i].headway_ns;
        int status = ready_of_several(&several);
        assert_int_not_equal(status, 0);
        assert_int_equal(several.exchange.at_fault, 2);
        assert_null(several.lines[2]);
        assert_says(&several.error, status, (enum error_code)status, cases[i].text);
        release_several(&several);
    }
}

static void one_that_talks_without_end_drowns_no_other(void **state)
{
    (void)state;
    const char *const scripts[SEVERAL] = {
        HELLO "exec yes '{\"kind\":\"progress\",\"done\":1}' >&3",
        HELLO "sleep 0.3; " READY SILENCE,
        HELLO READY SILENCE,
    };
    struct several several;
    start_several(&several, scripts);
    several.exchange.deadline_ns = clock_now_ns() + 3 * NS_PER_S;
    int status = ready_of_several(&several);
    assert_says(&several.error, status, ERROR_TIMEOUT, "connection 0: the worker of fake gave no");
    assert_non_null(several.lines[1]);
    assert_non_null(several.lines[2]);
    release_several(&several);
}

static void what_came_is_not_asked_for_again(void **state)
{
    (void)state;
    const char *const scripts[SEVERAL] = {HELLO READY SILENCE, HELLO READY SILENCE, HELLO SILENCE};
    struct several several;
    start_several(&several, scripts);
    several.lines[2] = json_integer(1);
    assert_int_equal(ready_of_several(&several), 0);
    assert_int_equal(json_integer_value(several.lines[2]), 1);
    release_several(&several);
}

/* ---- beginning and end ------------------------------------------------------------------------
 */

static void as_many_are_started_as_can_be(void **state)
{
    (void)state;
    struct worker worker;
    struct plan plan = {.busy_timeout_ms = 1000};
    const struct plan_case plan_case = {.plan = &plan};
    /* The third one finds the folder that the second one made. */
    char folder[] = "/tmp/pitot-exchange-XXXXXX";
    char script[256];
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script,
             "mkdir %s/a 2>/dev/null || mkdir %s/b 2>/dev/null || exit 7; " HELLO SILENCE, folder,
             folder);
    describe(&worker, script);
    struct exchange exchange = exchange_about(&plan_case, "test", &progress);
    assert_true(exchange.headway_ns == UINT64_C(31) * NS_PER_S);
    assert_true(exchange.deadline_ns == UINT64_MAX);
    int status = exchange_begin(&exchange, &worker.choice, 4, &worker.log, &worker.error);
    assert_says(&worker.error, status, ERROR_ENGINE,
                "could start 2 of 4 workers: the worker of fake ended with status 7");
    assert_int_equal(exchange.count, 2);
    exchange_end(&exchange, false, &worker.log);
    assert_int_equal(exchange.count, 0);
    for (const char *name = "ab"; *name != '\0'; name++) {
        snprintf(script, sizeof script, "%s/%c", folder, *name);
        assert_int_equal(rmdir(script), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    end(&worker);
}

static void the_log_is_that_of_the_one_at_fault(void **state)
{
    (void)state;
    struct worker worker;
    struct plan plan = {.busy_timeout_ms = 1000};
    const struct plan_case plan_case = {.plan = &plan};
    json_t *lines[2] = {NULL, NULL};
    describe(&worker,
             HELLO "read job; echo said $job; case $job in *bad*) exit 7;; esac; " SILENCE);
    struct exchange exchange = exchange_about(&plan_case, "test", &progress);
    assert_int_equal(exchange_begin(&exchange, &worker.choice, 2, &worker.log, &worker.error), 0);
    assert_int_equal(exchange_send(&exchange, 0, json_pack("{s:s}", "job", "good"), NULL), 0);
    assert_int_equal(exchange_send(&exchange, 1, json_pack("{s:s}", "job", "bad"), NULL), 0);
    int status = exchange_await(&exchange, "ready", lines, &worker.error);
    assert_says(&worker.error, status, ERROR_ENGINE, "connection 1: ");
    exchange_end(&exchange, false, &worker.log);
    assert_int_equal(worker.log.count, 1);
    assert_string_equal(worker.log.items[0], "said {\"job\":\"bad\"}");
    end(&worker);
}

/* ---- after the result ---------------------------------------------------------------------------
 */

static void the_end(void **state)
{
    (void)state;
    const struct {
        const char *script;
        uint64_t grace_ns;
        enum error_code code;
        const char *text;
    } cases[] = {
        {HELLO RESULT, PATIENCE_NS, ERROR_NONE, ""},
        {HELLO RESULT "cat >/dev/null", PATIENCE_NS, ERROR_NONE, ""}, /* its input is closed */
        {HELLO RESULT PROGRESS(9), PATIENCE_NS, ERROR_NONE, ""},
        {HELLO RESULT CHILD, PATIENCE_NS, ERROR_NONE, ""},
        {HELLO RESULT RESULT, PATIENCE_NS, ERROR_PROTOCOL, "\"result\" after its result"},
        {HELLO RESULT READY, PATIENCE_NS, ERROR_PROTOCOL, "\"ready\" after its result"},
        {HELLO RESULT "echo '{}' >&3", PATIENCE_NS, ERROR_PROTOCOL, "after its result"},
        {HELLO RESULT "echo nonsense >&3", PATIENCE_NS, ERROR_PROTOCOL, "nonsense"},
        {HELLO RESULT "printf '{' >&3", PATIENCE_NS, ERROR_PROTOCOL, "middle of a line"},
        {HELLO RESULT "exit 7", PATIENCE_NS, ERROR_ENGINE, "status 7 after its result"},
        {HELLO RESULT "kill -6 $$", PATIENCE_NS, ERROR_ENGINE, "signal 6 (Aborted) after"},
        {HELLO RESULT SILENCE, SHORT_NS, ERROR_TIMEOUT, "did not end in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct worker worker;
        json_t *line = NULL;
        assert_int_equal(start(&worker, cases[i].script, PATIENCE_NS), 0);
        struct exchange exchange = exchange_with(&worker);
        assert_int_equal(exchange_await(&exchange, "result", &line, &worker.error), 0);
        json_decref(line);
        int status = worker_finish(worker.worker.process, cases[i].grace_ns, &worker.error);
        end(&worker);
        assert_says(&worker.error, status, cases[i].code, cases[i].text);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* In a child, since a signal that came stays. */
static void a_signal_is_heard_while_lines_keep_coming(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct worker worker;
        json_t *line = NULL;
        signal_at_update = true;
        bool heard = interrupt_install(NULL) == 0 &&
                     start(&worker, HELLO "exec yes '{\"kind\":\"progress\",\"done\":1}' >&3",
                           PATIENCE_NS) == 0;
        if (heard) {
            struct exchange exchange = exchange_with(&worker);
            exchange.deadline_ns = clock_now_ns() + PATIENCE_NS;
            heard = exchange_await(&exchange, "ready", &line, &worker.error) == ERROR_INTERRUPTED;
            worker_end(worker.worker.process, 0, NULL);
        }
        _exit(heard ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int become_subreaper(void **state)
{
    (void)state;
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello),
        cmocka_unit_test(the_last_words_are_kept),
        cmocka_unit_test(waiting_for_a_line),
        cmocka_unit_test(lines_as_signs_of_life),
        cmocka_unit_test(an_error_names_its_phase_once),
        cmocka_unit_test(progress_is_passed_on),
        cmocka_unit_test(all_are_waited_for_and_told_apart),
        cmocka_unit_test(their_progress_is_a_sum),
        cmocka_unit_test(the_one_that_fails_is_named),
        cmocka_unit_test(one_that_talks_without_end_drowns_no_other),
        cmocka_unit_test(what_came_is_not_asked_for_again),
        cmocka_unit_test(as_many_are_started_as_can_be),
        cmocka_unit_test(the_log_is_that_of_the_one_at_fault),
        cmocka_unit_test(the_end),
        cmocka_unit_test(a_signal_is_heard_while_lines_keep_coming),
    };
    return cmocka_run_group_tests(tests, become_subreaper, NULL);
}
