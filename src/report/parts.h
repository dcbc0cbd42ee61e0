/* The parts of the table report, in the order in which they are printed. Internal to the layer. */
#ifndef PITOT_REPORT_PARTS_H
#define PITOT_REPORT_PARTS_H

#include "report/page.h"
#include "result/result.h"

/* What was measured and on what; and what the numbers are, but for the comparison and the event
 * loop: of whatever command the result is. */
void report_print_head(const struct page *page, const struct result *result);
void report_print_figures(const struct page *page, const struct result *result);

/* A build whose numbers mean nothing, an early end: what must stand above all else. */
void head_print_state(const struct page *page, const struct result *result);

/* What was measured and on what. */
void head_print(const struct page *page, const struct result *result);

/* Compile options that not all engines have, as far as they are known: lines of that head. */
void head_print_options(const struct page *page, const struct result *result);

/* Warnings, known faults and what failed, before any number. Returns how many warnings there are.
 */
size_t warnings_print(const struct page *page, const struct result *result);

/* The same of a result of `pitot verify`: nothing in it is about time. */
void head_print_verify(const struct page *page, const struct result *result);

/* What `pitot verify` found, engine after engine. */
void verify_print(const struct page *page, const struct result *result);

/* The same of a result of `pitot numbers`; and its lines, a library after the other. */
void head_print_numbers(const struct page *page, const struct result *result);
void numbers_print(const struct page *page, const struct result *result);

/* "equal to sqlite's, 7 scripts × 1,000 operations and all tables (2)" */
void verify_append_verdict(struct buffer *text, const struct result_verify_database *database);

/* What is measured in the case `of`, and for how long: "1 connection, 3 rounds of 5 s, …". */
void case_append_load(struct buffer *text, const struct result *result, size_t of);

/* ", open loop at 500 operations/s, …"; nothing for a closed one. */
void case_append_rate(struct buffer *text, const struct result_case *of);

/* Throughput and what it cost in the case `of`, an engine a column. */
void figures_print(const struct page *page, const struct result *result, size_t of);

/* Latency of each script of the case `of`, engines one below the other. */
void latency_print(const struct page *page, const struct result *result, size_t of);

/* All cases of `pitot concurrent`: a line a case, role and engine. */
void concurrent_print(const struct page *page, const struct result *result);

/* What such tables begin with: of how many rounds they are. */
void cases_print_rounds(const struct page *page, const struct result *result);
/* "turso (differs)", "turso (2 of 3 rounds)": what keeps a line from being like the others. */
void cases_append_label(struct buffer *out, const struct result *result, size_t engine, size_t of);
/* The tone of that label. */
enum tone cases_tone(const struct result_summary *summary);

/* A percentile, with "~" in front when it is thin, which is returned. `out` holds UNITS_TEXT_SIZE
 * + 1; report_thin_note() says what "~" means. */
bool report_point(char *out, const struct result_script_summary *script, enum result_point point);
void report_thin_note(const struct page *page);

/* All cases of `pitot bench`, a line a case and engine. */
void bench_print(const struct page *page, const struct result *result);

/* Tables of ratios to the baseline, and against an older result; nothing where nothing was
 * compared. */
void comparison_print(const struct page *page, const struct result *result);

/* One connection on the main thread of a worker, an engine a line; nothing when it was not asked
 * for. */
void event_loop_print(const struct page *page, const struct result *result);

/* (max - min) / median in per cent; "–" where there is none, as of a single round. `out` holds
 * UNITS_TEXT_SIZE. */
void report_spread(char *out, const struct result_figure *figure, size_t rounds);

/* The case was measured at a rate that does not wait for the engines. */
bool report_is_open_loop(const struct result *result, size_t of);

/* A share (0 to 1) in per cent; "–" when it is absent. `out` holds UNITS_TEXT_SIZE. */
void report_share(char *out, double share);

/* Rounds that an engine's figures of the case `of` are made of. */
size_t report_engine_rounds(const struct result *result, size_t engine, size_t of);

/* Most rounds that any engine's figures of the case `of` are made of. */
size_t report_rounds(const struct result *result, size_t of);

/* Rounds of the case `of` whose status is `status`. */
size_t report_rounds_with(const struct result_engine *engine, size_t of, const char *status);

/* ", package 13.2.0, node 24.1.0, option integers=bigint": what lies between an engine and its
 * worker, and the options it was given; nothing for one that is called from C without any. */
void report_append_binding(struct buffer *text, const struct result_engine *engine);

/* An engine's name in at most `columns` columns; where two engines would then look the same,
 * "#2" says which of the engines in the head it is. */
void report_engine_label(struct buffer *out, const struct result *result, size_t engine,
                         size_t columns);

#endif
