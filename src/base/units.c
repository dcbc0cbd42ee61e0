#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define DURATION_MAX_NS UINT64_C(1000000000000000) /* 10^6 s */

#define RATE_MIN 0.001
#define RATE_MAX 1e9
#define PERCENT_MIN 0.1
#define PERCENT_MAX 1000.0

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {NULL, 0},
};

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
    for (; units->suffix != NULL; units++) {
        if (strcmp(units->suffix, suffix) == 0) {
            return units;
        }
    }
    return NULL;
}

/* Takes digits; behind them `*text` stands. False without a digit; a number that does
 * not fit is UINT64_MAX. */
static bool take_digits(const char **text, uint64_t *out)
{
    const char *p = *text;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    bool found = p != *text;
    *text = p;
    *out = value;
    return found;
}

/* Takes ".DIGITS" if it is there as numerator / denominator; digits beyond the
 * fifteenth are below any unit's nanosecond and only checked. */
static bool take_fraction(const char **text, uint64_t *numerator, uint64_t *denominator)
{
    *numerator = 0;
    *denominator = 1;
    if (**text != '.') {
        return true;
    }
    const char *p = *text + 1;
    const char *start = p;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (p - start < 15) {
            *numerator = *numerator * 10 + (uint64_t)(*p - '0');
            *denominator *= 10;
        }
    }
    *text = p;
    return p != start;
}

/* What to write, fitting the meaning of a number without a unit. */
static const char *duration_example(uint64_t bare_ns)
{
    switch (bare_ns) {
    case 0:
        return "a number with a unit out of ns, us, ms, s, m, h, such as 500ms or 5s";
    case 1000000000:
        return "seconds, or a number with a unit out of ns, us, ms, s, m, h, such as 5, 5s or "
               "500ms";
    case 1000000:
        return "milliseconds, or a number with a unit out of ns, us, ms, s, m, h, such as 500 or "
               "1.5s";
    default:
        return "a number, or one with a unit out of ns, us, ms, s, m, h, such as 500ms or 1.5s";
    }
}

int units_duration_ns(const char *what, const char *text, uint64_t bare_ns, uint64_t *out,
                      struct error *error)
{
    const char *rest = text;
    uint64_t whole, numerator, denominator;
    uint64_t factor = 0;
    if (take_digits(&rest, &whole) && take_fraction(&rest, &numerator, &denominator)) {
        const struct unit *unit = find_unit(duration_units, rest);
        factor = unit != NULL ? unit->factor : *rest == '\0' ? bare_ns : 0;
    }
    if (factor == 0) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is no duration; give %s", what, text,
                         duration_example(bare_ns));
    }
    wide ns = (wide)whole * factor + ((wide)numerator * factor + denominator / 2) / denominator;
    if (ns > DURATION_MAX_NS) {
        return error_set(error, ERROR_INVALID,
                         "%s: \"%s\" is too long; give at most 1000000s, such as 5s", what, text);
    }
    *out = (uint64_t)ns;
    return 0;
}

int units_cache_size(const char *what, const char *text, int64_t *out, struct error *error)
{
    static const char right[] = "give pages (2000), KiB behind a minus sign (-65536), or a size "
                                "with KiB, MiB, GiB, kB, MB or GB (64MiB)";
    bool negative = text[0] == '-';
    const char *rest = text + negative;
    uint64_t number;
    if (!take_digits(&rest, &number)) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is no cache size; %s", what, text,
                         right);
    }
    if (*rest != '\0') {
        const struct unit *unit = find_unit(size_units, rest);
        if (unit == NULL || negative) {
            return error_set(error, ERROR_INVALID, "%s: \"%s\" is no cache size; %s", what, text,
                             right);
        }
        wide kibibytes = (wide)number * unit->factor / 1024;
        if (kibibytes == 0) {
            return error_set(error, ERROR_INVALID, "%s: \"%s\" is less than 1 KiB; %s", what, text,
                             right);
        }
        number = kibibytes > UINT64_MAX ? UINT64_MAX : (uint64_t)kibibytes;
        negative = true;
    }
    if (number > INT32_MAX) {
        return error_set(error, ERROR_INVALID,
                         "%s: \"%s\" is too large; engines keep this number in 32 bits, so %s",
                         what, text, right);
    }
    *out = negative ? -(int64_t)number : (int64_t)number;
    return 0;
}

int units_count(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                struct error *error)
{
    const char *rest = text;
    uint64_t number;
    uint64_t example = min > 1 || max < 1 ? min : 1;
    if (!take_digits(&rest, &number) || *rest != '\0') {
        return error_set(error, ERROR_INVALID,
                         "%s: \"%s\" is no whole number; give one from %" PRIu64 " to %" PRIu64
                         ", such as %" PRIu64,
                         what, text, min, max, example);
    }
    /* UINT64_MAX also stands for what does not fit. */
    if (number < min || number > max ||
        (number == UINT64_MAX && strcmp(text + strspn(text, "0"), "18446744073709551615") != 0)) {
        return error_set(error, ERROR_INVALID,
                         "%s: \"%s\" is out of range; give a number from %" PRIu64 " to %" PRIu64
                         ", such as %" PRIu64,
                         what, text, min, max, example);
    }
    *out = number;
    return 0;
}

int units_rate(const char *what, const char *text, double *per_second, double *share,
               struct error *error)
{
    const char *rest = text;
    uint64_t whole, numerator, denominator;
    *per_second = (double)NAN;
    *share = (double)NAN;
    if (take_digits(&rest, &whole) && take_fraction(&rest, &numerator, &denominator)) {
        double number = (double)whole + (double)numerator / (double)denominator;
        if (*rest == '\0' && number >= RATE_MIN && number <= RATE_MAX) {
            *per_second = number;
            return 0;
        }
        if (strcmp(rest, "%") == 0 && number >= PERCENT_MIN && number <= PERCENT_MAX) {
            *share = number / 100;
            return 0;
        }
    }
    return error_set(error, ERROR_INVALID,
                     "%s: \"%s\" is no rate; give operations a second from 0.001 to 1000000000, "
                     "such as 1000, or a share of what the slowest engine does without one, from "
                     "0.1%% to 1000%%, such as 70%%",
                     what, text);
}

int units_percent(const char *what, const char *text, double *share, struct error *error)
{
    const char *rest = text;
    uint64_t whole, numerator, denominator;
    if (take_digits(&rest, &whole) && take_fraction(&rest, &numerator, &denominator) &&
        (*rest == '\0' || strcmp(rest, "%") == 0)) {
        double percent = (double)whole + (double)numerator / (double)denominator;
        if (percent > 0 && percent <= PERCENT_MAX) {
            *share = percent / 100;
            return 0;
        }
    }
    return error_set(error, ERROR_INVALID,
                     "%s: \"%s\" is no share; give per cent above 0 and at most 1000, such as 5%%",
                     what, text);
}

/* Three significant digits of a value below 999.5 in [0, 1000), or whole above;
 * written from integers, so that no locale puts a comma in. */
static void print_digits(char *out, size_t size, double value)
{
    double magnitude = fabs(value);
    const char *sign = value < 0 ? "-" : "";
    if (magnitude < 9.995) {
        unsigned hundredths = (unsigned)(magnitude * 100.0 + 0.5);
        snprintf(out, size, "%s%u.%02u", sign, hundredths / 100, hundredths % 100);
    } else if (magnitude < 99.95) {
        unsigned tenths = (unsigned)(magnitude * 10.0 + 0.5);
        snprintf(out, size, "%s%u.%u", sign, tenths / 10, tenths % 10);
    } else {
        snprintf(out, size, "%.0f", value);
    }
}

/* The number in the largest unit of which it is one or more after rounding. */
static void print_scaled(char out[UNITS_TEXT_SIZE], double value, const char *const *names)
{
    if (!isfinite(value)) {
        snprintf(out, UNITS_TEXT_SIZE, "–");
        return;
    }
    if (fabs(value) >= 1e21) { /* nothing real; it must only fit */
        snprintf(out, UNITS_TEXT_SIZE, "%.0e %s", value, names[0]);
        return;
    }
    if (value == 0) {
        snprintf(out, UNITS_TEXT_SIZE, "0 %s", names[0]);
        return;
    }
    while (fabs(value) >= 999.5 && names[1] != NULL) {
        value /= 1000.0;
        names++;
    }
    char digits[UNITS_TEXT_SIZE];
    print_digits(digits, sizeof digits, value);
    snprintf(out, UNITS_TEXT_SIZE, "%.24s %s", digits, *names);
}

void units_print_ns(char out[UNITS_TEXT_SIZE], double ns)
{
    static const char *const names[] = {"ns", "µs", "ms", "s", NULL};
    print_scaled(out, ns, names);
}

void units_print_bytes(char out[UNITS_TEXT_SIZE], double bytes)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", NULL};
    if (fabs(bytes) < 999.5) {
        snprintf(out, UNITS_TEXT_SIZE, "%.0f B", bytes);
        return;
    }
    print_scaled(out, bytes, names);
}

/* A whole number below 1,000,000 with a comma between thousands. */
static void print_grouped(char out[UNITS_TEXT_SIZE], double count)
{
    long whole = lround(fabs(count));
    const char *sign = count < 0 && whole > 0 ? "-" : "";
    if (whole < 1000) {
        snprintf(out, UNITS_TEXT_SIZE, "%s%ld", sign, whole);
    } else {
        snprintf(out, UNITS_TEXT_SIZE, "%s%ld,%03ld", sign, whole / 1000, whole % 1000);
    }
}

void units_print_count(char out[UNITS_TEXT_SIZE], double count)
{
    static const char *const names[] = {"M", "G", "T", NULL};
    if (!isfinite(count) || fabs(count) >= 999999.5) {
        print_scaled(out, count / 1e6, names);
    } else if (fabs(count) >= 99.95 || count == rint(count)) {
        print_grouped(out, count);
    } else {
        print_digits(out, UNITS_TEXT_SIZE, count);
    }
}
