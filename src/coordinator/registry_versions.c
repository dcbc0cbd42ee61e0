/*
 * Versions that a fault applies to:
 *
 *     VERSIONS := RANGE [" except " VERSION {" " VERSION}]
 *     RANGE    := VERSION [".." VERSION]              both ends belong to it
 *     VERSION  := up to four numbers with dots, then perhaps "-" and a pre-release
 *
 * Numbers are compared one by one, missing ones are 0; a pre-release comes before its version
 * and is ordered as semantic versioning orders it.
 */
#include "coordinator/registry_internal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { VERSION_NUMBERS = 4, VERSION_DIGITS = 9 };

struct version {
    uint32_t numbers[VERSION_NUMBERS];
    const char *pre; /* borrowed; NULL: none */
    size_t pre_length;
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The whole text must be a version. */
static bool version_parse(const char *text, size_t length, struct version *out)
{
    *out = (struct version){.pre = NULL};
    size_t at = 0;
    for (int number = 0;; number++) {
        size_t start = at;
        while (at < length && digit(text[at])) {
            if (number == VERSION_NUMBERS || at - start == VERSION_DIGITS) {
                return false;
            }
            out->numbers[number] = out->numbers[number] * 10 + (uint32_t)(text[at] - '0');
            at++;
        }
        if (at == start) {
            return false;
        }
        if (at == length || text[at] != '.') {
            break;
        }
        at++;
    }
    if (at == length) {
        return true;
    }
    if (text[at] != '-' || at + 1 == length) {
        return false;
    }
    out->pre = text + at + 1;
    out->pre_length = length - at - 1;
    for (size_t i = 0; i < out->pre_length; i++) {
        char c = out->pre[i];
        if (!isalnum((unsigned char)c) && c != '.' && c != '-') {
            return false;
        }
    }
    return true;
}

static size_t part_length(const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    return dot == NULL ? length : (size_t)(dot - text);
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!digit(text[i])) {
            return false;
        }
    }
    return length > 0;
}

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* One dotted part of a pre-release: numbers by value and before words. */
static int compare_part(const char *a, size_t a_length, const char *b, size_t b_length)
{
    bool a_number = all_digits(a, a_length), b_number = all_digits(b, b_length);
    if (a_number != b_number) {
        return a_number ? -1 : 1;
    }
    if (a_number) {
        while (a_length > 1 && *a == '0') {
            a++, a_length--;
        }
        while (b_length > 1 && *b == '0') {
            b++, b_length--;
        }
        if (a_length != b_length) {
            return a_length < b_length ? -1 : 1;
        }
    }
    return compare_bytes(a, a_length, b, b_length);
}

static int compare_pre(const char *a, size_t a_length, const char *b, size_t b_length)
{
    for (;;) {
        size_t a_part = part_length(a, a_length), b_part = part_length(b, b_length);
        int order = compare_part(a, a_part, b, b_part);
        bool a_last = a_part == a_length, b_last = b_part == b_length;
        if (order != 0 || a_last || b_last) {
            return order != 0 ? order : (int)b_last - (int)a_last;
        }
        a += a_part + 1, a_length -= a_part + 1;
        b += b_part + 1, b_length -= b_part + 1;
    }
}

static int version_compare(const struct version *a, const struct version *b)
{
    for (int i = 0; i < VERSION_NUMBERS; i++) {
        if (a->numbers[i] != b->numbers[i]) {
            return a->numbers[i] < b->numbers[i] ? -1 : 1;
        }
    }
    if (a->pre == NULL || b->pre == NULL) {
        return (a->pre == NULL) - (b->pre == NULL);
    }
    return compare_pre(a->pre, a->pre_length, b->pre, b->pre_length);
}

struct range {
    struct version first, last;
    const char *except; /* behind the word; NULL: none */
};

static bool range_parse(const char *text, struct range *out)
{
    static const char word[] = " except ";
    const char *except = strstr(text, word);
    size_t length = except == NULL ? strlen(text) : (size_t)(except - text);
    out->except = except == NULL ? NULL : except + strlen(word);
    const char *dots = memmem(text, length, "..", 2);
    if (dots == NULL) {
        bool good = version_parse(text, length, &out->first);
        out->last = out->first;
        return good;
    }
    size_t first = (size_t)(dots - text);
    return version_parse(text, first, &out->first) &&
           version_parse(dots + 2, length - first - 2, &out->last) &&
           version_compare(&out->first, &out->last) <= 0;
}

/* The next version of a list that blanks separate; false at its end or at a mistake, which
 * leaves *cursor before it. */
static bool next_version(const char **cursor, struct version *out)
{
    const char *start = *cursor + strspn(*cursor, " ");
    size_t length = strcspn(start, " ");
    if (!version_parse(start, length, out)) {
        *cursor = start;
        return false;
    }
    *cursor = start + length;
    return true;
}

bool version_valid(const char *version)
{
    struct version parsed;
    return version_parse(version, strlen(version), &parsed);
}

bool versions_valid(const char *versions)
{
    struct range range;
    if (!range_parse(versions, &range)) {
        return false;
    }
    if (range.except == NULL) {
        return true;
    }
    struct version version;
    int count = 0;
    while (next_version(&range.except, &version)) {
        count++;
    }
    return count > 0 && *range.except == '\0';
}

bool manifest_fault_applies(const struct manifest_fault *fault, const char *version)
{
    struct range range;
    struct version asked, other;
    /* Engines put words behind their number ("3.54.1 (…)"), and build data behind '+'. */
    if (version == NULL || !version_parse(version, strcspn(version, " +"), &asked) ||
        !range_parse(fault->versions, &range)) {
        return false;
    }
    if (version_compare(&asked, &range.first) < 0 || version_compare(&asked, &range.last) > 0) {
        return false;
    }
    while (range.except != NULL && next_version(&range.except, &other)) {
        if (version_compare(&asked, &other) == 0) {
            return false;
        }
    }
    return true;
}
