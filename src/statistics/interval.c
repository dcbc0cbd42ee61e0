#include "statistics/interval.h"

#include "core/histogram.h"
#include "statistics/student.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

/* The chance that interval_more_rounds() promises. */
#define POWER 0.8

struct moments moments_of(const double *values, size_t n)
{
    struct moments moments = {n, (double)NAN, (double)NAN};
    if (n == 0) {
        return moments;
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    double mean = sum / (double)n;
    /* In a second pass: the sum of squares minus the square of the sum would leave no digits where
     * the mean is large. The sum of differences takes back what rounding did to the mean. */
    double squares = 0;
    double rest = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = values[i] - mean;
        squares += difference * difference;
        rest += difference;
    }
    moments.mean = mean + rest / (double)n;
    if (n > 1) {
        moments.variance = (squares - rest * rest / (double)n) / (double)(n - 1);
        moments.variance = moments.variance > 0 ? moments.variance : 0;
    }
    return moments;
}

double log_ratio(double value, double base)
{
    bool known = isfinite(value) && isfinite(base) && value > 0 && base > 0;
    return known ? log(value) - log(base) : (double)NAN;
}

double bucket_variance(double value_ns)
{
    assert(value_ns >= 1);
    double most = (double)HISTOGRAM_MAX_NS;
    uint32_t index = histogram_index(value_ns < most ? (uint64_t)value_ns : HISTOGRAM_MAX_NS);
    double width = log((double)histogram_upper(index) / (double)histogram_lower(index));
    return width * width / 12;
}

double interval_alpha(size_t cells)
{
    assert(cells > 0);
    return -expm1(log(INTERVAL_LEVEL) / (double)cells);
}

static struct interval around(double mean, double half_width, size_t n)
{
    return (struct interval){
        .n = n,
        .mean = mean,
        .half_width = half_width,
        .ratio = exp(mean),
        .low = isinf(half_width) ? (double)NAN : exp(mean - half_width),
        .high = isinf(half_width) ? (double)NAN : exp(mean + half_width),
    };
}

static double mean_variance(const struct moments *moments, double least_variance)
{
    return fmax(moments->variance / (double)moments->n, least_variance);
}

struct interval interval_paired(const struct moments *logs, double least_variance, size_t cells)
{
    if (logs->n < 2) {
        return around(logs->mean, (double)INFINITY, logs->n);
    }
    double t = student_quantile(interval_alpha(cells) / 2, (double)(logs->n - 1));
    return around(logs->mean, t * sqrt(mean_variance(logs, least_variance)), logs->n);
}

/* Satterthwaite's degrees of freedom of the sum of two variances of means. */
static double satterthwaite(double a, size_t n_a, double b, size_t n_b)
{
    double share = a / (a + b);
    double rest = b / (a + b);
    return 1 / (share * share / (double)(n_a - 1) + rest * rest / (double)(n_b - 1));
}

/* No more of them than equal variances of the rounds would give: the estimate exceeds that mostly
 * when the variance of the smaller sample came out small by chance, where the interval is too
 * narrow already. (bench/statistics.c: with 10 rounds against 5, plain Welch has a false verdict
 * in 5.3 % of the tables.) */
static double welch_df(double a, size_t n_a, double b, size_t n_b)
{
    double equal = satterthwaite(1 / (double)n_a, n_a, 1 / (double)n_b, n_b);
    return fmin(satterthwaite(a, n_a, b, n_b), equal);
}

struct interval interval_welch(const struct moments *a, double least_variance_a,
                               const struct moments *b, double least_variance_b, size_t cells)
{
    double difference = a->mean - b->mean;
    size_t n = a->n < b->n ? a->n : b->n;
    if (n < 2) {
        return around(difference, (double)INFINITY, n);
    }
    double variance_a = mean_variance(a, least_variance_a);
    double variance_b = mean_variance(b, least_variance_b);
    if (variance_a + variance_b <= 0) {
        return around(difference, 0, n);
    }
    double df = welch_df(variance_a, a->n, variance_b, b->n);
    double t = student_quantile(interval_alpha(cells) / 2, df);
    return around(difference, t * sqrt(variance_a + variance_b), n);
}

bool interval_excludes_one(const struct interval *interval)
{
    return fabs(interval->mean) > interval->half_width;
}

/* Whether n rounds would do: the mean of n others falls short of the true one by more than `chance`
 * only once in five. */
static bool enough(size_t n, const struct moments *logs, double least_variance, double floor,
                   double alpha)
{
    const struct moments then = {n, logs->mean, logs->variance};
    double deviation = sqrt(mean_variance(&then, least_variance));
    double half_width = deviation * student_quantile(alpha / 2, (double)(n - 1));
    double chance = deviation * student_quantile(1 - POWER, (double)(n - 1));
    return fabs(logs->mean) - chance > fmax(half_width, floor);
}

size_t interval_more_rounds(const struct moments *logs, double least_variance, double floor,
                            size_t cells)
{
    assert(logs->n >= 2);
    double alpha = interval_alpha(cells);
    size_t low = 0; /* not enough; what is needed falls with every round */
    size_t high = INTERVAL_ROUNDS_MAX + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (enough(logs->n + middle, logs, least_variance, floor, alpha)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}
