/* Expressions: their values, and what is refused before or while they run. */
#include "script_testing.h"

#include "base/buffer.h"

/* Evaluates `\set v EXPRESSION`; the variable's value as text, or the error. */
static const char *evaluate(const char *expression, char out[512])
{
    char source[4096];
    snprintf(source, sizeof source, "\\set v %s\nSELECT :v;\n", expression);
    struct error error = ERROR_INIT;
    struct script *script = parse_bytes(source, strlen(source), false, &error);
    if (script == NULL) {
        snprintf(out, 512, "check %.500s", error.message);
        return out;
    }
    struct evaluation evaluation;
    struct random random;
    start_evaluation(&evaluation, script);
    random_init(&random, 1, RANDOM_PARAMETERS, 0, 0);
    if (evaluation_draw(&evaluation, &script->body, &random, &error) != 0) {
        snprintf(out, 512, "run %.500s", error.message);
    } else {
        const struct value *value = &evaluation.values[0];
        switch (value->type) {
        case VALUE_INTEGER:
            snprintf(out, 512, "%lld", (long long)value->integer);
            break;
        case VALUE_DOUBLE:
            snprintf(out, 512, "%#.12g", value->real);
            break;
        default:
            snprintf(out, 512, "'%.*s'", (int)value->length, value->bytes);
            break;
        }
    }
    evaluation_release(&evaluation);
    script_free(script);
    return out;
}

/* :users is 1000, :zero is 0: both are known only when the script runs. */
static const struct {
    const char *expression, *value;
} values[] = {
    {"7", "7"},
    {"-7", "-7"},
    {"9007199254740991", "9007199254740991"},
    {"-9007199254740991", "-9007199254740991"},
    {"1.5", "1.50000000000"},
    {"1e3", "1000.00000000"},
    {".5", "0.500000000000"},
    {"'a''b'", "'a'b'"},
    {"''", "''"},
    {"2 + 3 * 4", "14"},
    {"(2 + 3) * 4", "20"},
    {"10 - 3 - 2", "5"},
    {"100 / 7 / 2", "7"},
    {"7 / -2", "-3"},
    {"-7 % 3", "-1"},
    {"7 % -3", "1"},
    {"- - 5", "5"},
    {"-:users / 3", "-333"},
    {"-:users % 7", "-6"},
    {"2 * 3 = 6", "1"},
    {"1 + 1 <> 2", "0"},
    {"1 != 2", "1"},
    {"1 < 2", "1"},
    {"2 <= 1", "0"},
    {"2 > 1.5", "1"},
    {"1 >= 1.0", "1"},
    {"(1 < 2) = (2 < 3)", "1"},
    {"'a' = 'a'", "1"},
    {"'a' <> 'ab'", "1"},
    {"9007199254740991 > 9007199254740990", "1"},
    {"1 / 2.0", "0.500000000000"},
    {":users * 0.5", "500.000000000"},
    {"if(:users > 5, 'many', 'few')", "'many'"},
    {"if(:zero, 1 / :zero, 3)", "3"},
    {"if(2, 1, 0)", "1"},
    {"IF(0, 1.0, 2.0)", "2.00000000000"},
    {"min(3, 1, 2)", "1"},
    {"max(3.5)", "3.50000000000"},
    {"max(-1.5, :users * 1.0, 2.5)", "1000.00000000"},
    {"int(2.5)", "2"},
    {"int(3.5)", "4"},
    {"int(-2.5)", "-2"},
    {"int(5.4 + 3.8)", "9"},
    {"int(7)", "7"},
    {"double(7)", "7.00000000000"},
    {"length('')", "0"},
    {"length('aéü€😀')", "5"},
    {"format('%d-%03d-%s-%x-%%', 5, 7, 'x', 255)", "'5-007-x-ff-%'"},
    {"format('%s', 12)", "'12'"},
    {"format('%04d', -5)", "'-005'"},
    {"format('%02d', 12345)", "'12345'"},
    {"format('%x', -255)", "'-ff'"},
    {"format('%d', -9007199254740991)", "'-9007199254740991'"},
    {"format('%099d', 1)", "'00000000000000000000000000000000000000000000000000000000000000000000"
                           "0000000000000000000000000000001'"},
    {"choice(5)", "5"},
    {"random(5, 5)", "5"},
    {"random_zipfian(3, 3, 1.5)", "3"},
    /* refused by the checker; the expression begins at column 8 */
    {"9007199254740992", "check t.sql:1:8: overflow"},
    {"99999999999999999999", "check t.sql:1:8: overflow"},
    {"1e999", "check t.sql:1:8: overflow"},
    {"9007199254740991 + 1", "check t.sql:1:25: overflow"},
    {"-9007199254740991 - 1", "check t.sql:1:26: overflow"},
    {"94906267 * 94906267", "check t.sql:1:17: overflow"},
    {"9007199254740991 * 9007199254740991", "check t.sql:1:25: overflow"},
    {"1e308 * 10", "check t.sql:1:14: overflow"},
    {"int(1e16)", "check t.sql:1:8: overflow"},
    {"1 / 0", "check t.sql:1:10: division by zero"},
    {"1 % 0", "check t.sql:1:10: division by zero"},
    {"1 / 0.0", "check t.sql:1:10: division by zero"},
    {"random(5, 4)", "check t.sql:1:8: empty range in random(): 5 is above 4"},
    {"random_gaussian(1, 9, 1.9)", "check t.sql:1:30: the last argument of random_gaussian()"},
    {"random_exponential(1, 9, 0)", "check t.sql:1:33: the last argument"},
    {"random_zipfian(1, 9, 1)", "check t.sql:1:29: the last argument"},
    {"random_zipfian(1, 9, 1001)", "check t.sql:1:29: the last argument"},
    {"random(1.5, 2)", "check t.sql:1:15: random() wants an integer, this is a double: int(…)"},
    {"random(1)", "check t.sql:1:8: random() takes 2 arguments, not 1"},
    {"if(1, 2)", "check t.sql:1:8: if() takes 3 arguments, not 2"},
    {"length()", "check t.sql:1:8: length() takes 1 argument, not 0"},
    {"if(1, 2, 3.0)", "check t.sql:1:17: if() wants values of one type"},
    {"choice(1, 'a')", "check t.sql:1:18: choice() wants values of one type"},
    {"min(1, 2.0)", "check t.sql:1:15: min() wants values of one type"},
    {"max('a', 'b')", "check t.sql:1:12: max() wants a number, this is a text"},
    {"if(1.0, 2, 3)", "check t.sql:1:11: if() wants an integer, this is a double"},
    {"5 % 2.0", "check t.sql:1:12: % wants an integer, this is a double"},
    {"'a' + 1", "check t.sql:1:8: + wants a number, this is a text"},
    {"-'a'", "check t.sql:1:9: - wants a number"},
    {"'a' < 'b'", "check t.sql:1:12: < compares numbers"},
    {"'a' = 1", "check t.sql:1:12: = compares a text with an integer"},
    {"1 < 2 < 3", "check t.sql:1:14: comparisons do not chain"},
    {"format('%s', 1.5)", "check t.sql:1:21: %s of format() wants a text or an integer"},
    {"format('%d', 'a')", "check t.sql:1:21: %d of format() wants an integer"},
    {"format('%x', 1.5)", "check t.sql:1:21: %x of format() wants an integer"},
    {"format('%5d', 1)", "check t.sql:1:15: format() knows %d, %0Nd"},
    {"format('%00d', 1)", "check t.sql:1:15: format() knows"},
    {"format('%0100d', 1)", "check t.sql:1:15: format() knows"},
    {"format('%f', 1.5)", "check t.sql:1:15: format() knows %d, %0Nd (N from 1 to 99), %s, %x"},
    {"format('100%')", "check t.sql:1:15: format() knows"},
    {"format('%d %d', 1)", "check t.sql:1:15: format() has no argument for its 2. directive"},
    {"format('%d', 1, 2)", "check t.sql:1:24: the text of format() has no directive"},
    {"format(choice('a', 'b'))", "check t.sql:1:15: the first argument of format() is a literal"},
    {"abs(-1)", "check t.sql:1:8: pgbench's abs() is not part of the script language"},
    {"hash(1)", "check t.sql:1:8: pgbench's hash()"},
    {"permute(1, 2)", "check t.sql:1:8: pgbench's permute()"},
    {"power(2, 3)", "check t.sql:1:8: pgbench's power()"},
    {"greatest(1, 2)", "check t.sql:1:8: pgbench's greatest() is not part of the script language: "
                       "write max("},
    {"randon(1, 2)", "check t.sql:1:8: unknown function randon(): did you mean random()?"},
    {"frobnicate()", "check t.sql:1:8: unknown function frobnicate(): there are if, choice"},
    {"users", "check t.sql:1:8: users is no value: a variable is written :users"},
    {"1 = 1 and 2 = 2", "check t.sql:1:14: pgbench's and is not part of the script language"},
    {"not 1", "check t.sql:1:8: pgbench's not"},
    {"case when 1 then 2 end", "check t.sql:1:8: pgbench's case"},
    {"true", "check t.sql:1:8: there are no booleans"},
    {"null", "check t.sql:1:8: there is no null"},
    {"1 || 2", "check t.sql:1:10: operator |"},
    {"1 << 2", "check t.sql:1:11: < stands where a value should"},
    {"(1 + 2", "check t.sql:1:14: the line ends where the closing ) should stand"},
    {"min(1 2)", "check t.sql:1:14: 2 stands where a comma or the closing ) should"},
    {"1 +", "check t.sql:1:11: the line ends where a value should stand"},
    {"'abc", "check t.sql:1:8: this text is not closed"},
    {"12x", "check t.sql:1:8: a number goes on with 'x'"},
    {":users::double", "check t.sql:1:14: the script language has no :: cast"},
    {"1 § 2", "check t.sql:1:10: § has no meaning"},
    {"\"a\"", "check t.sql:1:8: \" has no meaning"},
    /* refused while it runs */
    {":users + 9007199254740991", "run t.sql:1:15: overflow"},
    {"-9007199254740991 - :users", "run t.sql:1:26: overflow"},
    {":users * 9007199254740991", "run t.sql:1:15: overflow"},
    {":users * 1e303 * 1e3", "run t.sql:1:23: overflow"},
    {"int(:users * 1e15)", "run t.sql:1:8: overflow"},
    {"1 / :zero", "run t.sql:1:10: division by zero"},
    {"1.5 / :zero", "run t.sql:1:12: division by zero"},
    {"5 % :zero", "run t.sql:1:10: division by zero"},
    {"random(1, :zero)", "run t.sql:1:8: empty range"},
    {"random_gaussian(1, 9, :zero)", "run t.sql:1:30: the last argument of random_gaussian()"},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char found[512];
        evaluate(values[i].expression, found);
        bool refused =
            strncmp(values[i].value, "check ", 6) == 0 || strncmp(values[i].value, "run ", 4) == 0;
        size_t length = strlen(values[i].value) + !refused; /* a message may go on */
        if (strncmp(found, values[i].value, length) != 0) {
            fail_msg("%s\nwanted %s\nfound  %s", values[i].expression, values[i].value, found);
        }
    }
}

/* Neither many operators nor many parentheses may exhaust the stack. */
static void test_depth(void **state)
{
    (void)state;
    static const char *const parts[] = {"1 + (", "-", "(", ":users + ", "min("};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buffer text;
        buffer_init(&text);
        buffer_puts(&text, "\\set v ");
        for (int k = 0; k < 200000; k++) {
            buffer_puts(&text, parts[i]);
            if (strcmp(parts[i], "-") == 0) {
                buffer_putc(&text, ' ');
            }
        }
        buffer_puts(&text, "1\nSELECT :v;\n");
        struct error error = ERROR_INIT;
        assert_null(parse_bytes(text.data, text.length, false, &error));
        if (strstr(error.message, "nested more than 100 deep") == NULL) {
            fail_msg("%s: %s", parts[i], error.message);
        }
        buffer_release(&text);
    }
}

/* What is known before the run is one constant in the tree. */
static void test_folding(void **state)
{
    (void)state;
    struct script *script = parse_text("\\set v -(7 * 86400) + length('abc') + if(1 < 2, 5, 6)\n"
                                       "SELECT :v;\n",
                                       false);
    const struct script_expression *e = &script->body.steps[0].expression;
    assert_int_equal(e->op, SCRIPT_OP_CONSTANT);
    assert_int_equal(e->constant.integer, -604800 + 3 + 5);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
