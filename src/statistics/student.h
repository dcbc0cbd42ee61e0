/*
 * Student's t distribution with any number of degrees of freedom df > 0, whole or not (Welch's are
 * not); df = INFINITY is the normal distribution. Pure functions, any thread, no allocation.
 *
 * Accuracy for df from 0.1 to infinity: the relative error of a tail is at most 1e-13 down to
 * 1e-100, 1e-12 down to 1e-300; that of a quantile 1e-13, but where the tail is near 1/2 and t near
 * 0 only the absolute error is that small.
 */
#ifndef PITOT_STATISTICS_STUDENT_H
#define PITOT_STATISTICS_STUDENT_H

/* P(T > t). Small tails keep all their digits, which 1 - student_cdf(t) would lose. */
double student_tail(double t, double df);

/* P(T <= t). */
double student_cdf(double t, double df);

/* The t that is exceeded with probability `tail`, 0 < tail < 1: for a two-sided interval of level
 * 1 - alpha that is student_quantile(alpha / 2, df). INFINITY when no double is that large. */
double student_quantile(double tail, double df);

#endif
