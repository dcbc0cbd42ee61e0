#include "script/effect.h"

#include "core/error.h"
#include "script/parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- tokens ------------------------------------------------------------- */

enum kind { AT_END, AT_WORD, AT_NAME /* quoted */, AT_LITERAL, AT_SIGN };

struct scanner {
    const char *at;
    const char *end;
    enum kind kind; /* of the current token, which is [start, start + length) */
    const char *start;
    size_t length;
    int depth; /* of parentheses around the current token */
};

static bool is_word_byte(char c)
{
    return is_name_part(c) || (unsigned char)c >= 0x80 || c == '$';
}

static const char *skip_comment(const struct scanner *scanner)
{
    const char *at = scanner->at;
    if (scanner->end - at < 2) {
        return at;
    }
    if (at[0] == '-' && at[1] == '-') {
        const char *line = memchr(at, '\n', (size_t)(scanner->end - at));
        return line != NULL ? line : scanner->end;
    }
    if (at[0] == '/' && at[1] == '*') {
        for (at += 2; scanner->end - at >= 2; at++) {
            if (at[0] == '*' && at[1] == '/') {
                return at + 2;
            }
        }
        return scanner->end;
    }
    return at;
}

static void skip_blanks(struct scanner *scanner)
{
    for (;;) {
        while (scanner->at < scanner->end && strchr(" \t\r\n\f\v", *scanner->at) != NULL) {
            scanner->at++;
        }
        const char *behind = skip_comment(scanner);
        if (behind == scanner->at) {
            return;
        }
        scanner->at = behind;
    }
}

/* Behind the closing quote; a doubled one belongs to the name. */
static const char *quoted_end(const struct scanner *scanner)
{
    char close = *scanner->at == '[' ? ']' : *scanner->at;
    for (const char *at = scanner->at + 1; at < scanner->end; at++) {
        if (*at != close) {
            continue;
        }
        if (close == ']' || at + 1 == scanner->end || at[1] != close) {
            return at + 1;
        }
        at++;
    }
    return scanner->end;
}

static void next(struct scanner *scanner)
{
    skip_blanks(scanner);
    const char *at = scanner->at;
    scanner->start = at;
    if (at == scanner->end) {
        scanner->kind = AT_END;
    } else if (strchr("'\"`[", *at) != NULL) {
        scanner->kind = *at == '\'' ? AT_LITERAL : AT_NAME;
        at = quoted_end(scanner);
    } else if (is_word_byte(*at)) {
        scanner->kind = AT_WORD;
        while (at < scanner->end && is_word_byte(*at)) {
            at++;
        }
    } else {
        scanner->kind = AT_SIGN;
        scanner->depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        at++;
    }
    scanner->length = (size_t)(at - scanner->start);
    scanner->at = at;
}

static bool at_word(const struct scanner *scanner, const char *word)
{
    return scanner->kind == AT_WORD && word_is(scanner->start, scanner->length, word);
}

static bool at_sign(const struct scanner *scanner, char sign)
{
    return scanner->kind == AT_SIGN && *scanner->start == sign;
}

/* ---- names -------------------------------------------------------------- */

/* The current token as a name: quotes off, doubled ones halved. SQLite takes '…' as a name too. */
static char *name_of(const struct scanner *scanner)
{
    char *name = malloc(scanner->length + 1);
    size_t length = 0;
    if (name == NULL) {
        return NULL;
    }
    bool quoted = scanner->kind != AT_WORD;
    size_t last = scanner->length - (quoted && scanner->length > 1 ? 1 : 0);
    for (size_t i = quoted ? 1 : 0; i < last; i++) {
        name[length++] = scanner->start[i];
        if (quoted && scanner->start[0] != '[' && scanner->start[i] == scanner->start[0]) {
            i++;
        }
    }
    name[length] = '\0';
    return name;
}

/* Reads NAME or SCHEMA.NAME; the scanner then stands behind it. *other: the schema is not main. */
static int take_table(struct scanner *scanner, char **table, bool *other)
{
    *other = false;
    *table = NULL;
    if (scanner->kind == AT_END || scanner->kind == AT_SIGN) {
        return 0;
    }
    *table = name_of(scanner);
    next(scanner);
    if (*table != NULL && at_sign(scanner, '.')) {
        *other = !effect_same_table(*table, "main");
        free(*table);
        next(scanner);
        *table = name_of(scanner);
        next(scanner);
    }
    return *table != NULL ? 0 : ERROR_MEMORY;
}

/* ---- statements --------------------------------------------------------- */

static int set_unknown(struct effect *out, const char *why)
{
    out->kind = out->table != NULL ? EFFECT_UNKNOWN : EFFECT_ANY;
    out->why = why;
    return 0;
}

/* Takes the table behind INTO or FROM. `why`: what makes the effect unknown already. The kind
 * stays EFFECT_NONE where nothing does. */
static int take_target(struct scanner *scanner, const char *why, struct effect *out)
{
    bool other;
    next(scanner);
    int status = take_table(scanner, &out->table, &other);
    if (status == 0 && (out->table == NULL || why != NULL || other)) {
        return set_unknown(out, why != NULL ? why : "a table of another database");
    }
    return status;
}

/* ON CONFLICT anywhere behind the table: an UPSERT. */
static bool has_upsert(struct scanner *scanner)
{
    bool on = false;
    for (; scanner->kind != AT_END; next(scanner)) {
        if (on && at_word(scanner, "conflict")) {
            return true;
        }
        on = at_word(scanner, "on");
    }
    return false;
}

/* The scanner stands behind INSERT or REPLACE. `why`: what makes it unknown already. */
static int insert_effect(struct scanner *scanner, const char *why, struct effect *out)
{
    if (at_word(scanner, "or")) {
        next(scanner);
        why = at_word(scanner, "abort")     ? why
              : at_word(scanner, "replace") ? "INSERT OR REPLACE"
              : at_word(scanner, "ignore")  ? "INSERT OR IGNORE"
                                            : "INSERT OR …";
        next(scanner);
    }
    if (!at_word(scanner, "into")) {
        return set_unknown(out, "a statement that is not understood");
    }
    int status = take_target(scanner, why, out);
    if (status != 0 || out->kind != EFFECT_NONE) {
        return status;
    }
    if (has_upsert(scanner)) {
        return set_unknown(out, "an UPSERT");
    }
    out->kind = EFFECT_INSERT;
    return 0;
}

static int delete_effect(struct scanner *scanner, const char *why, struct effect *out)
{
    if (!at_word(scanner, "from")) {
        return set_unknown(out, "a statement that is not understood");
    }
    int status = take_target(scanner, why, out);
    if (status == 0 && out->kind == EFFECT_NONE) {
        out->kind = EFFECT_DELETE;
    }
    return status;
}

/* Only OR REPLACE removes rows, those that stand in the way. */
static int update_effect(struct scanner *scanner, struct effect *out)
{
    bool other;
    if (!at_word(scanner, "or")) {
        return 0;
    }
    next(scanner);
    if (!at_word(scanner, "replace")) {
        return 0;
    }
    next(scanner);
    int status = take_table(scanner, &out->table, &other);
    return status != 0 ? status : set_unknown(out, "UPDATE OR REPLACE");
}

/* From WITH to the statement's own verb, which stands outside all parentheses. */
static void skip_with(struct scanner *scanner)
{
    static const char *const verbs[] = {"select",  "values", "insert",
                                        "replace", "update", "delete"};
    for (next(scanner); scanner->kind != AT_END; next(scanner)) {
        for (size_t i = 0; scanner->depth == 0 && i < sizeof verbs / sizeof *verbs; i++) {
            if (at_word(scanner, verbs[i])) {
                return;
            }
        }
    }
}

static int effect_read(struct scanner *scanner, struct effect *out)
{
    static const char *const harmless[] = {"select",  "values", "pragma", "analyze",
                                           "reindex", "vacuum", "explain"};
    const char *why = NULL;
    next(scanner);
    if (at_word(scanner, "with")) {
        why = "WITH before a write";
        skip_with(scanner);
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (at_word(scanner, harmless[i])) {
            return 0;
        }
    }
    if (at_word(scanner, "insert")) {
        next(scanner);
        return insert_effect(scanner, why, out);
    }
    if (at_word(scanner, "replace")) {
        next(scanner);
        return insert_effect(scanner, "REPLACE", out);
    }
    if (at_word(scanner, "delete")) {
        next(scanner);
        return delete_effect(scanner, why, out);
    }
    if (at_word(scanner, "update")) {
        next(scanner);
        return update_effect(scanner, out);
    }
    return set_unknown(out, "a statement that is not understood");
}

int effect_of_statement(const char *sql, struct effect *out)
{
    struct scanner scanner = {.at = sql, .end = sql + strlen(sql)};
    *out = (struct effect){EFFECT_NONE, NULL, NULL};
    return effect_read(&scanner, out);
}

enum effect_verb effect_verb(const char *sql)
{
    static const struct {
        const char *word;
        enum effect_verb verb;
    } verbs[] = {{"select", EFFECT_VERB_READ},   {"values", EFFECT_VERB_READ},
                 {"explain", EFFECT_VERB_READ},  {"insert", EFFECT_VERB_WRITE},
                 {"replace", EFFECT_VERB_WRITE}, {"update", EFFECT_VERB_WRITE},
                 {"delete", EFFECT_VERB_WRITE}};
    struct scanner scanner = {.at = sql, .end = sql + strlen(sql)};
    next(&scanner);
    if (at_word(&scanner, "with")) {
        skip_with(&scanner);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (at_word(&scanner, verbs[i].word)) {
            return verbs[i].verb;
        }
    }
    return EFFECT_VERB_OTHER;
}

void effect_release(struct effect *effect)
{
    free(effect->table);
    effect->table = NULL;
}

const char *effect_of_schema(const char *sql, size_t length)
{
    static const struct {
        const char *before, *word, *why;
    } pairs[] = {
        {"delete", "cascade", "the schema has ON DELETE CASCADE"},
        {"conflict", "replace", "the schema has ON CONFLICT REPLACE"},
        {"conflict", "ignore", "the schema has ON CONFLICT IGNORE"},
        {"conflict", "fail", "the schema has ON CONFLICT FAIL"},
        {"create", "virtual", "the schema has a virtual table"},
    };
    struct scanner scanner = {.at = sql, .end = sql + length};
    struct scanner before = scanner;
    for (next(&scanner); scanner.kind != AT_END; next(&scanner)) {
        if (at_word(&scanner, "trigger")) {
            return "the schema has a trigger";
        }
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            if (at_word(&scanner, pairs[i].word) && at_word(&before, pairs[i].before)) {
                return pairs[i].why;
            }
        }
        before = scanner;
    }
    return NULL;
}

bool effect_same_table(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}
