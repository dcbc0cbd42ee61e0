/*
 * What the statistics promise, tried on simulated tables: runs are drawn with a known truth, go
 * through comparison_compute() as those of a real comparison do, and what it says is held against
 * that truth. Prints each share with its binomial standard error.
 *
 *     pitot-statistics [--tables N] [--seed N]     10000 tables a line and seed 1 by default
 *
 * Status: 0, 1 when a share is outside its bounds, 2 for wrong arguments or no memory.
 */
#include "base/random.h"
#include "core/histogram.h"
#include "statistics/against.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 28, ENGINES_MAX = 5, ROUNDS_MAX = 40, RUNS_MAX = ENGINES_MAX + 1 };

/* How a run differs from its engine's true figure. */
enum noise {
    LOG_NORMAL,  /* logs with a standard deviation of `sd` */
    HEAVY,       /* Student's t with 3 degrees of freedom, scaled to the same deviation */
    DRIFT,       /* log-normal; the host loses DRIFT_LOSS in all, and wanders from run to run */
    OUTLIERS,    /* log-normal; OUTLIER_SHARE of the runs take OUTLIER_SLOWER longer */
    PAUSES,      /* log-normal; all but the baseline engine pause, too: a share of the run that is
                    exponential with a mean of `sd` */
    LONG_PAUSES, /* with a mean of five times `sd` */
};

#define DRIFT_LOSS 0.2
#define DRIFT_STEP 0.003
#define OUTLIER_SHARE 0.1
#define OUTLIER_SLOWER 0.3
#define BUCKETS_DIFFERENCE 0.009

struct plan {
    const char *group; /* printed above the first of its lines */
    size_t rows, engines, rounds;
    double sd;
    enum noise noise;
    double difference;    /* of the last engine in the first row: a ratio of 1 + this */
    bool in_buckets;      /* latencies, rounded to the middle of a histogram's bucket */
    bool no_second_run;   /* of the baseline engine */
    size_t rounds_before; /* not 0: against an older table of so many rounds */
    double hold_min, hold_max, false_max, found_min, found_max; /* shares; NAN: no bound */
};

struct counts {
    size_t tables;
    size_t held;       /* every interval holds the truth */
    size_t means_held; /* so do those of the geometric means */
    size_t wrong;      /* some verdict without a difference, or in the wrong direction */
    size_t lead_wrong; /* some lead shown where there is none */
    size_t found;      /* the difference has its verdict */
};

/* Storage of one table. */
struct drawn {
    double values[ROWS_MAX][RUNS_MAX][ROUNDS_MAX];
    double truth[ROWS_MAX][ENGINES_MAX]; /* log of the ratio to the baseline */
    struct comparison_series series[ROWS_MAX][ENGINES_MAX];
    struct comparison_row rows[ROWS_MAX];
    struct comparison_table table;
};

static const char *const noise_names[] = {
    [LOG_NORMAL] = "log-normal", [HEAVY] = "t3",      [DRIFT] = "drift",
    [OUTLIERS] = "outliers",     [PAUSES] = "pauses", [LONG_PAUSES] = "long pauses",
};

static const char *const engine_names[ENGINES_MAX] = {"a", "b", "c", "d", "e"};
static const char *const row_names[ROWS_MAX] = {
    "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11", "12", "13", "14",
    "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28"};

/* ---- drawing ------------------------------------------------------------------- */

static double normal(struct random *random)
{
    double u = 1 - random_unit(random);
    double v = random_unit(random);
    return sqrt(-2 * log(u)) * sin(2 * 3.14159265358979323846 * v);
}

/* Student's t with 3 degrees of freedom has a variance of 3. */
static double heavy(struct random *random)
{
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        double z = normal(random);
        squares += z * z;
    }
    return normal(random) / sqrt(squares / 3) / sqrt(3);
}

static double exponential(struct random *random)
{
    return -log(1 - random_unit(random));
}

/* Log of how much less a run gets done than its engine could. */
static double disturbance(const struct plan *plan, struct random *random, size_t engine)
{
    double noise = plan->sd * (plan->noise == HEAVY ? heavy(random) : normal(random));
    if (plan->noise == OUTLIERS && random_unit(random) < OUTLIER_SHARE) {
        noise += log1p(OUTLIER_SLOWER);
    }
    if ((plan->noise == PAUSES || plan->noise == LONG_PAUSES) && engine > 0) {
        noise += (plan->noise == PAUSES ? 1 : 5) * plan->sd * (exponential(random) - 1);
    }
    return noise;
}

/* In buckets engines differ by up to BUCKETS_DIFFERENCE: two that are alike would be rounded alike,
 * and rounding would cancel. */
static double draw_truth(const struct plan *plan, struct random *random, size_t row, size_t engine)
{
    if (engine == 0) {
        return 0;
    }
    if (row == 0 && engine == plan->engines - 1 && plan->difference != 0) {
        return log1p(plan->difference);
    }
    return plan->in_buckets ? BUCKETS_DIFFERENCE * (2 * random_unit(random) - 1) : 0;
}

static double in_bucket(double ns)
{
    uint32_t index = histogram_index((uint64_t)ns);
    return ((double)histogram_lower(index) + (double)histogram_upper(index)) / 2;
}

/* One row: in each round every engine runs once, and the baseline engine again; places rotate. */
static void draw_row(const struct plan *plan, struct random *random, size_t row, size_t rounds,
                     double *host, struct drawn *drawn)
{
    bool again = !plan->no_second_run;
    size_t runs = plan->engines + (again ? 1 : 0);
    size_t shift = random_below(random, runs);
    double level = log(1e4) + log(1e3) * random_unit(random);
    double loss = -log1p(-DRIFT_LOSS) / (double)(plan->rows * rounds * runs);
    for (size_t engine = 0; engine < plan->engines; engine++) {
        drawn->truth[row][engine] = draw_truth(plan, random, row, engine);
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t place = 0; place < runs; place++) {
            size_t run = (place + round + shift) % runs;
            size_t engine = run == plan->engines ? 0 : run;
            if (plan->noise == DRIFT) {
                *host -= loss + DRIFT_STEP * normal(random);
            }
            double value =
                exp(level + drawn->truth[row][engine] + *host - disturbance(plan, random, engine));
            drawn->values[row][run][round] = plan->in_buckets ? in_bucket(value) : value;
        }
    }
    for (size_t engine = 0; engine < plan->engines; engine++) {
        drawn->series[row][engine] =
            (struct comparison_series){drawn->values[row][engine], COMPARISON_OK};
    }
    drawn->rows[row] = (struct comparison_row){
        .name = row_names[row],
        .connections = 1,
        .engines = drawn->series[row],
        .again = {again ? drawn->values[row][plan->engines] : NULL, COMPARISON_OK},
    };
}

static void draw(const struct plan *plan, struct random *random, size_t rounds, struct drawn *drawn)
{
    double host = plan->rounds_before > 0 ? 0.2 * normal(random) : 0;
    for (size_t row = 0; row < plan->rows; row++) {
        draw_row(plan, random, row, rounds, &host, drawn);
    }
    drawn->table = (struct comparison_table){
        .engines = engine_names,
        .engine_count = plan->engines,
        .rounds = rounds,
        .metric = plan->in_buckets ? COMPARISON_LATENCY : COMPARISON_THROUGHPUT,
        .from_histogram = plan->in_buckets,
        .rows = drawn->rows,
        .row_count = plan->rows,
    };
}

/* ---- holding against the truth --------------------------------------------------- */

/* What one table showed. */
struct seen {
    bool held, wrong, found;
};

static bool holds(const struct interval *interval, double difference)
{
    return fabs(interval->mean - difference) <= interval->half_width;
}

static void see(const struct plan *plan, const struct interval *interval, enum verdict verdict,
                double difference, struct seen *seen)
{
    bool more = plan->in_buckets ? verdict == VERDICT_SLOWER : verdict == VERDICT_FASTER;
    bool right = difference != 0 && verdict_claims(verdict) && more == (difference > 0);
    seen->held = seen->held && holds(interval, difference);
    seen->wrong = seen->wrong || (verdict_claims(verdict) && !right);
    seen->found = seen->found || right;
}

static bool means_hold(const struct plan *plan, const struct drawn *drawn,
                       const struct comparison *comparison)
{
    for (size_t engine = 1; engine < plan->engines; engine++) {
        double sum = 0;
        for (size_t row = 0; row < plan->rows; row++) {
            sum += drawn->truth[row][engine];
        }
        if (!holds(&comparison->means[engine].cell.interval, sum / (double)plan->rows)) {
            return false;
        }
    }
    return true;
}

/* The lead goes to an engine that is no better than the second. */
static bool false_lead(const struct plan *plan, const struct comparison_best *best,
                       const double *truth)
{
    double difference = truth[best->engine] - truth[best->second];
    return verdict_claims(best->verdict) && (plan->in_buckets ? difference >= 0 : difference <= 0);
}

static int compare(const struct plan *plan, struct random *random, struct counts *counts)
{
    static struct drawn drawn;
    struct comparison comparison;
    struct seen seen = {.held = true};
    bool lead_wrong = false;
    draw(plan, random, plan->rounds, &drawn);
    int status = comparison_compute(&drawn.table, &comparison, NULL);
    for (size_t row = 0; status == 0 && row < plan->rows; row++) {
        for (size_t engine = 1; engine < plan->engines; engine++) {
            const struct comparison_cell *cell = comparison_cell(&comparison, row, engine);
            see(plan, &cell->interval, cell->verdict, drawn.truth[row][engine], &seen);
        }
        lead_wrong = lead_wrong || false_lead(plan, &comparison.best[row], drawn.truth[row]);
    }
    if (status == 0) {
        counts->tables++;
        counts->held += seen.held;
        counts->wrong += seen.wrong;
        counts->found += seen.found;
        counts->lead_wrong += lead_wrong;
        counts->means_held += means_hold(plan, &drawn, &comparison);
    }
    comparison_release(&comparison);
    return status;
}

/* The older table has no difference yet. */
static int compare_against(const struct plan *plan, struct random *random, struct counts *counts)
{
    static struct drawn now;
    static struct drawn before;
    struct against against;
    struct seen seen = {.held = true};
    struct plan old = *plan;
    old.difference = 0;
    draw(&old, random, plan->rounds_before, &before);
    draw(plan, random, plan->rounds, &now);
    int status = against_compute(&now.table, &before.table, 0, &against, NULL);
    for (size_t i = 0; status == 0 && i < against.count; i++) {
        const struct against_cell *cell = &against.cells[i];
        size_t row = i / (plan->engines - 1);
        size_t engine = i % (plan->engines - 1) + 1;
        see(plan, &cell->interval, cell->verdict, now.truth[row][engine], &seen);
    }
    if (status == 0) {
        counts->tables++;
        counts->held += seen.held;
        counts->wrong += seen.wrong;
        counts->found += seen.found;
    }
    against_release(&against);
    return status;
}

/* ---- the plans ------------------------------------------------------------------- */

#define NO ((double)NAN)
#define HOLD .hold_min = 0.93, .hold_max = 0.98, .false_max = 0.05, .found_min = NO, .found_max = NO
#define AT_LEAST                                                                                   \
    .hold_min = 0.93, .hold_max = NO, .false_max = 0.05, .found_min = NO, .found_max = NO
#define FIND(least)                                                                                \
    .hold_min = 0.93, .hold_max = NO, .false_max = 0.05, .found_min = (least), .found_max = NO
#define SHOWN .hold_min = NO, .hold_max = NO, .false_max = NO, .found_min = NO, .found_max = NO

static const struct plan plans[] = {
    {"log-normal noise", 7, 2, 10, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 7, 5, 10, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 28, 5, 10, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 1, 2, 10, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 7, 2, 3, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 7, 2, 5, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 7, 2, 30, 0.02, .noise = LOG_NORMAL, HOLD},
    {NULL, 7, 2, 10, 0.1, .noise = LOG_NORMAL, HOLD},
    {"heavy tails", 7, 2, 10, 0.02, .noise = HEAVY, AT_LEAST},
    {NULL, 7, 5, 10, 0.02, .noise = HEAVY, AT_LEAST},
    {NULL, 28, 5, 10, 0.02, .noise = HEAVY, AT_LEAST},
    {NULL, 7, 2, 3, 0.02, .noise = HEAVY, AT_LEAST},
    {NULL, 7, 2, 30, 0.02, .noise = HEAVY, AT_LEAST},
    {"drift of the host", 7, 2, 10, 0.02, .noise = DRIFT, AT_LEAST},
    {NULL, 7, 5, 10, 0.02, .noise = DRIFT, AT_LEAST},
    {NULL, 7, 2, 3, 0.02, .noise = DRIFT, AT_LEAST},
    {NULL, 7, 2, 10, 0.002, .noise = DRIFT, AT_LEAST},
    {"10 % of the runs 30 % slower", 7, 2, 10, 0.02, .noise = OUTLIERS, AT_LEAST},
    {NULL, 7, 5, 10, 0.02, .noise = OUTLIERS, AT_LEAST},
    {NULL, 28, 5, 10, 0.02, .noise = OUTLIERS, AT_LEAST},
    {NULL, 7, 2, 3, 0.02, .noise = OUTLIERS, AT_LEAST},
    {NULL, 7, 2, 30, 0.02, .noise = OUTLIERS, AT_LEAST},
    {"percentiles in buckets", 7, 2, 10, 0.0001, .in_buckets = true, AT_LEAST},
    {NULL, 7, 2, 10, 0.002, .in_buckets = true, AT_LEAST},
    {NULL, 7, 2, 10, 0.005, .in_buckets = true, AT_LEAST},
    {NULL, 7, 2, 10, 0.02, .in_buckets = true, AT_LEAST},
    {NULL, 7, 2, 3, 0.002, .in_buckets = true, AT_LEAST},
    {NULL, 7, 5, 10, 0.002, .in_buckets = true, AT_LEAST},
    {"one engine 5 % better in one row", 7, 2, 10, 0.02, .difference = 0.05, FIND(0.9)},
    {NULL, 7, 5, 10, 0.02, .difference = 0.05, FIND(NO)},
    {NULL, 7, 2, 5, 0.02, .difference = 0.05, FIND(NO)},
    {NULL, 7, 2, 10, 0.02, .noise = OUTLIERS, .difference = 0.05, FIND(NO)},
    {"against an older table of as many rounds", 7, 2, 10, 0.02, .rounds_before = 10, AT_LEAST},
    {NULL, 7, 5, 10, 0.02, .rounds_before = 10, AT_LEAST},
    {NULL, 7, 2, 3, 0.02, .rounds_before = 3, AT_LEAST},
    {NULL, 7, 2, 10, 0.02, .difference = -0.1, .rounds_before = 10, FIND(0.9)},
    {"against an older table of 5 rounds", 7, 2, 10, 0.02, .rounds_before = 5, AT_LEAST},
    {NULL, 7, 2, 10, 0.02, .noise = HEAVY, .rounds_before = 5, AT_LEAST},
    {"not promised: engines that pause, the baseline does not", 7, 2, 10, 0.02, .noise = PAUSES,
     SHOWN},
    {NULL, 7, 2, 10, 0.02, .noise = LONG_PAUSES, SHOWN},
    {NULL, 7, 2, 30, 0.02, .noise = LONG_PAUSES, SHOWN},
};

static bool outside(double share, double min, double max)
{
    return share < min || share > max; /* false for NAN: no bound */
}

/* "95.1 ± 0.2 %", behind a mark where it is out of bounds. */
static bool print_share(size_t count, size_t tables, double min, double max)
{
    double share = (double)count / (double)tables;
    double error = sqrt(share * (1 - share) / (double)tables);
    bool out = outside(share, min, max);
    printf(" %c%6.1f ± %.1f %%", out ? '!' : ' ', 100 * share, 100 * error);
    return out;
}

static void print_none(void)
{
    printf("%16s", "");
}

/* Returns how many shares are outside their bounds, or -1. */
static int run(const struct plan *plan, uint32_t number, uint32_t seed, size_t tables)
{
    struct counts counts = {0};
    for (size_t table = 0; table < tables; table++) {
        struct random random;
        random_init(&random, seed, RANDOM_VERIFY, number, (uint32_t)table);
        bool against = plan->rounds_before > 0;
        if ((against ? compare_against : compare)(plan, &random, &counts) != 0) {
            fprintf(stderr, "pitot-statistics: out of memory\n");
            return -1;
        }
    }
    if (plan->group != NULL) {
        printf("%s\n", plan->group);
    }
    printf("  %-11s %5.2f %%  %4zu  %7zu  %6zu", noise_names[plan->noise], 100 * plan->sd,
           plan->rows, plan->engines, plan->rounds);
    int out = print_share(counts.held, tables, plan->hold_min, plan->hold_max);
    out += print_share(counts.wrong, tables, NO, plan->false_max);
    if (plan->rounds_before > 0) {
        print_none();
        print_none();
    } else {
        out += print_share(counts.means_held, tables, plan->hold_min, NO);
        out += print_share(counts.lead_wrong, tables, NO, plan->false_max);
    }
    if (plan->difference != 0) {
        out += print_share(counts.found, tables, plan->found_min, plan->found_max);
    }
    printf("\n");
    fflush(stdout);
    return out;
}

/* After as many more rounds as interval_more_rounds() asks for, a difference is to be found in 80 %
 * of the tables. */
static int run_more_rounds(uint32_t seed, size_t tables)
{
    static const struct {
        double sd, difference;
    } cases[] = {{0.02, 0.025}, {0.02, 0.04}, {0.005, 0.012}};
    int out = 0;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct moments moments = {5, log1p(cases[i].difference), 2 * cases[i].sd * cases[i].sd};
        struct plan plan = {
            .group = i == 0 ? "after the rounds that were said to be missing" : NULL,
            .rows = 7,
            .engines = 2,
            .rounds = 5 + interval_more_rounds(&moments, 0, log(VERDICT_FLOOR_MIN), 7),
            .sd = cases[i].sd,
            .difference = cases[i].difference,
            .no_second_run = true,
            .hold_min = 0.93,
            .hold_max = 0.98,
            .false_max = 0.05,
            .found_min = 0.75,
            .found_max = 0.9,
        };
        int found = run(&plan, 1000 + i, seed, tables);
        if (found < 0) {
            return found;
        }
        out += found;
    }
    return out;
}

/* A whole number of 1 or more; 0 for anything else. */
static unsigned long number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && *end == '\0' && value <= UINT32_MAX ? value : 0;
}

int main(int argc, char **argv)
{
    unsigned long tables = 10000;
    unsigned long seed = 1;
    for (int i = 1; i < argc; i += 2) {
        unsigned long *into = strcmp(argv[i], "--tables") == 0 ? &tables
                              : strcmp(argv[i], "--seed") == 0 ? &seed
                                                               : NULL;
        if (into == NULL || i + 1 == argc || (*into = number(argv[i + 1])) == 0) {
            fprintf(stderr, "usage: pitot-statistics [--tables N] [--seed N]\n");
            return 2;
        }
    }
    printf("%lu simulated tables a line, seed %lu; shares of tables ± standard error\n\n", tables,
           seed);
    printf("noise of a run       rows  engines  rounds        all hold     a false one"
           "      means hold    a false lead           found\n");
    int out = 0;
    for (uint32_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        int found = run(&plans[i], i, (uint32_t)seed, tables);
        if (found < 0) {
            return 2;
        }
        out += found;
    }
    int found = run_more_rounds((uint32_t)seed, tables);
    if (found < 0) {
        return 2;
    }
    out += found;
    printf("\n%d share%s outside the bounds%s\n", out, out == 1 ? "" : "s",
           out > 0 ? ", marked by !" : "");
    return out > 0 ? 1 : 0;
}
