/*
 * With a = df / 2 and u = t / sqrt(df), all that is needed of the density is
 *
 *     c(a) = Gamma(a + 1/2) / (Gamma(a) sqrt(a)),   t f(t) = c sqrt(df / 2 pi) s (1 + u²)^-a,
 *     s = u / sqrt(1 + u²)
 *
 * and both tail and middle are t f(t) times a sum that never cancels:
 *
 *     P(0 < T < t) = t f(t) F(1, a + 1/2; 3/2; s²)     positive terms; for small t
 *     P(T > t)     = t f(t) / 2 K(1 - s²)              continued fraction; for large t
 *
 * K is that of the incomplete beta function (A. R. DiDonato, A. H. Morris, Algorithm 708, ACM
 * Transactions on Mathematical Software 18, 1992, equation 9). It takes about sqrt(df) steps, so
 * that above LARGE_DF Hill's expansion in 1/df takes over, of which two terms are enough there
 * (G. W. Hill, Algorithm 395, Communications of the ACM 13, 1970).
 */
#include "statistics/student.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#define LARGE_DF 1e5

static const double pi = 3.14159265358979323846;

/* c(a). Below 16 by the recurrence c(a) sqrt(a) = c(a + 1) sqrt(a + 1) * a / (a + 1/2), above by
 * the asymptotic series of its logarithm, whose coefficients follow from the Bernoulli
 * polynomials (NIST DLMF 5.11.8); lgamma would lose digits in the difference of two large numbers.
 */
static double gamma_ratio(double a)
{
    double product = 1;
    double from = a;
    while (a < 16) {
        product *= a / (a + 0.5);
        a += 1;
    }
    double r = 1 / a;
    double r2 = r * r;
    double log_ratio =
        r * (-1.0 / 8 +
             r2 * (1.0 / 192 +
                   r2 * (-1.0 / 640 +
                         r2 * (17.0 / 14336 + r2 * (-31.0 / 18432 + r2 * (691.0 / 180224))))));
    return product * exp(log_ratio) * sqrt(a / from);
}

/* The continued fraction at x = 1 - y, evaluated by Lentz's method as Thompson and Barnett changed
 * it (Journal of Computational Physics 64, 1986). The simpler fraction of textbooks begins with
 * 1 - x (a + 1/2) / (a + 1), which leaves few digits of a large a. */
static double fraction(double a, double x, double y)
{
    const double tiny = 1e-300;
    const double b = 0.5;
    double value = a * (a * y - b * x + 1) / (a + 1);
    double c = value;
    double d = 0;
    for (int m = 1; m < 100000; m++) {
        double e = a + 2.0 * m - 1;
        double numerator = (a + m - 1) / e * ((a + b + m - 1) / e) * m * (b - m) * x * x;
        double denominator =
            m + m * (b - m) * x / e + (a + m) * (a * y - b * x + 1 + m * (1 + y)) / (e + 2);
        d = denominator + numerator * d;
        d = fabs(d) < tiny ? 1 / tiny : 1 / d;
        c = denominator + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* F(1, a + 1/2; 3/2; y), y = s² */
static double series(double a, double y)
{
    double term = 1;
    double sum = 1;
    for (int k = 0; term > sum * (DBL_EPSILON / 8) && k < 100000; k++) {
        term *= (a + 0.5 + k) / (1.5 + k) * y;
        sum += term;
    }
    return sum;
}

static double normal_tail(double z)
{
    return 0.5 * erfc(z * sqrt(0.5));
}

/* The normal deviate with the same tail as t: two terms of Hill's expansion. */
static double hill(double t, double df)
{
    double a = df - 0.5;
    double z2 = a * log1p(t / df * t);
    double z = sqrt(z2);
    return z + (z2 + 3) * z / (48 * a * a);
}

/* Tail at t >= 0, and t f(t) if asked for, which only moderate df have. */
static double upper(double t, double df, double *tf)
{
    double a = df / 2;
    double u = t / sqrt(df);
    double s = u < 1e150 ? u / sqrt(1 + u * u) : 1;
    double log_power = u < 1e150 ? log1p(u * u) : 2 * log(t) - log(df);
    *tf = gamma_ratio(a) * sqrt(df / (2 * pi)) * s * exp(-a * log_power);
    double x = u < 1e150 ? 1 / (1 + u * u) : 0;
    if (x < (a + 1) / (a + 2.5)) {
        return *tf / (2 * fraction(a, x, s * s));
    }
    return 0.5 - *tf * series(a, s * s);
}

double student_tail(double t, double df)
{
    assert(df > 0);
    if (t < 0) {
        return 1 - student_tail(-t, df);
    }
    if (isinf(t)) {
        return 0;
    }
    if (isinf(df)) {
        return normal_tail(t);
    }
    double tf;
    return df >= LARGE_DF ? normal_tail(hill(t, df)) : upper(t, df, &tf);
}

double student_cdf(double t, double df)
{
    return student_tail(-t, df);
}

/* d log tail / d log t, negated: Newton's step needs no more digits than the density's first few.
 */
static double slope(double t, double df, double tail)
{
    double tf;
    if (df < LARGE_DF) {
        upper(t, df, &tf);
    } else {
        double z = isinf(df) ? t : hill(t, df);
        tf = t * exp(-0.5 * z * z) / sqrt(2 * pi);
    }
    return tf / tail;
}

/* Newton's method on log tail over log t, in which every t distribution is close to a line or a
 * parabola, kept inside a bracket. */
double student_quantile(double tail, double df)
{
    assert(tail > 0 && tail < 1 && df > 0);
    if (tail > 0.5) {
        return -student_quantile(1 - tail, df);
    }
    if (tail == 0.5) {
        return 0;
    }
    double low = 0;
    double high = 1;
    while (student_tail(high, df) > tail) {
        low = high;
        high *= 2;
        if (isinf(high)) {
            return high;
        }
    }
    double t = high;
    for (int i = 0; i < 200; i++) {
        double found = student_tail(t, df);
        if (found > tail) {
            low = t;
        } else {
            high = t;
        }
        double next = t * exp(log(found / tail) / slope(t, df, found));
        if (!(next > low && next < high)) {
            next = low + (high - low) / 2;
        }
        if (fabs(next - t) <= 2 * DBL_EPSILON * t) {
            return next;
        }
        t = next;
    }
    return t;
}
