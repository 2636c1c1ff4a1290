#!/usr/bin/env python3
"""Writes coefficients.rs: Chebyshev fits of what is left of each function after its reduction. Needs mpmath.

python3 coefficients.py > coefficients.rs
"""
from mpmath import (asin, atan, atanh, chebyfit, cos, erf, erfc, exp, log, loggamma, mp, mpf, pi, sin, sqrt, tan, gamma)

mp.dps = 60
TINY = mpf(10) ** -20


def fit(name, what, function, low, high, terms):
    polynomial = chebyfit(lambda x: function(x if x else TINY), [mpf(low), mpf(high)], terms)
    print(f"/// {what}")
    print(f"pub(super) const {name}: [f64; {terms}] = [")
    for c in reversed(polynomial):
        text = repr(float(c))
        mantissa, e, exponent = text.partition("e")
        whole, dot, part = mantissa.partition(".")
        groups = [part[i:i + 3] for i in range(0, len(part), 3)]
        print(f"    {whole}.{'_'.join(groups) or '0'}{e}{exponent},")
    print("];\n")


print("//! Polynomials' coefficients, the constant first. Written by `coefficients.py`; not to be edited.\n")

third = log(2) / 2 * mpf("1.01")
for suffix, terms in (("FLOAT", 5), ("DOUBLE", 11)):
    fit(f"EXP_{suffix}", "(e^x - 1 - x) / x^2 for |x| <= ln 2 / 2", lambda x: (exp(x) - 1 - x) / x**2, -third, third, terms)
fit("LOG_FLOAT", "(log(1 + x) - x + x^2 / 2) / x^3 for 1 + x from sqrt(1/2) to sqrt 2",
    lambda x: (log(1 + x) - x + x * x / 2) / x**3, sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1, 8)
for suffix, terms in (("FLOAT", 4), ("DOUBLE", 7)):
    fit(f"LOG_RATIO_{suffix}", "(2 atanh(s) / s - 2) / s^2 of s^2, s = x / (2 + x)",
        lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, 0, mpf("0.02945"), terms)
fit("LOG_RATIO_TAIL", "(2 atanh(s) / s - 2 - 2/3 s^2) / s^4 of s^2",
    lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - z * 2 / 3) / z**2, 0, mpf("0.02945"), 8)
for suffix, terms in (("FLOAT", 3), ("SHORT", 4), ("DOUBLE", 6)):
    fit(f"SIN_{suffix}", "(sin(x) / x - 1) / x^2 of x^2 for |x| <= pi / 4",
        lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, 0, mpf("0.6175"), terms)
    fit(f"COS_{suffix}", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2 for |x| <= pi / 4",
        lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, 0, mpf("0.6175"), terms)
for suffix, terms in (("FLOAT", 6), ("DOUBLE", 12)):
    fit(f"ATAN_{suffix}", "(atan(x) / x - 1) / x^2 of x^2 for |x| <= tan(pi / 8)",
        lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, 0, tan(pi / 8) ** 2, terms)
for suffix, terms in (("FLOAT", 7), ("DOUBLE", 14)):
    fit(f"ASIN_{suffix}", "(asin(x) / x - 1) / x^2 of x^2 for |x| <= 1/2",
        lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, 0, mpf("0.25"), terms)
for suffix, terms in (("FLOAT", 7), ("DOUBLE", 13)):
    fit(f"ERF_{suffix}", "erf(x) / x of x^2 for |x| <= 1", lambda z: erf(sqrt(z)) / sqrt(z), 0, 1, terms)


def scaled_erfc(far, k):
    def of(q):
        if q <= -1:
            return mpf(1)
        a = k * (1 + q) / (1 - q)
        return exp(a * a) * erfc(a) * (1 + 2 * a)
    return of, -1, mpf(far - k) / (far + k)


fit("ERFC_FLOAT", "exp(x^2) erfc(x) (1 + 2 x) of (x - 3) / (x + 3) for x from 0 to 11", *scaled_erfc(11, 3), 12)
fit("ERFC_DOUBLE", "exp(x^2) erfc(x) (1 + 2 x) of (x - 4) / (x + 4) for x from 0 to 28", *scaled_erfc(28, 4), 24)
half = mpf("0.5")
for suffix, terms in (("FLOAT", 10), ("DOUBLE", 19)):
    fit(f"LN_GAMMA_{suffix}", "ln gamma(2 + x) / x for |x| <= 1/2", lambda z: loggamma(2 + z) / z, -half, half, terms)
for suffix, terms in (("FLOAT", 11), ("DOUBLE", 20)):
    fit(f"GAMMA_{suffix}", "gamma(2 + x) for |x| <= 1/2", lambda z: gamma(2 + z), -half, half, terms)


def stirling(r):
    x = 1 / sqrt(r)
    return (loggamma(x) - (x - half) * log(x) + x - log(2 * pi) / 2) * x


for suffix, terms in (("FLOAT", 4), ("DOUBLE", 8)):
    fit(f"STIRLING_{suffix}", "x (ln gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2) of x^-2 for x >= 8",
        lambda r: stirling(r), mpf(10) ** -10, mpf(1) / 56, terms)
fit("CBRT", "The cube root of x from 1 to 8", lambda x: x ** (mpf(1) / 3), 1, 8, 6)
