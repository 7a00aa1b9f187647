#include "tests/components/exact_riemann.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::test {

ExactRiemann::ExactRiemann(GasAt left, GasAt right, double gamma)
    : left_(left), right_(right), gamma_(gamma) {
  double p = std::max(1e-8 * std::min(left.p, right.p), 0.5 * (left.p + right.p));
  for (int n = 0; n < 200; ++n) {
    const Wave l = across(left, p);
    const Wave r = across(right, p);
    const double next = p - (l.value + r.value + (right.u - left.u)) / (l.slope + r.slope);
    p = next > 0.0 ? next : 0.1 * p;
  }
  p_ = p;
  u_ = 0.5 * (left.u + right.u) + 0.5 * (across(right, p).value - across(left, p).value);
}

double ExactRiemann::sound(GasAt s) const { return std::sqrt(gamma_ * s.p / s.rho); }

ExactRiemann::Wave ExactRiemann::across(GasAt s, double p) const {
  if (p > s.p) {
    const double a = 2.0 / ((gamma_ + 1.0) * s.rho);
    const double b = (gamma_ - 1.0) / (gamma_ + 1.0) * s.p;
    const double root = std::sqrt(a / (p + b));
    return {(p - s.p) * root, root * (1.0 - 0.5 * (p - s.p) / (p + b))};
  }
  const double c = sound(s);
  const double ratio = p / s.p;
  return {2.0 * c / (gamma_ - 1.0) * (std::pow(ratio, (gamma_ - 1.0) / (2.0 * gamma_)) - 1.0),
          std::pow(ratio, -(gamma_ + 1.0) / (2.0 * gamma_)) / (s.rho * c)};
}

double ExactRiemann::densityBeside(GasAt s) const {
  const double ratio = p_ / s.p;
  const double g = (gamma_ - 1.0) / (gamma_ + 1.0);
  return s.rho * (ratio > 1.0 ? (ratio + g) / (g * ratio + 1.0) : std::pow(ratio, 1.0 / gamma_));
}

double ExactRiemann::shockSpeedRight() const {
  const double ratio = p_ / right_.p;
  return right_.u +
         sound(right_) * std::sqrt((gamma_ + 1.0) / (2.0 * gamma_) * ratio + (gamma_ - 1.0) / (2.0 * gamma_));
}

GasAt ExactRiemann::leftOf(GasAt s, double u, double speed) const {
  const double c = sound(s);
  const double ratio = p_ / s.p;
  if (ratio > 1.0) {
    const double shock =
        s.u - c * std::sqrt((gamma_ + 1.0) / (2.0 * gamma_) * ratio + (gamma_ - 1.0) / (2.0 * gamma_));
    return speed < shock ? s : GasAt{densityBeside(s), u, p_};
  }
  const double inside = c * std::pow(ratio, (gamma_ - 1.0) / (2.0 * gamma_));
  if (speed < s.u - c) return s;
  if (speed > u - inside) return {densityBeside(s), u, p_};
  const double fan = 2.0 / (gamma_ + 1.0) + (gamma_ - 1.0) / ((gamma_ + 1.0) * c) * (s.u - speed);
  return {s.rho * std::pow(fan, 2.0 / (gamma_ - 1.0)),
          2.0 / (gamma_ + 1.0) * (c + 0.5 * (gamma_ - 1.0) * s.u + speed),
          s.p * std::pow(fan, 2.0 * gamma_ / (gamma_ - 1.0))};
}

GasAt ExactRiemann::at(double speed) const {
  if (speed <= u_) return leftOf(left_, u_, speed);
  const GasAt mirrored = leftOf({right_.rho, -right_.u, right_.p}, -u_, -speed);
  return {mirrored.rho, -mirrored.u, mirrored.p};
}

}  // namespace tessera::test
