#include "coordinator/trend.h"

#include "coordinator/warnings.h"
#include "statistics/student.h"

#include <math.h>

/* A trend where there is none is found in one engine of a hundred: half of that on either side. */
#define TAIL 0.005

/* Sums over the seconds of one part. */
struct part {
    size_t count;
    double sum, squares;
};

static void part_add(struct part *part, double value)
{
    part->count++;
    part->sum += value;
    part->squares += value * value;
}

static double part_mean(const struct part *part)
{
    return part->sum / (double)part->count;
}

static double part_spread(const struct part *part)
{
    double squares = part->squares - part->sum * part_mean(part);
    return squares > 0 ? squares : 0; /* rounding */
}

static size_t whole_seconds(const struct result_run *run)
{
    size_t count = 0;
    while (count < run->seconds.count &&
           run->seconds.items[count].operations.count == run->scripts.count &&
           run->seconds.items[count].at_s * 1e9 <= (double)run->window_ns) {
        count++;
    }
    return count;
}

static double operations_of(const struct result_run *run, size_t second)
{
    double sum = 0;
    for (size_t i = 0; i < run->scripts.count; i++) {
        sum += (double)run->seconds.items[second].operations.items[i] *
               (double)run->scripts.items[i].operations_each;
    }
    return sum;
}

/* True when the run has something to say. */
static bool add_run(const struct result_run *run, struct part *first, struct part *rest)
{
    size_t count = whole_seconds(run);
    double mean = 0;
    for (size_t i = 0; i < count; i++) {
        mean += operations_of(run, i) / (double)count;
    }
    if (count < 3 || mean <= 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        part_add(i < count / 3 ? first : rest, operations_of(run, i) / mean);
    }
    return true;
}

struct trend trend_of(const struct result_engine *engine, size_t of)
{
    struct part first = {0, 0, 0};
    struct part rest = {0, 0, 0};
    size_t runs = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        runs += warnings_run_counts(run, of) && add_run(run, &first, &rest) ? 1 : 0;
    }
    struct trend trend = {.seconds = first.count + rest.count,
                          .first = (double)NAN,
                          .rest = (double)NAN,
                          .limit = (double)NAN};
    if (trend.seconds < TREND_SECONDS_MIN) {
        return trend;
    }
    /* At least 3 seconds a run: never below 1. */
    size_t freedom = trend.seconds - runs - 1;
    trend.first = part_mean(&first);
    trend.rest = part_mean(&rest);
    double s = sqrt((part_spread(&first) + part_spread(&rest)) / (double)freedom);
    trend.limit = student_quantile(TAIL, (double)freedom) * s *
                  sqrt(1 / (double)first.count + 1 / (double)rest.count);
    double difference = fabs(trend.first - trend.rest);
    trend.found = difference > trend.limit && difference > TREND_LEAST;
    return trend;
}
