#include "tools/ensemble/incomplete_beta.hpp"

#include <cmath>
#include <initializer_list>

namespace tessera::ensemble {
namespace {

/// By Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
double continuedFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  double c = 1.0;
  double d = 1.0 - (a + b) * x / (a + 1.0);
  d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
  double value = d;
  for (int m = 1; m <= 1000; ++m) {
    for (const double factor : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1.0 + factor * d;
      c = 1.0 + factor / c;
      d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
      if (std::abs(c) < kTiny) c = kTiny;
      value *= d * c;
    }
    if (std::abs(d * c - 1.0) < 1e-15) break;
  }
  return value;
}

/// log Gamma(x) of a positive x. std::lgamma writes the sign to a variable that all threads share.
double logGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

}  // namespace

double incompleteBeta(double x, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  if (x >= (a + 1.0) / (a + b + 2.0)) return 1.0 - incompleteBeta(1.0 - x, b, a);
  const double front =
      std::exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * std::log(x) + b * std::log1p(-x));
  return front * continuedFraction(x, a, b) / a;
}

double exactAcceptance(double ratio, int freedoms) {
  return 2.0 * incompleteBeta(1.0 / (1.0 + ratio), freedoms / 2.0, freedoms / 2.0);
}

}  // namespace tessera::ensemble
