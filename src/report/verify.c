/* Settings, journal and answers of each engine, as `pitot verify` found them. */
#include "base/units.h"
#include "report/parts.h"
#include "result/difference.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define LEAD "          "

static const char *known(const char *text)
{
    return text == NULL ? "–" : text;
}

static bool is(const char *status, const char *expected)
{
    return status != NULL && strcmp(status, expected) == 0;
}

/* ---- settings ---------------------------------------------------------------------- */

static bool same_got(const struct result_setting *a, const struct result_setting *b)
{
    return a->got == NULL || b->got == NULL ? a->got == b->got : strcmp(a->got, b->got) == 0;
}

/* Setting `index` of a connection, where it has the name that the first connection's has. */
static const struct result_setting *setting_at(const struct result_verify *verify,
                                               size_t connection, size_t index)
{
    const result_settings *settings = &verify->connections.items[connection].settings;
    return index < settings->count ? &settings->items[index] : NULL;
}

static bool all_alike(const struct result_verify *verify, size_t index)
{
    const struct result_setting *first = setting_at(verify, 0, index);
    for (size_t i = 1; i < verify->connections.count; i++) {
        const struct result_setting *setting = setting_at(verify, i, index);
        if (setting == NULL || !same_got(first, setting)) {
            return false;
        }
    }
    return true;
}

/* Values that switch something off: an engine that does not know the setting does the same. */
static bool is_off(const char *value)
{
    static const char *const words[] = {"0", "off", "none", "no", "false"};
    for (size_t i = 0; value != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(value, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void append_got(struct buffer *text, const struct result_setting *setting)
{
    if (setting->got == NULL) {
        buffer_printf(text, "%s → nothing (not supported, %s)", known(setting->asked),
                      is_off(setting->asked) ? "same effect" : "differs");
    } else if (setting->asked != NULL && strcasecmp(setting->asked, setting->got) == 0) {
        buffer_printf(text, "%s → %s", setting->asked, setting->got);
    } else {
        buffer_printf(text, "%s → %s%s", known(setting->asked), setting->got,
                      setting->agrees ? " (the same)" : "");
    }
}

/* "connections 0, 2 and 3" that read back the same as connection `like` does. */
static void append_connections(struct buffer *text, const struct result_verify *verify,
                               size_t index, size_t like)
{
    enum { SHOWN = 8 };
    size_t found = 0;
    const struct result_setting *setting = setting_at(verify, like, index);
    for (size_t i = 0; i < verify->connections.count; i++) {
        const struct result_setting *other = setting_at(verify, i, index);
        if (other != NULL && same_got(setting, other)) {
            if (found < SHOWN) {
                buffer_printf(text, "%s%" PRIu64, found == 0 ? "connection " : ", ",
                              verify->connections.items[i].connection);
            }
            found++;
        }
    }
    if (found > SHOWN) {
        buffer_printf(text, " and %zu more", found - SHOWN);
    }
}

/* True when an earlier connection read back the same: its line tells of this one as well. */
static bool told_before(const struct result_verify *verify, size_t index, size_t connection)
{
    for (size_t i = 0; i < connection; i++) {
        const struct result_setting *earlier = setting_at(verify, i, index);
        if (earlier != NULL && same_got(earlier, setting_at(verify, connection, index))) {
            return true;
        }
    }
    return false;
}

static void print_setting_by_connection(const struct page *page, const struct result_verify *verify,
                                        size_t index)
{
    for (size_t i = 0; i < verify->connections.count; i++) {
        const struct result_setting *setting = setting_at(verify, i, index);
        if (setting == NULL || told_before(verify, index, i)) {
            continue;
        }
        struct buffer text;
        buffer_init(&text);
        buffer_printf(&text, "%s ", known(setting->name));
        append_got(&text, setting);
        buffer_puts(&text, " on ");
        append_connections(&text, verify, index, i);
        bool wrong = setting->required && !setting->agrees;
        page_text(page, wrong ? TONE_FAILED : TONE_PLAIN, setting->agrees ? LEAD : "        ! ",
                  "%s%s", text.data, wrong ? ": required, not taken" : "");
        buffer_release(&text);
    }
}

static void print_settings(const struct page *page, const struct result_verify *verify)
{
    size_t connections = verify->connections.count;
    if (connections == 0) {
        return;
    }
    struct buffer text;
    buffer_init(&text);
    size_t count = verify->connections.items[0].settings.count;
    for (size_t i = 0; i < count; i++) {
        const struct result_setting *setting = setting_at(verify, 0, i);
        if (all_alike(verify, i) && (setting->agrees || !setting->required)) {
            buffer_printf(&text, "%s%s ", text.length > 0 ? ", " : "", known(setting->name));
            append_got(&text, setting);
        }
    }
    page_text(page, TONE_PLAIN, "Settings  ", "%s%son %zu of %zu connection%s",
              text.length > 0 ? text.data : "none as asked", text.length > 0 ? "; " : " ",
              connections, connections, connections == 1 ? "" : "s");
    buffer_release(&text);
    for (size_t i = 0; i < count; i++) {
        const struct result_setting *setting = setting_at(verify, 0, i);
        if (!all_alike(verify, i) || (setting->required && !setting->agrees)) {
            print_setting_by_connection(page, verify, i);
        }
    }
}

/* ---- journal ---------------------------------------------------------------------------- */

static void append_shm(struct buffer *text, const struct result_verify *verify)
{
    bool there = verify->shm_bytes != RESULT_ABSENT;
    buffer_puts(text, there ? "; a -shm" : "; no -shm");
    if (there != verify->shm_due) {
        buffer_puts(text, there ? ", none is expected of this engine" : ", though one is expected");
    } else if (!there) {
        buffer_puts(text, ", as expected");
    }
}

static void print_journal(const struct page *page, const struct result_verify *verify)
{
    if (verify->connections.count == 0 || verify->journal_mode == NULL) {
        return;
    }
    struct buffer text;
    char bytes[UNITS_TEXT_SIZE];
    bool filled = verify->journal != NULL && verify->journal_bytes > 0;
    bool wrong = verify->journal_due && !filled;
    buffer_init(&text);
    if (verify->journal != NULL) {
        units_print_bytes(bytes, (double)verify->journal_bytes);
        buffer_printf(&text, "%s of %s after writing", verify->journal, bytes);
    } else {
        buffer_printf(&text, "no -wal or -log after writing");
        buffer_puts(&text, wrong ? "" : ", none is due");
    }
    append_shm(&text, verify);
    page_text(page, wrong ? TONE_FAILED : TONE_PLAIN, wrong ? "Journal ! " : "Journal   ", "%s%s",
              text.data, wrong ? ": what was written is not where this journal mode puts it" : "");
    buffer_release(&text);
}

/* ---- answers ------------------------------------------------------------------------------ */

static size_t count_scripts(const struct result_verify_database *database, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < database->scripts.count; i++) {
        count += is(database->scripts.items[i].status, status);
    }
    return count;
}

static size_t count_tables(const struct result_verify_database *database, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < database->tables.count; i++) {
        count += is(database->tables.items[i].status, status);
    }
    return count;
}

static void append_counts(struct buffer *text, size_t scripts, size_t tables, uint64_t operations)
{
    char number[UNITS_TEXT_SIZE];
    units_print_count(number, (double)operations);
    buffer_printf(text, ", %zu script%s × %s operations and all tables (%zu)", scripts,
                  scripts == 1 ? "" : "s", number, tables);
}

static bool is_wrong(const struct result_verify_database *database)
{
    return is(database->status, "differs") || is(database->status, "failed");
}

static void append_verdict(struct buffer *text, const struct result_verify_database *database,
                           size_t scripts, size_t tables)
{
    if (is(database->status, "failed")) {
        buffer_printf(text, "failed: %s", known(database->error));
        return;
    }
    if (is(database->status, "differs")) {
        buffer_printf(text, "differ from %s's in %zu of %zu script%s and %zu of %zu table%s",
                      known(database->reference), count_scripts(database, "differs"), scripts,
                      scripts == 1 ? "" : "s", count_tables(database, "differs"), tables,
                      tables == 1 ? "" : "s");
        return;
    }
    if (is(database->status, "equal")) {
        buffer_printf(text, "equal to %s's", known(database->reference));
    } else if (is(database->status, "reference")) {
        buffer_puts(text, "the others are compared with these");
    } else {
        buffer_puts(text, "only engine: nothing to compare with");
    }
    append_counts(text, scripts, tables, database->operations);
}

void verify_append_verdict(struct buffer *text, const struct result_verify_database *database)
{
    append_verdict(text, database, database->scripts.count, database->tables.count);
}

static void print_failures(const struct page *page, const struct result_verify_database *database,
                           const struct result_verify_script *script)
{
    if (script->failed > 0) {
        page_text(page, TONE_PLAIN, LEAD, "%s: %" PRIu64 " of %" PRIu64 " failed: %s",
                  known(script->script), script->failed, database->operations,
                  script->errors.count > 0 ? known(script->errors.items[0]) : "no reason given");
    }
    if (script->busy + script->conflict > 0) {
        page_text(page, TONE_PLAIN, LEAD, "%s: %" PRIu64 " busy, %" PRIu64 " conflicts",
                  known(script->script), script->busy, script->conflict);
    }
}

static void print_differences(const struct page *page,
                              const struct result_verify_database *database)
{
    for (size_t i = 0; i < database->scripts.count; i++) {
        const struct result_verify_script *script = &database->scripts.items[i];
        print_failures(page, database, script);
        for (size_t k = 0; k < script->differences.count; k++) {
            struct buffer text;
            buffer_init(&text);
            difference_describe(&script->differences.items[k], database->reference, &text);
            page_text(page, TONE_FAILED, "        ! ",
                      "%s differs in %" PRIu64 " of %" PRIu64 " operations, first in %s",
                      known(script->script), script->differing, database->operations, text.data);
            buffer_release(&text);
        }
    }
    for (size_t i = 0; i < database->tables.count; i++) {
        const struct result_verify_table *table = &database->tables.items[i];
        if (!is(table->status, "differs")) {
            continue;
        }
        if (table->reference_rows == RESULT_ABSENT) {
            page_text(page, TONE_FAILED, "        ! ", "table %s is not there with %s",
                      known(table->table), known(database->reference));
        } else {
            page_text(page, TONE_FAILED, "        ! ",
                      "table %s differs: %" PRIu64 " rows, with %s %" PRIu64, known(table->table),
                      table->rows, known(database->reference), table->reference_rows);
        }
    }
}

/* Databases of one suite that came to the same good end are told of in one line. */
static bool same_end(const struct result_verify_database *a, const struct result_verify_database *b)
{
    return !is_wrong(a) && is(a->suite, known(b->suite)) && is(a->status, known(b->status)) &&
           is(known(a->reference), known(b->reference)) && a->operations == b->operations;
}

/* The suite, and where only a part of it is meant, the scenarios. */
static void append_name(struct buffer *text, const struct result_verify_database *database)
{
    buffer_printf(text, "%s %s", known(database->suite), known(database->scale));
    for (size_t i = 0; is_wrong(database) && i < database->scenarios.count; i++) {
        buffer_printf(text, "%s%s", i == 0 ? ", " : " and ", known(database->scenarios.items[i]));
    }
    buffer_puts(text, ": ");
}

static void print_answers(const struct page *page, const struct result_verify *verify)
{
    for (size_t i = 0; i < verify->databases.count; i++) {
        const struct result_verify_database *database = &verify->databases.items[i];
        const struct result_verify_database *next = database + 1;
        const struct result_verify_database *end =
            verify->databases.items + verify->databases.count;
        size_t scripts = database->scripts.count;
        size_t tables = database->tables.count;
        for (; next < end && same_end(database, next); next++, i++) {
            scripts += next->scripts.count;
            tables += next->tables.count;
        }
        struct buffer text;
        buffer_init(&text);
        append_name(&text, database);
        append_verdict(&text, database, scripts, tables);
        page_text(page, is_wrong(database) ? TONE_FAILED : TONE_PLAIN,
                  database > verify->databases.items ? LEAD
                  : is_wrong(database)               ? "Answers ! "
                                                     : "Answers   ",
                  "%s", text.data);
        buffer_release(&text);
        for (; database < next; database++) {
            print_differences(page, database);
        }
    }
    if (is(verify->status, "exempt")) {
        page_text(page, TONE_PLAIN, "Answers   ", "none: it stores nothing");
    }
}

/* ---- the report --------------------------------------------------------------------------------
 */

static const char *verdict(const char *status)
{
    return status == NULL ? "not verified"
           : strcmp(status, "equal") == 0 || strcmp(status, "alone") == 0 ||
                   strcmp(status, "exempt") == 0
               ? "ok"
               : status;
}

void verify_print(const struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        const char *word = verdict(engine->verify.status);
        const char *library = engine->libraries.count > 0 ? engine->libraries.items[0].real : NULL;
        struct buffer binding;
        buffer_init(&binding);
        report_append_binding(&binding, engine);
        page_blank(page);
        page_text(page, strcmp(word, "ok") == 0 ? TONE_BOLD : TONE_FAILED, "",
                  "%s: version %s%s%s%s: %s", known(engine->name), known(engine->version),
                  binding.data, library != NULL ? ", library " : "", library != NULL ? library : "",
                  word);
        buffer_release(&binding);
        print_settings(page, &engine->verify);
        print_journal(page, &engine->verify);
        print_answers(page, &engine->verify);
    }
}
