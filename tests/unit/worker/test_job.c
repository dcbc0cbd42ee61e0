/* Jobs of the wire: good ones are read, every hostile one is refused with the key named. */
#include "fake_scripts.h"

#include "worker/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COMMON                                                                                     \
    "'kind':'job','protocol':1,'database':'/x','busy_timeout_ms':5,'settings':[],'variables':{},"  \
    "'seed':1,"
#define RUN(scripts, roles, numbers)                                                               \
    "{" COMMON "'job':'run','scripts':" scripts ",'roles':" roles "," numbers "}"
#define ROLE "[{'name':'app','connections':2,'scripts':[{'script':0,'weight':3}]}]"
#define TWO_ROLES                                                                                  \
    "[{'name':'a','connections':1,'operations':7,'scripts':[{'script':0,'weight':1}]},"            \
    "{'name':'b','connections':1,'scripts':[{'script':0,'weight':1}]}]"
#define NUMBERS                                                                                    \
    "'first_connection':0,'connections_total':2,'warmup':{'ns':0},'operations':1,'grace_ns':0,"    \
    "'max_tries':1,'latency_limit_ns':0"
#define SCRIPTS "[" FAKE_DRAWING "]"
#define COMPARED "[" FAKE_COMPARED("'compare':'set',") "]"
#define VERIFY                                                                                     \
    "{" COMMON "'job':'verify','scripts':" COMPARED ",'operations':1000,'ignore':['a.b'],"         \
    "'detail':{'script':0,'operation':999,'rows':20}}"
#define ROWS                                                                                       \
    "{'name':'load','kind':'write','operations':1,'variables':[],'statements':[],'steps':["        \
    "{'step':'rows','table':'t','count':" FAKE_NUMBER(1) ",'chunk':" FAKE_NUMBER(                  \
        0) ",'steps':[],'place':[1,1]}]}"

static int parse(const char *text, struct job **job, struct error *error)
{
    json_t *json = fake_json(text);
    assert_non_null(json);
    error_clear(error);
    int status = job_from_json(json, job, error);
    json_decref(json);
    return status;
}

static void good_ones(void **state)
{
    (void)state;
    struct job *job = NULL;
    struct error error;
    assert_int_equal(parse(RUN(SCRIPTS, ROLE, NUMBERS), &job, &error), 0);
    assert_int_equal(job->kind, JOB_RUN);
    assert_string_equal(job->database, "/x");
    assert_int_equal(job->connection_count, 2);
    assert_int_equal(job->warmup_ns, 0);
    assert_int_equal(job->warmup_operations, JOB_UNLIMITED);
    assert_int_equal(job->operations, 1);
    assert_int_equal(job->duration_ns, JOB_UNLIMITED);
    assert_int_equal(job->roles[0].shares[0].weight, 3);
    assert_int_equal(job->roles[0].operations, 1);
    assert_true(job->rate == 0);
    job_free(job);

    assert_int_equal(parse(RUN(SCRIPTS, TWO_ROLES, NUMBERS), &job, &error), 0);
    assert_int_equal(job->roles[0].operations, 7);
    assert_int_equal(job->roles[1].operations, 1);
    job_free(job);

    static const struct {
        const char *text;
        double rate;
    } rates[] = {{"null", 0}, {"1000", 1000}, {"0.25", 0.25}, {"1e9", 1e9}};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        char text[2000];
        snprintf(text, sizeof(text), "%s,'rate':%s}",
                 "{" COMMON "'job':'run','scripts':" SCRIPTS ",'roles':" ROLE "," NUMBERS,
                 rates[i].text);
        assert_int_equal(parse(text, &job, &error), 0);
        assert_true(job->rate == rates[i].rate);
        job_free(job);
    }

    assert_int_equal(parse("{" COMMON "'job':'load','schema':'x','script':" ROWS "}", &job, &error),
                     0);
    assert_int_equal(job->kind, JOB_LOAD);
    assert_int_equal(job->script_count, 1);
    job_free(job);

    assert_int_equal(
        parse("{" COMMON "'job':'check','tables':['a','b'],'integrity':'quick'}", &job, &error), 0);
    assert_int_equal(job->table_count, 2);
    assert_int_equal(job->integrity, JOB_INTEGRITY_QUICK);
    job_free(job);

    assert_int_equal(parse(VERIFY, &job, &error), 0);
    assert_int_equal(job->kind, JOB_VERIFY);
    assert_int_equal(job->operations, 1000);
    assert_int_equal(job->compare[0], JOB_COMPARE_SET);
    assert_int_equal(job->ignore_count, 1);
    assert_string_equal(job->ignore[0], "a.b");
    assert_true(job->detail.wanted);
    assert_int_equal(job->detail.operation, 999);
    assert_int_equal(job->detail.rows, 20);
    assert_int_equal(job->max_tries, 10);
    assert_int_equal(job->connection_count, 1);
    assert_int_equal(job->roles[0].share_count, job->script_count);
    job_free(job);

    /* Paths are escaped bytes; unknown keys are ignored; a database may be absent. */
    assert_int_equal(parse("{'kind':'job','protocol':1,'database':'/\\\\xff\\\\x5cx','new':[],"
                           "'busy_timeout_ms':5,'settings':[],'variables':{'n':-3},'seed':"
                           "4294967295,'job':'check','tables':[],'integrity':'none'}",
                           &job, &error),
                     0);
    assert_string_equal(job->database, "/\xff\\x");
    assert_int_equal(job->seed, UINT32_MAX);
    assert_int_equal(job->constants[0].value, -3);
    job_free(job);
    assert_int_equal(parse("{'kind':'job','protocol':1,'database':null,'busy_timeout_ms':5,"
                           "'settings':[],'variables':{},'seed':1,'job':'check','tables':[],"
                           "'integrity':'none'}",
                           &job, &error),
                     0);
    assert_null(job->database);
    job_free(job);
}

/* `old` of a good job is replaced by `new`; the message holds `says`. */
static const struct {
    const char *old, *new, *says;
} hostile[] = {
    {"'protocol':1", "'protocol':2", "version 2"},
    {"'protocol':1", "'protocol':'x'", "protocol"},
    {"'protocol':1,", "", "protocol"},
    {"'job':'run'", "'job':'dance'", "job kind dance is not known to this worker"},
    {"'job':'run'", "'job':7", "job"},
    {"'database':'/x'", "'database':7", "database"},
    {"'database':'/x'", "'database':''", "database"},
    {"'database':'/x'", "'database':'a\\\\x00b'", "NUL"},
    {"'busy_timeout_ms':5", "'busy_timeout_ms':-1", "busy_timeout_ms"},
    {"'busy_timeout_ms':5", "'busy_timeout_ms':2147483648", "busy_timeout_ms"},
    {"'busy_timeout_ms':5", "'busy_timeout_ms':1.5", "busy_timeout_ms"},
    {"'seed':1", "'seed':4294967296", "seed"},
    {"'seed':1", "'seed':null", "seed"},
    {"'settings':[]", "'settings':{}", "settings"},
    {"'settings':[]", "'settings':[7]", "settings"},
    {"'settings':[]", "'settings':[{'name':'a','value':1,'required':true}]", "value"},
    {"'settings':[]", "'settings':[{'name':'a','value':'1'}]", "required"},
    {"'settings':[]", "'settings':[{'name':'a;b','value':'1','required':true}]", "'a;b'"},
    {"'variables':{}", "'variables':[]", "variables"},
    {"'variables':{}", "'variables':{'n':'x'}", "n"},
    {"'variables':{}", "'variables':{'n':'9007199254740992'}", "2^53"},
    {"'variables':{}", "'variables':{'n':1.5}", "n"},
    {"'scripts':" SCRIPTS, "'scripts':[]", "0 scripts"},
    {"'scripts':" SCRIPTS, "'scripts':[7]", "script 0"},
    {"'scripts':" SCRIPTS, "'scripts':[" ROWS "]", "rows"},
    {"'statement':0", "'statement':1", "script 0"},
    {"'parameters':[0]", "'parameters':[9]", "script 0"},
    {ROLE, "[]", "0 roles"},
    {ROLE, "[null]", "role"},
    {"'connections':2", "'connections':0", "connections"},
    {"'connections':2", "'connections':100001", "connections"},
    {"'connections':2", "'connections':18446744073709551616e0", "connections"},
    {"'connections':2", "'connections':2,'operations':0", "role app: operations"},
    {"'connections':2", "'connections':2,'operations':1000000000001", "10^12"},
    {"'connections':2", "'connections':2,'operations':'x'", "operations"},
    {"[{'script':0,'weight':3}]", "[]", "has 0 scripts"},
    {"[{'script':0,'weight':3}]", "[{'script':0,'weight':3},{'script':0,'weight':3}]", "2 scripts"},
    {"'script':0,'weight'", "'script':1,'weight'", "script"},
    {"'script':0,'weight'", "'script':-1,'weight'", "script"},
    {"'weight':3", "'weight':0", "weight"},
    {"'weight':3", "'weight':1000001", "weight"},
    {"'connections_total':2", "'connections_total':1", "do not fit"},
    {"'first_connection':0", "'first_connection':1", "do not fit"},
    {"'first_connection':0", "'first_connection':4294967295", "do not fit"},
    {"'warmup':{'ns':0}", "'warmup':{}", "exactly one"},
    {"'warmup':{'ns':0}", "'warmup':{'ns':1,'operations':1}", "exactly one"},
    {"'warmup':{'ns':0}", "'warmup':null", "warmup"},
    {"'warmup':{'ns':0}", "'warmup':{'ns':1000000000000001}", "10^15"},
    {"'operations':1,'grace", "'grace", "exactly one"},
    {"'operations':1,'grace", "'operations':0,'grace", "operations"},
    {"'operations':1,'grace", "'operations':1000000000001,'grace", "10^12"},
    {"'operations':1,'grace", "'operations':1,'duration_ns':1,'grace", "exactly one"},
    {"'operations':1,'grace", "'duration_ns':0,'grace", "duration_ns"},
    {"'grace_ns':0", "'grace_ns':'18446744073709551615'", "grace_ns"},
    {"'max_tries':1", "'max_tries':0", "max_tries"},
    {"'latency_limit_ns':0", "'latency_limit_ns':{}", "latency_limit_ns"},
    {"'max_tries':1", "'max_tries':1,'rate':0", "rate is 0"},
    {"'max_tries':1", "'max_tries':1,'rate':-1", "rate is -1"},
    {"'max_tries':1", "'max_tries':1,'rate':1e12", "rate is 1e+12"},
    {"'max_tries':1", "'max_tries':1,'rate':'70%'", "rate"},
};

static char *replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    assert_non_null(at);
    size_t size = strlen(text) + strlen(new) + 1;
    char *out = malloc(size);
    assert_non_null(out);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

static const struct {
    const char *old, *new, *says;
} hostile_verify[] = {
    {"'compare':'set',", "", "compare"},
    {"'compare':'set'", "'compare':'sets'", "must be ordered, set or count"},
    {"'compare':'set'", "'compare':1", "compare"},
    {"'scripts':" COMPARED, "'scripts':[]", "0 scripts"},
    {"'scripts':" COMPARED, "'scripts':[" ROWS "]", "rows"},
    {"'operations':1000,", "'operations':0,", "operations"},
    {"'operations':1000,", "'operations':1000001,", "operations"},
    {"'operations':1000,", "'operations':'x',", "operations"},
    {"'operations':1000,", "'operations':999,", "operation is 999"},
    {"'operations':1000,", "'operations':1000,'max_tries':0,", "max_tries"},
    {"'operations':1000,", "'operations':1000,'max_tries':'x',", "max_tries"},
    {"'ignore':['a.b']", "'ignore':'a.b'", "ignore"},
    {"'ignore':['a.b']", "'ignore':[7]", "entry 0 of ignore"},
    {"'ignore':['a.b']", "'ignore':['ab']", "'ab', must be table.column"},
    {"'ignore':['a.b']", "'ignore':['.b']", "must be table.column"},
    {"'ignore':['a.b']", "'ignore':['a.']", "must be table.column"},
    {"'detail':{", "'detail':[],'x':{", "detail"},
    {"'script':0", "'script':1", "script"},
    {"'operation':999", "'operation':-1", "operation"},
    {"'rows':20", "'rows':1001", "rows"},
    {"'rows':20", "'row':20", "rows"},
};

static void refuse(const char *job, const char *old, const char *new, const char *says)
{
    char *text = replaced(job, old, new);
    struct job *taken = NULL;
    struct error error;
    if (parse(text, &taken, &error) == 0 || taken != NULL || strstr(error.message, says) == NULL) {
        fail_msg("%s -> %s: '%s'", old, new, error.code == ERROR_NONE ? "taken" : error.message);
    }
    free(text);
}

static void hostile_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        refuse(RUN(SCRIPTS, ROLE, NUMBERS), hostile[i].old, hostile[i].new, hostile[i].says);
    }
    for (size_t i = 0; i < sizeof(hostile_verify) / sizeof(hostile_verify[0]); i++) {
        refuse(VERIFY, hostile_verify[i].old, hostile_verify[i].new, hostile_verify[i].says);
    }
}

/* Two scripts with as many executions as one may have are too many. */
static void executions_of_all_scripts(void **state)
{
    (void)state;
    static const char *const cases[] = {"500000", "500001"};
    for (size_t i = 0; i < 2; i++) {
        char text[4096];
        struct job *job = NULL;
        struct error error;
        snprintf(text, sizeof(text),
                 "{" COMMON "'job':'verify','ignore':[],'max_tries':3,'operations':%s,'scripts':["
                 "%s,%s]}",
                 cases[i], FAKE_COMPARED("'compare':'set',"), FAKE_COMPARED("'compare':'count',"));
        assert_int_equal(parse(text, &job, &error), i == 0 ? 0 : ERROR_PROTOCOL);
        if (i == 0) {
            assert_false(job->detail.wanted);
            assert_int_equal(job->max_tries, 3);
            assert_int_equal(job->compare[1], JOB_COMPARE_COUNT);
        } else {
            assert_non_null(strstr(error.message, "500001 operations of each of 2 scripts"));
        }
        job_free(job);
    }
}

/* Every key that a job needs is missed, one at a time. */
static void missing_keys(void **state)
{
    (void)state;
    static const char *const jobs[] = {
        RUN(SCRIPTS, ROLE, NUMBERS), "{" COMMON "'job':'load','schema':'x','script':" ROWS "}",
        "{" COMMON "'job':'check','tables':[],'integrity':'none'}", VERIFY};
    for (size_t i = 0; i < 4; i++) {
        json_t *whole = fake_json(jobs[i]);
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach(whole, key, value)
        {
            if (strcmp(key, "kind") == 0 || strcmp(key, "database") == 0 ||
                strcmp(key, "detail") == 0) {
                continue;
            }
            json_t *part = json_copy(whole);
            json_object_del(part, key);
            struct job *job = NULL;
            struct error error = ERROR_INIT;
            assert_int_not_equal(job_from_json(part, &job, &error), 0);
            if (strstr(error.message, key) == NULL) {
                fail_msg("without %s: %s", key, error.message);
            }
            json_decref(part);
        }
        json_decref(whole);
    }
}

/* Every value of a job, at any depth, is put to the proof with values of other types: nothing
 * may crash (the sanitizers look), and what is taken must be freed whole. */
static void wrong_types_at_every_depth(json_t *root, json_t *at)
{
    static const char *const values[] = {
        "null", "-1", "1e300", "'x'", "[]", "{}", "true", "[[[]]]", "'18446744073709551615'"};
    size_t count = json_is_object(at) ? json_object_size(at) : json_array_size(at);
    for (size_t i = 0; i < count; i++) {
        const char *key = NULL;
        json_t *child = NULL;
        if (json_is_object(at)) {
            void *iterator = json_object_iter(at);
            for (size_t k = 0; k < i; k++) {
                iterator = json_object_iter_next(at, iterator);
            }
            key = json_object_iter_key(iterator);
            child = json_incref(json_object_iter_value(iterator));
        } else {
            child = json_incref(json_array_get(at, i));
        }
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            char wrapped[64];
            snprintf(wrapped, sizeof(wrapped), "[%s]", values[v]);
            json_t *holder = fake_json(wrapped);
            json_t *value = json_array_get(holder, 0);
            key != NULL ? json_object_set(at, key, value) : json_array_set(at, i, value);
            struct job *job = NULL;
            struct error error = ERROR_INIT;
            if (job_from_json(root, &job, &error) == 0) {
                job_free(job);
            } else {
                assert_null(job);
                assert_true(error.message[0] != '\0');
            }
            json_decref(holder);
        }
        key != NULL ? json_object_set(at, key, child) : json_array_set(at, i, child);
        wrong_types_at_every_depth(root, child);
        json_decref(child);
    }
}

static void wrong_types(void **state)
{
    (void)state;
    static const char *const jobs[] = {
        RUN(SCRIPTS, ROLE, NUMBERS), "{" COMMON "'job':'load','schema':'x','script':" ROWS "}",
        "{" COMMON "'job':'check','tables':['a'],'integrity':'none'}", VERIFY};
    for (size_t i = 0; i < 4; i++) {
        json_t *job = fake_json(jobs[i]);
        wrong_types_at_every_depth(job, job);
        json_decref(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ones),
        cmocka_unit_test(hostile_ones),
        cmocka_unit_test(executions_of_all_scripts),
        cmocka_unit_test(missing_keys),
        cmocka_unit_test(wrong_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
