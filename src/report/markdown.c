/* The report as Markdown, for a comment below a change: the parts of the table in another order. */
#include "report/parts.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

/* Bytes, of which a character has at least one; the reserve is for what is said at the end. */
enum { COMMENT_MAX = 65536, RESERVE = 400 };

static const char fold_end[] = "\n</details>\n";

static void fold(struct buffer *out, const char *title)
{
    buffer_printf(out, "\n<details><summary>%s</summary>\n", title);
}

static void put_known(struct buffer *out, const char *text, const char *otherwise)
{
    page_append_escaped(out, text != NULL ? text : otherwise);
}

/* "sqlite 3.54.1, turso 0.8.3; a CPU, 2 cores; 10 rounds; 2026-…" */
static void put_head(struct buffer *out, const struct result *result)
{
    uint64_t rounds = result->plan.rounds;
    buffer_puts(out, "## pitot ");
    put_known(out, result->command, "");
    buffer_puts(out, "\n\n");
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        buffer_puts(out, i > 0 ? ", " : "");
        put_known(out, engine->name, "–");
        buffer_puts(out, engine->version != NULL ? " " : "");
        put_known(out, engine->version, "");
    }
    for (size_t i = 0; i < result->numbers.count; i++) {
        buffer_puts(out, i > 0 ? ", SQLite " : "SQLite ");
        put_known(out, result->numbers.items[i].version, "–");
    }
    buffer_puts(out, "; ");
    put_known(out, result->host.cpu_model, "unknown CPU");
    buffer_printf(out, ", %" PRIu64 " core%s; ", result->host.cores,
                  result->host.cores == 1 ? "" : "s");
    if (result->engines.count > 0 && rounds > 0) {
        buffer_printf(out, "%" PRIu64 " round%s; ", rounds, rounds == 1 ? "" : "s");
    }
    put_known(out, result->started, "");
    buffer_putc(out, '\n');
}

/* Figures below what was compared are for those who ask further. */
static void put_figures(const struct page *page, const struct result *result)
{
    struct buffer figures;
    bool folded = result->comparison.tables.count > 0;
    buffer_init(&figures);
    struct page own = *page;
    own.out = &figures;
    report_print_figures(&own, result);
    event_loop_print(&own, result);
    if (folded && figures.length > 0) {
        fold(page->out, "The figures");
    }
    buffer_append(page->out, figures.data, figures.length);
    if (folded && figures.length > 0) {
        buffer_puts(page->out, fold_end);
    }
    page->out->failed = page->out->failed || figures.failed;
    buffer_release(&figures);
}

/* The next part: it begins with a bold line or with a fold, behind an empty line. NULL: none. */
static const char *next_part(const char *at)
{
    while ((at = strstr(at, "\n\n")) != NULL) {
        at += 2;
        if (strncmp(at, "**", 2) == 0 || strncmp(at, "<details>", 9) == 0) {
            return at;
        }
    }
    return NULL;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) {
        count++;
    }
    return count;
}

/* As many parts as a comment holds. */
static void append_cut(struct buffer *out, const struct buffer *text)
{
    const char *end = text->data;
    size_t left_out = 0;
    for (const char *at = next_part(text->data); at != NULL; at = next_part(at)) {
        if ((size_t)(at - text->data) <= COMMENT_MAX - RESERVE) {
            end = at;
        } else {
            left_out++;
        }
    }
    buffer_append(out, text->data, (size_t)(end - text->data));
    if (count_of(out->data, "<details>") > count_of(out->data, "</details>")) {
        buffer_puts(out, fold_end);
    }
    buffer_printf(out,
                  "\n%zu parts are left out, since a comment holds no more than 65,536 characters; "
                  "`pitot report` shows them all.\n",
                  left_out + 1);
}

static void print_markdown(const struct result *result, struct buffer *out)
{
    struct buffer text;
    const struct page page = {.out = &text, .width = SIZE_MAX, .markdown = true};
    buffer_init(&text);
    put_head(&text, result);
    head_print_state(&page, result);
    warnings_print(&page, result);
    comparison_print(&page, result);
    put_figures(&page, result);
    fold(&text, "What was measured, and on what");
    report_print_head(&page, result);
    buffer_puts(&text, fold_end);
    if (text.length <= COMMENT_MAX) {
        buffer_append(out, text.data, text.length);
    } else {
        append_cut(out, &text);
    }
    out->failed = out->failed || text.failed;
    buffer_release(&text);
}

void report_markdown(const struct result *result, struct buffer *out)
{
    unsigned long failures = buffer_failures();
    print_markdown(result, out);
    out->failed = out->failed || buffer_failures() != failures;
}
