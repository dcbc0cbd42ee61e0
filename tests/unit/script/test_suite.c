/* Workload folders: the built-in ones against their facts, and mistakes in a
 * user's one. */
#include "script_testing.h"

#include "script/suite.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- the built-in suites ---------------------------------------------- */

static struct suite *open_builtin(const char *name)
{
    struct error error = ERROR_INIT;
    struct suite *suite = NULL;
    if (suite_open_builtin(name, &suite, &error) != 0) {
        fail_msg("%s", error.message);
    }
    return suite;
}

static int64_t variable(const struct script_constant *variables, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(variables[i].name, name) == 0) {
            return variables[i].value;
        }
    }
    fail_msg("no variable %s", name);
    return 0;
}

/* Every script of every suite, scale and scenario draws, at the ends of its ranges too. */
static void test_builtins_draw(void **state)
{
    (void)state;
    for (const char *const *name = suite_builtin_names(); *name != NULL; name++) {
        struct suite *suite = open_builtin(*name);
        assert_string_equal(suite->name, *name);
        assert_null(suite->folder);
        assert_non_null(strstr(suite->schema, "CREATE TABLE"));
        for (size_t s = 0; s < suite->scale_count * suite->scenario_count; s++) {
            const struct suite_scenario *scenario = &suite->scenarios[s % suite->scenario_count];
            size_t count;
            struct script_constant *constants =
                suite_variables(suite, &suite->scales[s / suite->scenario_count], scenario, &count);
            for (size_t r = 0; r < scenario->role_count; r++) {
                for (size_t k = 0; k < scenario->roles[r].share_count; k++) {
                    const struct script *script =
                        suite->scripts[scenario->roles[r].shares[k].script].script;
                    assert_int_equal(script->warning_count, 0);
                    struct evaluation evaluation;
                    struct error error = ERROR_INIT;
                    struct random random;
                    random_init(&random, 1, RANDOM_VERIFY, 0, (uint32_t)k);
                    assert_int_equal(evaluation_init(&evaluation, script, constants, count, &error),
                                     0);
                    evaluation_assign(&evaluation, evaluation_builtin(&evaluation, "connections"),
                                      1);
                    for (int draw = 0; draw < 4; draw++) {
                        evaluation.draw = (enum script_draw)draw;
                        if (evaluation_draw(&evaluation, &script->body, &random, &error) != 0) {
                            fail_msg("%s", error.message);
                        }
                        assert_true(evaluation.call_count > 0);
                    }
                    evaluation_release(&evaluation);
                }
            }
            free(constants);
        }
        suite_free(suite);
    }
}

static void test_prod(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t weight;
    } mix[] = {{"user_by_id", 25},         {"user_by_email", 15},     {"orders_by_user", 20},
               {"users_by_plan_page", 15}, {"revenue_dashboard", 10}, {"insert_order", 10},
               {"update_order_status", 5}};
    static const struct {
        const char *name;
        int64_t users, orders_per_user;
    } scales[] = {{"small", 100000, 4},
                  {"medium", 400000, 5},
                  {"large", 1000000, 6},
                  {"xlarge", 1600000, 6},
                  {"xxlarge", 5800000, 6}};
    struct suite *suite = open_builtin("prod");
    assert_int_equal(suite->scenario_count, 1);
    const struct suite_role *role = &suite_find_scenario(suite, "prod")->roles[0];
    assert_string_equal(role->name, "app");
    assert_int_equal(role->connections, 0);
    assert_int_equal(role->share_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(suite->scripts[role->shares[i].script].name, mix[i].name);
        assert_int_equal(role->shares[i].weight, mix[i].weight);
        assert_int_equal(suite->scripts[i].operations, 1);
    }
    assert_int_equal(suite->scale_count, 5);
    assert_string_equal(suite->scales[0].name, "small");
    for (size_t i = 0; i < 5; i++) {
        const struct suite_scale *scale = suite_find_scale(suite, scales[i].name);
        assert_int_equal(variable(scale->variables, scale->variable_count, "users"),
                         scales[i].users);
        assert_int_equal(variable(scale->variables, scale->variable_count, "orders"),
                         scales[i].users * scales[i].orders_per_user);
    }
    assert_null(suite_find_scale(suite, "tiny"));
    suite_free(suite);
}

/* Metadata has 120 to 180 bytes in every row, also at the ends of what it is made of. */
static void test_prod_metadata(void **state)
{
    (void)state;
    struct suite *suite = open_builtin("prod");
    const struct script_step *rows = &suite->load->body.steps[0];
    assert_int_equal(rows->kind, SCRIPT_STEP_ROWS);
    struct script_constant variables[] = {{(char *)"users", 5800000},
                                          {(char *)"orders_per_user", 6}};
    struct evaluation evaluation;
    struct random random;
    struct error error = ERROR_INIT;
    random_init(&random, 1, RANDOM_LOAD, 0, 0);
    assert_int_equal(evaluation_init(&evaluation, suite->load, variables, 2, &error), 0);
    int slot = evaluation_builtin(&evaluation, "row");
    for (int i = 0; i < 2004; i++) {
        evaluation.draw = i < 2000 ? SCRIPT_DRAW_RANDOM : (enum script_draw)(i % 3);
        evaluation_assign(&evaluation, slot, i % 2 == 0 ? 1 + i : 5800000 - i);
        assert_int_equal(evaluation_draw(&evaluation, &rows->body, &random, &error), 0);
        assert_int_equal(evaluation.call_count, 7);
        for (uint32_t c = 1; c < 7; c++) {
            const struct script_call *call = &evaluation.calls[c];
            const struct value *metadata =
                &evaluation.values[call->first_value + call->value_count - 1];
            assert_true(metadata->length >= 120 && metadata->length <= 180);
            json_t *json = json_loadb(metadata->bytes, metadata->length, 0, NULL);
            assert_int_equal(json_object_size(json), 6);
            json_decref(json);
        }
    }
    evaluation_release(&evaluation);
    suite_free(suite);
}

static void test_bench(void **state)
{
    (void)state;
    static const char *const names[] = {
        "insert-single",       "insert-tx-batch", "select-point", "select-range-indexed",
        "select-fullscan-agg", "select-join",     "update-point"};
    struct suite *suite = open_builtin("bench");
    assert_int_equal(suite->scenario_count, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct suite_scenario *scenario = suite_find_scenario(suite, names[i]);
        assert_int_equal(scenario->role_count, 1);
        assert_int_equal(scenario->roles[0].connections, 1);
        assert_int_equal(scenario->roles[0].share_count, 1);
        const struct suite_script *script = &suite->scripts[scenario->roles[0].shares[0].script];
        assert_string_equal(script->name, names[i]);
        assert_int_equal(script->operations, i == 1 ? 1000 : 1);
        size_t count;
        struct script_constant *variables =
            suite_variables(suite, &suite->scales[0], scenario, &count);
        assert_int_equal(variable(variables, count, "rows"), i == 0 ? 0 : 10000);
        free(variables);
    }
    suite_free(suite);
}

/* One insert stays in autocommit; only a batch has a transaction. */
static void test_concurrent_batch(void **state)
{
    (void)state;
    struct suite *suite = open_builtin("concurrent");
    assert_int_equal(suite_find_scenario(suite, "write-contention")->role_count, 1);
    assert_int_equal(suite_find_scenario(suite, "read-write-mix")->role_count, 2);
    assert_int_equal(suite_find_scenario(suite, "read-write-mix")->roles[0].connections, 1);
    for (int64_t batch = 1; batch <= 5; batch += 4) {
        struct script_constant variables[] = {{(char *)"batch", batch}};
        struct evaluation evaluation;
        struct random random = {0};
        struct error error = ERROR_INIT;
        assert_int_equal(
            evaluation_init(&evaluation, suite->scripts[0].script, variables, 1, &error), 0);
        evaluation_assign(&evaluation, evaluation_builtin(&evaluation, "op"), 7);
        assert_int_equal(
            evaluation_draw(&evaluation, &suite->scripts[0].script->body, &random, &error), 0);
        assert_int_equal(evaluation.call_count, batch == 1 ? 1 : 7);
        assert_int_equal(evaluation.calls[0].kind,
                         batch == 1 ? SCRIPT_CALL_STATEMENT : SCRIPT_CALL_BEGIN_WRITE);
        const struct script_call *first = &evaluation.calls[batch == 1 ? 0 : 1];
        assert_int_equal(evaluation.values[first->first_value + 1].integer, 7 * batch);
        evaluation_release(&evaluation);
    }
    suite_free(suite);
}

static void test_unknown_builtin(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct suite *suite = NULL;
    assert_int_equal(suite_open_builtin("pord", &suite, &error), ERROR_INVALID);
    assert_string_equal(error.message, "no built-in workload \"pord\": did you mean prod?");
}

/* ---- a user's folder -------------------------------------------------- */

#define SCALES "\"scales\":{\"small\":{\"users\":10,\"bytes\":5000},\"large\":{\"users\":99}}"
#define SCRIPTS "\"scripts\":[{\"name\":\"q\",\"kind\":\"read\",\"compare\":\"set\"}]"
#define ROLE "{\"name\":\"r\",\"connections\":2}"
#define SCENARIOS "\"scenarios\":[{\"name\":\"s\",\"roles\":[" ROLE "]}]"
#define SUITE(scales, scripts, scenarios)                                                          \
    "{\"name\":\"mine\",\"summary\":\"x\"," scales "," scripts "," scenarios "}"
#define SCRIPT(rest) SUITE(SCALES, "\"scripts\":[{\"name\":\"q\"," rest "}]", SCENARIOS)
#define ROLES(roles)                                                                               \
    SUITE(SCALES, SCRIPTS, "\"scenarios\":[{\"name\":\"s\",\"roles\":[" roles "]}]")
#define SHARES(shares) ROLES("{\"name\":\"r\",\"connections\":1,\"scripts\":[" shares "]}")

static const char good[] = SUITE(SCALES, SCRIPTS, SCENARIOS);

struct folder {
    char path[64];
};

static void write_file(const struct folder *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_file(const struct folder *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    unlink(path);
}

static void folder_make(struct folder *folder)
{
    strcpy(folder->path, "/tmp/pitot-suite-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    write_file(folder, "suite.json", good);
    write_file(folder, "schema.sql", "CREATE TABLE t (a);\n");
    write_file(folder, "load.sql", "\\rows t :users\nINSERT INTO t VALUES (:row);\n\\end\n");
    write_file(folder, "q.sql", "SELECT :users;\n");
}

static void folder_remove(const struct folder *folder)
{
    static const char *const names[] = {"suite.json", "schema.sql", "load.sql",
                                        "q.sql",      "extra.sql",  "README.md"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        remove_file(folder, names[i]);
    }
    rmdir(folder->path);
}

static void test_folder(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    write_file(&folder, "README.md", "not a script");
    struct error error = ERROR_INIT;
    struct suite *suite = NULL, *other = NULL;
    assert_int_equal(suite_open_folder(folder.path, &suite, &error), 0);
    assert_string_equal(suite->folder, folder.path);
    assert_string_equal(suite->schema, "CREATE TABLE t (a);\n");
    assert_int_equal(suite->schema_length, strlen(suite->schema));
    assert_int_equal(suite->scripts[0].compare, SUITE_SET);
    assert_int_equal(suite->scripts[0].weight, 1);
    assert_string_equal(suite->scripts[0].script->name, "q");
    assert_int_equal(suite->scenarios[0].roles[0].connections, 2);
    assert_int_equal(suite->scenarios[0].roles[0].shares[0].weight, 1);
    assert_string_equal(suite->scales[0].name, "small");
    assert_int_equal(suite->scales[0].bytes, 5000);
    assert_int_equal(suite->scales[0].variable_count, 1);
    assert_int_equal(suite->scales[1].bytes, 0);
    /* A query changes the whole, not the template; the load changes both. */
    write_file(&folder, "q.sql", "SELECT :users + 1;\n");
    assert_int_equal(suite_open_folder(folder.path, &other, &error), 0);
    assert_true(other->hash != suite->hash && other->load_hash == suite->load_hash);
    suite_free(other);
    write_file(&folder, "load.sql", "");
    assert_int_equal(suite_open_folder(folder.path, &other, &error), 0);
    assert_true(other->hash != suite->hash && other->load_hash != suite->load_hash);
    suite_free(other);
    suite_free(suite);
    folder_remove(&folder);
}

static const struct {
    const char *json, *message;
} mistakes[] = {
    {"{\n  \"name\": \"a\",,\n}", "suite.json:2:"},
    {"", "suite.json:1:1: not valid JSON"},
    {"{\"name\":\"a\",\"name\":\"b\"}", "suite.json:1:"},
    {"[]", "the file must be an object"},
    {"{\"naem\":\"a\"}", "unknown key \"naem\": did you mean \"name\"?"},
    {"{\"summary\":\"x\"}", "name is missing"},
    {"{\"name\":7}", "name must be a text"},
    {"{\"name\":\"a b\"}", "name is \"a b\": a name has 1 to 64"},
    {"{\"name\":\"a\"}", "summary is missing"},
    {"{\"name\":\"a\",\"summary\":\"x\"}", "scales is missing"},
    {SUITE("\"scales\":{}", SCRIPTS, SCENARIOS), "scales must be an object with at least one"},
    {SUITE("\"scales\":{\"a\":7}", SCRIPTS, SCENARIOS), "scales.a must be an object of variables"},
    {SUITE("\"scales\":{\"a\":{\"bytes\":-1}}", SCRIPTS, SCENARIOS),
     "scales.a.bytes must be a whole number"},
    {SUITE("\"scales\":{\"a\":{\"op\":1}}", SCRIPTS, SCENARIOS),
     "scales.a.op: :op is a variable of"},
    {SUITE("\"scales\":{\"a\":{\"u-v\":1}}", SCRIPTS, SCENARIOS), "\"u-v\" cannot be a variable"},
    {SUITE("\"scales\":{\"a\":{\"users\":1.5}}", SCRIPTS, SCENARIOS),
     "scales.a.users must be a whole number"},
    {SUITE("\"scales\":{\"a\":{\"users\":9007199254740992}}", SCRIPTS, SCENARIOS),
     "scales.a.users must be a whole number"},
    {SUITE("\"scales\":{\"a\":{\"users\":1},\"b\":{}}", SCRIPTS, SCENARIOS),
     "scales.b has no variable \"users\""},
    {SUITE("\"scales\":{\"a\":{\"users\":1},\"b\":{\"users\":1,\"x\":1}}", SCRIPTS, SCENARIOS),
     "scales.b has a variable \"x\""},
    {SUITE(SCALES, "\"scripts\":[]", SCENARIOS), "scripts must be a list with at least one"},
    {SUITE(SCALES, "\"scripts\":[7]", SCENARIOS), "scripts[0] must be an object"},
    {SCRIPT("\"kinds\":\"read\""), "unknown key \"kinds\" in scripts[0]: did you mean \"kind\"?"},
    {SCRIPT("\"compare\":\"set\""), "scripts[0].kind is missing"},
    {SCRIPT("\"kind\":\"reed\""), "scripts[0].kind is \"reed\": it must be \"read\" or \"write\""},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"sets\""),
     "it must be \"ordered\", \"set\" or \"count\""},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"set\",\"weight\":0"),
     "scripts[0].weight must be a whole"},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"set\",\"weight\":\"5\""), "scripts[0].weight must be"},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"set\",\"operations\":0"),
     "scripts[0].operations must be"},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"set\",\"ignore\":\"t.a\""),
     "scripts[0].ignore must be"},
    {SCRIPT("\"kind\":\"read\",\"compare\":\"set\",\"ignore\":[\"a\"]"),
     "list of \"table.column\""},
    {SUITE(SCALES, "\"scripts\":[{\"name\":\"load\",\"kind\":\"read\",\"compare\":\"set\"}]",
           SCENARIOS),
     "scripts[0].name: load.sql has its own meaning"},
    {SUITE(SCALES,
           "\"scripts\":[{\"name\":\"q\",\"kind\":\"read\",\"compare\":\"set\"},"
           "{\"name\":\"q\",\"kind\":\"read\",\"compare\":\"set\"}]",
           SCENARIOS),
     "scripts[1].name: \"q\" is listed already, as scripts[0]"},
    {SUITE(SCALES, "\"scripts\":[{\"name\":\"../q\",\"kind\":\"read\",\"compare\":\"set\"}]",
           SCENARIOS),
     "scripts[0].name is \"../q\": a name has"},
    {SUITE(SCALES, "\"scripts\":[{\"name\":\"p\",\"kind\":\"read\",\"compare\":\"set\"}]",
           SCENARIOS),
     "q.sql is not listed in suite.json"},
    {SUITE(SCALES,
           "\"scripts\":[{\"name\":\"q\",\"kind\":\"read\",\"compare\":\"set\"},"
           "{\"name\":\"p\",\"kind\":\"read\",\"compare\":\"set\"}]",
           SCENARIOS),
     "p.sql: no such file, but suite.json lists it"},
    {SUITE(SCALES, SCRIPTS, "\"scenarios\":[{\"name\":\"s\"}]"), "scenarios[0].roles is missing"},
    {SUITE(SCALES, SCRIPTS,
           "\"scenarios\":[{\"name\":\"s\",\"roles\":[" ROLE "]},{\"name\":\"s\",\"roles\":[" ROLE
           "]}]"),
     "scenarios[1].name: \"s\" is the name of another scenario"},
    {SUITE(SCALES, SCRIPTS,
           "\"scenarios\":[{\"name\":\"s\",\"variables\":{\"usres\":1},\"roles\":[" ROLE "]}]"),
     "scenarios[0].variables: the scales have no variable \"usres\""},
    {ROLES("{\"name\":\"r\"}"), "scenarios[0].roles[0].connections is missing"},
    {ROLES("{\"name\":\"r\",\"connections\":0}"), "roles[0].connections must be a number from 1"},
    {ROLES("{\"name\":\"r\",\"connections\":\"n\"}"), "or \"N\""},
    {ROLES(ROLE "," ROLE), "scenarios[0].roles[1].name: \"r\" is the name of another role"},
    {SHARES(""), "scenarios[0].roles[0].scripts must be a list with at least one"},
    {SHARES("{\"scirpt\":\"q\"}"), "roles[0].scripts[0]: did you mean \"script\"?"},
    {SHARES("{\"script\":\"qq\"}"), "scripts[0].script: no script \"qq\" in scripts"},
    {SHARES("{\"script\":\"q\",\"weight\":0}"), "scripts[0].weight must be a whole number from 1"},
    {SHARES("{\"script\":\"q\"},{\"script\":\"q\"}"), "\"q\" stands twice in this role"},
    {SUITE(SCALES,
           "\"scripts\":[{\"name\":\"q\",\"kind\":\"read\",\"compare\":\"set\"},"
           "{\"name\":\"p\",\"kind\":\"read\",\"compare\":\"set\"}]",
           "\"scenarios\":[{\"name\":\"s\",\"roles\":[{\"name\":\"r\",\"connections\":1,"
           "\"scripts\":[{\"script\":\"q\"}]}]}]"),
     "scripts[1]: no role of any scenario runs \"p\""},
};

static void check_refused(const struct folder *folder, const char *message)
{
    struct error error = ERROR_INIT;
    struct suite *suite = NULL;
    int rc = suite_open_folder(folder->path, &suite, &error);
    if (rc != ERROR_INVALID || suite != NULL || strstr(error.message, message) == NULL ||
        strstr(error.message, folder->path) == NULL) {
        fail_msg("wanted %s\nfound  %s", message, error.message);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        write_file(&folder, "suite.json", mistakes[i].json);
        check_refused(&folder, mistakes[i].message);
    }
    folder_remove(&folder);
}

static void test_files(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    write_file(&folder, "extra.sql", "SELECT 1;");
    check_refused(&folder, "extra.sql is not listed in suite.json: add {\"name\": \"extra\"");
    remove_file(&folder, "extra.sql");
    write_file(&folder, "q.sql", "SELECT :user;\n");
    check_refused(&folder, "q.sql:1:8: unknown variable :user: did you mean :users?");
    write_file(&folder, "q.sql", "\nDELETE FROM t;\n");
    check_refused(&folder, "q.sql:2:1: this statement writes, but suite.json calls q a read");
    write_file(&folder, "q.sql", "SELECT 1;\n");
    write_file(&folder, "schema.sql", "CREATE TABLE \xFF (a);");
    check_refused(&folder, "schema.sql: not UTF-8 text");
    remove_file(&folder, "schema.sql");
    check_refused(&folder, "schema.sql: no such file, but every workload has one");
    write_file(&folder, "schema.sql", "CREATE TABLE t (a);");
    write_file(&folder, "load.sql", "\\rows t :user\n\\end\n");
    check_refused(&folder, "load.sql:1:9: unknown variable :user: did you mean :users?");
    remove_file(&folder, "suite.json");
    check_refused(&folder, "suite.json: no such file: a workload is a folder with");
    folder_remove(&folder);
    check_refused(&folder, "suite.json: no such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_draw),
        cmocka_unit_test(test_prod),
        cmocka_unit_test(test_prod_metadata),
        cmocka_unit_test(test_bench),
        cmocka_unit_test(test_concurrent_batch),
        cmocka_unit_test(test_unknown_builtin),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
