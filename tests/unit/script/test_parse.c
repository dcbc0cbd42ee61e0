/* Script files: what is taken, and the message for every mistake. */
#include "script_testing.h"

#include "base/buffer.h"
#include "base/file.h"

struct mistake {
    const char *text;
    const char *place;   /* "line:column" */
    const char *message; /* a part of it */
};

static const struct mistake mistakes[] = {
    /* parameters of other dialects */
    {"SELECT ?;", "1:8", "? is a parameter without a name: write :user"},
    {"\\set id 1\nSELECT ?12;", "2:8", "write :id, and on a line above \\set id random("},
    {"SELECT @x;", "1:8", "write :x"},
    {"SELECT $x;", "1:8", "write :x"},
    {"SELECT $1;", "1:8", "write :user"},
    {"SELECT $$a$$;", "1:8", "PostgreSQL"},
    {"SELECT E'a\\'';", "1:8", "PostgreSQL"},
    {"SELECT id::int FROM t;", "1:10", "write CAST(id AS int)"},
    {"SELECT '5'::int FROM t;", "1:11", "write CAST('5' AS int)"},
    {"SELECT (1 + 2)::int;", "1:15", "SQLite has CAST"},
    {"SELECT (1)::int;", "1:11", "write CAST(… AS int)"},
    {"SELECT : x;", "1:8", "a colon and a name"},
    /* names */
    {"SELECT :usrs;", "1:8", "did you mean :users?"},
    {"SELECT :nothing_like_it;", "1:8", "write \\set nothing_like_it … on a line above"},
    {"SELECT :x;\n\\set x 1", "1:8", "unknown variable :x"},
    {"\\set x :x + 1\nSELECT :x;", "1:8", "unknown variable :x"},
    {"SELECT :scale;", "1:8", "write for example :users"},
    {"SELECT :client_id;", "1:8", "write :connection"},
    {"SELECT :random_seed;", "1:8", "--seed"},
    {"SELECT :row;", "1:8", ":row exists only"},
    {"\\set users 1\nSELECT 1;", "1:6", "a variable of the suite's scale"},
    {"\\set op 1\nSELECT 1;", "1:6", "a variable of pitot itself"},
    {"\\set :x 1\nSELECT 1;", "1:6", "without its colon: x"},
    {"\\set x 1\n\\set x 'a'\nSELECT :x;", "2:6", "a variable keeps its type"},
    /* transactions */
    {"BEGIN;", "1:1", "write \\begin"},
    {"begin immediate;", "1:1", "write \\begin"},
    {"START TRANSACTION;", "1:1", "write \\begin"},
    {"SELECT 1; COMMIT;", "1:11", "write \\commit"},
    {"END;", "1:1", "write \\commit"},
    {"ROLLBACK;", "1:1", "leave it out"},
    {"SAVEPOINT a;", "1:1", "there are no savepoints"},
    {"pragma synchronous=off;", "1:1", "--pragma"},
    {"ATTACH 'x' AS y;", "1:1", "schema.sql"},
    {"RELEASE a;", "1:1", "there are no savepoints"},
    {"\\begin\nSELECT 1;", "1:1", "\\begin has no \\commit"},
    {"SELECT 1;\n\\commit", "2:1", "\\commit without a \\begin"},
    {"\\begin\n\\begin\n", "2:1", "open here already"},
    {"\\begin\n\\repeat 2\nSELECT 1;\n\\commit\n\\end\n", "4:1", "stands outside of the \\repeat"},
    {"\\repeat 2\n\\begin\nSELECT 1;\n\\end\n\\commit", "2:1", "in the same block"},
    {"\\begin\n\\repeat 2\n\\begin\n", "3:1", "open here already"},
    {"\\begin now\nSELECT 1;", "1:8", "now stands where read, write or nothing"},
    /* meta-commands */
    {"\\setrandom user 1 100000", "1:1", "write \\set user random(1, 100000)"},
    {"\\setrandom user 1 :users gaussian 5", "1:1", "\\set user random_gaussian(1, :users, 5)"},
    {"\\setrandom", "1:1", "\\set NAME random(LOW, HIGH)"},
    {"\\sleep 10 ms", "1:1", "leave the line out"},
    {"SELECT 1;\n\\gset", "2:1", "end the statement with ;"},
    {"\\if :a > 1", "1:1", "write \\set x if(:a > 1, 5, 6)"},
    {"\\sett x 1", "1:1", "did you mean \\set?"},
    {"\\frobnicate", "1:1", "there are \\set, \\begin"},
    {"\\", "1:1", "unknown meta-command"},
    {"\\set", "1:5", "the line ends where the name of a variable should stand"},
    {"\\set x", "1:7", "the line ends where a value should stand"},
    {"\\set x = 1", "1:8", "write \\set x …"},
    {"\\set x 1;\nSELECT 1;", "1:9", "leave out the ;"},
    {"\\set x 1 -- one\nSELECT 1;", "1:10", "a comment cannot stand behind"},
    {"\\set x 1 2\nSELECT 1;", "1:10", "2 stands where the line's end should"},
    {"SELECT 1; \\set x 1", "1:11", "a line of its own"},
    {"SELECT 1\n\\set x 1\n;", "1:1", "has no ; before the meta-command on line 2"},
    {"SELECT \\x;", "1:8", "a backslash begins a meta-command only"},
    {"\\repeat 2\nSELECT 1;", "1:1", "\\repeat has no \\end"},
    {"SELECT 1;\n\\end", "2:1", "\\end without a \\repeat"},
    {"\\repeat 'a'\n\\end", "1:9", "is an integer, this is a text"},
    {"\\repeat -1\n\\end", "1:9", "a negative count"},
    {"\\repeat 2 i\n\\end", "1:11", "the line's end"},
    {"\\one\nUPDATE t SET a = 1;", "2:1", "\\one stands before a SELECT only"},
    {"\\one\nWITH a AS (SELECT 1) DELETE FROM t;", "2:1", "\\one stands before a SELECT only"},
    {"\\one\n\\set x 1", "2:1", "\\one must be followed by its SELECT"},
    {"SELECT 1;\n\\one\n", "2:1", "\\one has no SELECT"},
    {"\\rows users 5\n\\end", "1:1", "\\rows belongs into load.sql"},
    /* statements and files */
    {"SELECT 1", "1:1", "no ; at its end"},
    {"SELECT 1;\n  SELECT 'a;", "2:10", "this literal is not closed"},
    {"SELECT \"a;", "1:8", "this quoted name is not closed"},
    {"SELECT [a;", "1:8", "a ] is missing"},
    {"SELECT 1 /* a;", "1:10", "this comment is not closed"},
    {"/* a", "1:1", "this comment is not closed"},
    {"SELECT 1;;", "1:10", "a ; with no statement"},
    {"CREATE TEMP TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END;", "1:1", "schema.sql"},
    {"", "1:1", "holds no SQL statement"},
    {"-- nothing\n\\set x 1\n", "1:1", "holds no SQL statement"},
    {"SELECT 'é', :x;", "1:13", "unknown variable :x"},
    {"\xEF\xBB\xBFSELECT ?;", "1:8", "?"},
    {"\xFF\xFE S", "1:1", "UTF-16: save as UTF-8"},
    {"\xFE\xFF S", "1:1", "UTF-16: save as UTF-8"},
    {"SELECT '\xE9t\xE9';", "1:9", "byte 0xe9 is not UTF-8: save as UTF-8"},
    {"SELECT '\xED\xA0\x80';", "1:9", "not UTF-8"},
    {"SELECT '\xC0\x80';", "1:9", "not UTF-8"},
};

static const struct mistake load_mistakes[] = {
    {"\\rows users\n\\end", "1:12", "the line ends"},
    {"\\rows 'users' 5\n\\end", "1:7", "the name of a table"},
    {"\\rows users 5 CHUNK 0\n\\end", "1:21", "at least 1"},
    {"\\rows users 5\n\\begin\n", "2:1", "makes its own transactions"},
    {"\\rows users 5\n\\repeat 2\n\\begin\n", "3:1", "makes its own transactions"},
    {"\\begin\n\\rows users 5\n", "2:1", "\\commit before it"},
    {"\\repeat 2\n\\rows users 5\n", "2:1", "not inside of \\repeat"},
    {"\\rows users 5\n\\rows orders 5\n", "2:1", "not inside of \\rows"},
    {"\\rows users 5\nSELECT 1;\n", "1:1", "\\rows has no \\end"},
    {"SELECT :row;", "1:8", ":row exists only between \\rows and its \\end"},
    {"\\rows users 5\nSELECT :op;\n\\end", "2:8", "no meaning in load.sql"},
    {"\\rows users :row\n\\end", "1:13", ":row exists only"},
};

static void check_mistake(const struct mistake *mistake, bool load)
{
    struct error error = ERROR_INIT;
    struct script *script = parse_bytes(mistake->text, strlen(mistake->text), load, &error);
    char prefix[64];
    snprintf(prefix, sizeof prefix, "t.sql:%s: ", mistake->place);
    if (script != NULL || error.code != ERROR_INVALID ||
        strncmp(error.message, prefix, strlen(prefix)) != 0 ||
        strstr(error.message, mistake->message) == NULL) {
        fail_msg("%s\nwanted %s…%s…\nfound  %s", mistake->text, prefix, mistake->message,
                 error.message);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        check_mistake(&mistakes[i], false);
    }
    for (size_t i = 0; i < sizeof load_mistakes / sizeof *load_mistakes; i++) {
        check_mistake(&load_mistakes[i], true);
    }
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } files[] = {
        {"SELECT\0 1;", 10, "t.sql:1:7: a NUL byte"},
        {"S\0E\0L\0", 6, "t.sql:1:2: a NUL byte: a script is UTF-8 text (UTF-16? save as UTF-8)"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct error error = ERROR_INIT;
        assert_null(parse_bytes(files[i].bytes, files[i].length, false, &error));
        if (strstr(error.message, files[i].message) == NULL) {
            fail_msg("%s", error.message);
        }
    }
}

static void test_nesting(void **state)
{
    (void)state;
    struct buffer text;
    for (int deep = 0; deep < 2; deep++) {
        buffer_init(&text);
        for (int i = 0; i < 16 + deep; i++) {
            buffer_puts(&text, "\\repeat 1\n");
        }
        buffer_puts(&text, "SELECT 1;\n");
        for (int i = 0; i < 16 + deep; i++) {
            buffer_puts(&text, "\\end\n");
        }
        struct error error = ERROR_INIT;
        struct script *script = parse_bytes(text.data, text.length, false, &error);
        assert_true((script == NULL) == (deep == 1));
        script_free(script);
        buffer_release(&text);
    }
}

/* ---- what is taken ---------------------------------------------------- */

static void read_input(const char *name, struct buffer *out)
{
    char path[512];
    struct error error = ERROR_INIT;
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/tests/unit/script/inputs/%s", name);
    buffer_init(out);
    if (file_read(path, 1 << 20, out, &error) != 0) {
        fail_msg("%s", error.message);
    }
}

static void test_colons(void **state)
{
    (void)state;
    struct buffer file;
    read_input("colons.sql", &file);
    struct error error = ERROR_INIT;
    struct script *script = parse_bytes(file.data, file.length, false, &error);
    assert_non_null(script);
    assert_int_equal(script->statement_count, 1);
    const struct script_statement *statement = &script->statements[0];
    assert_int_equal(statement->parameter_count, 1);
    assert_string_equal(script->variables[statement->parameters[0]].name, "user");
    assert_int_equal(statement->place.line, 4);
    static const char *const kept[] = {
        "'08:15:59'", "':user'", "\"a:b\"", "'$.\"k:user\"'", "'don''t bind :user; this is text'",
        "[c:d]",      "`e:f`"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_non_null(strstr(statement->sql, kept[i]));
    }
    assert_non_null(strstr(statement->sql, "\"a:b\" = ?"));
    script_free(script);
    buffer_release(&file);
}

/* A file with a byte order mark and CR LF gives the tree of the same file without,
 * but for the CR inside its literal. */
static void test_windows(void **state)
{
    (void)state;
    struct buffer file, plain;
    read_input("bom-crlf.sql", &file);
    buffer_init(&plain);
    for (size_t i = 3; i < file.length; i++) {
        if (file.data[i] != '\r') {
            buffer_putc(&plain, file.data[i]);
        }
    }
    struct error error = ERROR_INIT;
    struct script *windows = parse_bytes(file.data, file.length, false, &error);
    struct script *unix_file = parse_bytes(plain.data, plain.length, false, &error);
    assert_non_null(windows);
    assert_non_null(strstr(windows->statements[0].sql, "'ab\r\ncd'"));
    assert_string_equal(unix_file->statements[0].sql,
                        "SELECT name, 'ab\ncd' AS both\n  FROM users\nWHERE id = ?");
    char *literal = strstr(windows->statements[0].sql, "\r\n");
    memmove(literal, literal + 1, strlen(literal));
    json_t *a = script_to_json(windows), *b = script_to_json(unix_file);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    script_free(windows);
    script_free(unix_file);
    buffer_release(&file);
    buffer_release(&plain);
}

static void test_refused_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *file, *message;
    } inputs[] = {
        {"cast.sql", "t.sql:2:40: SQLite has CAST, not ::BIGINT: write CAST(:user AS BIGINT)"},
        {"question-mark.sql", "t.sql:1:39: ?1 is a parameter without a name: write :user"},
        {"dollar-at.sql", "t.sql:2:35: $user is a parameter of another dialect: write :user"},
        {"setrandom.sql", "t.sql:1:1: \\setrandom was removed from pgbench in 9.6: write "
                          "\\set user random(1, 100000)"},
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct buffer file;
        struct error error = ERROR_INIT;
        read_input(inputs[i].file, &file);
        assert_null(parse_bytes(file.data, file.length, false, &error));
        if (strncmp(error.message, inputs[i].message, strlen(inputs[i].message)) != 0) {
            fail_msg("%s", error.message);
        }
        buffer_release(&file);
    }
}

/* Source, and the SQL of its first statement with what is bound to it. */
static const struct {
    const char *text, *sql, *parameters;
} statements[] = {
    {"SELECT 1;", "SELECT 1", ""},
    {"  SELECT 1  ;", "SELECT 1", ""},
    {"SELECT :users, :orders, :users;", "SELECT ?, ?, ?", "users orders users "},
    {"SELECT x'00ff', X'3a', 1.5e-3, a->>'$.b' FROM t;",
     "SELECT x'00ff', X'3a', 1.5e-3, a->>'$.b' FROM t", ""},
    {"SELECT a -- not :this; nor 'this\nFROM t /* ; :no ' */ WHERE id=:users;",
     "SELECT a -- not :this; nor 'this\nFROM t /* ; :no ' */ WHERE id=?", "users "},
    {"SELECT '', 'it''s', \"a\"\"b\", `c``d`, [e\"f];",
     "SELECT '', 'it''s', \"a\"\"b\", `c``d`, [e\"f]", ""},
    {"SELECT a$b, émile FROM t;", "SELECT a$b, émile FROM t", ""},
    {"SELECT '\\' FROM t;", "SELECT '\\' FROM t", ""},
    {"SELECT '\n\\set x 1\n' FROM t;", "SELECT '\n\\set x 1\n' FROM t", ""},
    {"SELECT 5-:users-5;", "SELECT 5-?-5", "users "},
    {"\\one\n  WITH a AS (SELECT 1) SELECT * FROM a;", "WITH a AS (SELECT 1) SELECT * FROM a", ""},
    {"SELECT CASE WHEN 1 THEN 2 END;", "SELECT CASE WHEN 1 THEN 2 END", ""},
    {"/* c */ -- d\n\t\\set x 5\r\n  SELECT :x; -- end", "SELECT ?", "x "},
    {"\\SET x 5\nSELECT :x;", "SELECT ?", "x "},
    {"\\set x 5 + \\\n  6 \\\r\n + 7\nSELECT :x;", "SELECT ?", "x "},
    {"SELECT :op, :connection, :connections;", "SELECT ?, ?, ?", "op connection connections "},
    {"CREATE TABLE trigger_log (a);", "CREATE TABLE trigger_log (a)", ""},
};

static void test_statements(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct script *script = parse_text(statements[i].text, false);
        const struct script_statement *statement = &script->statements[0];
        assert_string_equal(statement->sql, statements[i].sql);
        char names[200] = "";
        for (uint32_t p = 0; p < statement->parameter_count; p++) {
            strcat(strcat(names, script->variables[statement->parameters[p]].name), " ");
        }
        assert_string_equal(names, statements[i].parameters);
        script_free(script);
    }
}

static void test_steps(void **state)
{
    (void)state;
    struct script *script = parse_text("\\rows users :users CHUNK 10\n"
                                       "\\set n :row * 2\n"
                                       "\\repeat 3 AS i\nSELECT :n, :i;\n\\end\n"
                                       "\\end\n"
                                       "\\begin read\n\\one\nSELECT 1;\n\\commit\n"
                                       "\\begin write\nSELECT 2;\n\\commit\n",
                                       true);
    static const enum script_step_kind kinds[] = {
        SCRIPT_STEP_ROWS,        SCRIPT_STEP_BEGIN_READ, SCRIPT_STEP_STATEMENT, SCRIPT_STEP_COMMIT,
        SCRIPT_STEP_BEGIN_WRITE, SCRIPT_STEP_STATEMENT,  SCRIPT_STEP_COMMIT};
    assert_int_equal(script->body.count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(script->body.steps[i].kind, kinds[i]);
    }
    const struct script_step *rows = &script->body.steps[0];
    assert_string_equal(rows->table, "users");
    assert_int_equal(rows->chunk.constant.integer, 10);
    assert_int_equal(rows->body.count, 2);
    assert_int_equal(rows->body.steps[1].kind, SCRIPT_STEP_REPEAT);
    assert_int_equal(rows->body.steps[1].place.line, 3);
    assert_true(script->statements[1].one);
    assert_false(script->statements[2].one);
    script_free(script);
}

static void test_empty_load(void **state)
{
    (void)state;
    struct script *script = parse_text("-- nothing to load\n", true);
    assert_int_equal(script->body.count, 0);
    script_free(script);
}

static void test_warnings(void **state)
{
    (void)state;
    struct script *script = parse_text(
        "SELECT CURRENT_TIMESTAMP, current_date, CURRENT_TIME, datetime('NOW'), random(),\n"
        " randomblob (4), random, 'nowhere', 'CURRENT_DATE', \"now\" FROM t;",
        false);
    static const char *const places[] = {"t.sql:1:8: CURRENT_TIMESTAMP", "t.sql:1:27: current_date",
                                         "t.sql:1:41: CURRENT_TIME",     "t.sql:1:64: 'NOW'",
                                         "t.sql:1:72: random()",         "t.sql:2:2: randomblob()"};
    assert_int_equal(script->warning_count, 6);
    for (size_t i = 0; i < 6; i++) {
        if (strncmp(script->warnings[i], places[i], strlen(places[i])) != 0) {
            fail_msg("%s", script->warnings[i]);
        }
    }
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),   cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_nesting),    cmocka_unit_test(test_colons),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_refused_inputs),
        cmocka_unit_test(test_statements), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_empty_load), cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
