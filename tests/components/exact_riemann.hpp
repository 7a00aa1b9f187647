#pragma once

namespace tessera::test {

/// Gas at rest or in motion along x.
struct GasAt {
  double rho, u, p;
};

/// The exact solution of the Riemann problem of an ideal gas between two states (E. F. Toro, Riemann Solvers
/// and Numerical Methods for Fluid Dynamics, 3rd ed., Springer 2009, chapter 4): the oracle of shock tubes.
class ExactRiemann {
 public:
  ExactRiemann(GasAt left, GasAt right, double gamma);

  double pressure() const { return p_; }  ///< between the outer waves
  double velocity() const { return u_; }
  double densityLeft() const { return densityBeside(left_); }  ///< of the contact
  double densityRight() const { return densityBeside(right_); }
  double shockSpeedRight() const;  ///< where the right wave is a shock
  /// The state at x/t.
  GasAt at(double speed) const;

 private:
  struct Wave {
    double value, slope;  ///< of the velocity that a pressure makes, and its derivative
  };
  double sound(GasAt s) const;
  Wave across(GasAt side, double p) const;
  double densityBeside(GasAt side) const;
  /// Left of the contact; the right side is asked as its mirror image.
  GasAt leftOf(GasAt side, double u, double speed) const;

  GasAt left_, right_;
  double gamma_;
  double p_ = 0.0, u_ = 0.0;
};

}  // namespace tessera::test
