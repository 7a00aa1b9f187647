// Smooth flow of an ideal gas against what linear theory says.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/order_of.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// What a flow that comes back to its start after `deck`'s end has lost: of each conserved variable the mean
/// of the absolute error, and of these the root of the sum of squares.
double normOfErrors(const Simulate& deck) {
  const Outcome start = Simulate(deck).run(0);
  const Outcome end = Simulate(deck).run();
  double squares = 0.0;
  for (const auto& [name, field] : start.fields) {
    double sum = 0.0;
    for (std::size_t n = 0; n < field.values.size(); ++n)
      sum += std::abs(end.fields.at(name).values[n] - field.values[n]);
    squares += std::pow(sum / static_cast<double>(field.values.size()), 2);
  }
  return std::sqrt(squares);
}

double soundError(std::int64_t cells, const std::string& slopes) {
  return normOfErrors(
             simulate("euler/sound_wave").cells({cells, 1, 1}).set("euler.slopes='" + slopes + "'")) /
         1e-6;
}

// A competent code of this method has 4.9e-2, 1.5e-2 and 4.1e-3 of the wave's height.
TEST(EulerSmooth, ASoundWaveHasThePublishedErrors) {
  EXPECT_LE(soundError(32, "mc"), 1.3 * 4.9e-2);
  EXPECT_LE(soundError(64, "mc"), 1.3 * 1.5e-2);
  EXPECT_LE(soundError(128, "mc"), 1.3 * 4.1e-3);
}

TEST(EulerSmooth, ASoundWaveHasSecondOrderWithoutLimiter) {
  EXPECT_GE(orderOf([](std::int64_t n) { return soundError(n, "none"); }, {64, 128}), 1.95);
}

TEST(EulerSmooth, SoundToEitherSideHasTheSameError) {
  const auto error = [](const char* velocity) {
    return normOfErrors(simulate("euler/sound_wave")
                            .set("euler.initial.density='1 + height*cos(2*pi*x)'")
                            .set(std::string("euler.initial.velocity.x='") + velocity + "'")
                            .set("euler.initial.pressure='1/gamma + height*cos(2*pi*x)'"));
  };
  EXPECT_NEAR(error("height*cos(2*pi*x)") / error("-(height*cos(2*pi*x))"), 1.0, 1e-5);
}

/// A wave along a diagonal of a square, with `state` as tables of a deck; `end` is a period.
double obliqueError(std::int64_t n, const std::string& end, const std::string& state) {
  const std::string cells = std::to_string(n);
  return normOfErrors(simulateText("simulation.components = ['euler']\n[grid]\ncells = [" + cells + ", " +
                                   cells + ", 1]\npatches = [2, 1, 1]\nperiodic = [true, true, false]\n" +
                                   "[time]\ncfl = 0.8\nend = " + end +
                                   "\n[euler]\nslopes = 'none'\ninitial.points = 4\n" + state));
}

TEST(EulerSmooth, AnObliqueSoundWaveHasSecondOrder) {
  const auto error = [](std::int64_t n) {
    return obliqueError(n, "0.70710678118654757",
                        "gamma = 1.6666666666666667\ninitial.density = '1 + 1e-6*sin(2*pi*(x + y))'\n"
                        "initial.velocity.x = '1e-6*sin(2*pi*(x + y))/sqrt(2)'\n"
                        "initial.velocity.y = '1e-6*sin(2*pi*(x + y))/sqrt(2)'\n"
                        "initial.pressure = '0.6 + 1e-6*sin(2*pi*(x + y))'\n");
  };
  EXPECT_GE(orderOf(error, {24, 48}), 1.9);
}

TEST(EulerSmooth, AnEntropyWaveAlongAnAxisHasSecondOrder) {
  const auto error = [](std::int64_t n) {
    return normOfErrors(simulateText("simulation.components = ['euler']\n[grid]\ncells = [" +
                                     std::to_string(n) +
                                     ", 1, 1]\nperiodic = [true, false, false]\n[time]\ncfl = 0.8\nend = 1\n"
                                     "[euler]\nslopes = 'none'\ninitial.points = 4\n"
                                     "initial.density = '1 + 0.2*sin(2*pi*x)'\ninitial.velocity.x = '1'\n"
                                     "initial.pressure = '1'\n"));
  };
  EXPECT_GE(orderOf(error, {32, 64, 128}), 1.9);
}

/// The kinetic energy across the layer of inputs/euler/kelvin_helmholtz.toml.
double energyAcross(double end) {
  const Outcome o = simulate("euler/kelvin_helmholtz").set("time.end=" + std::to_string(end)).run();
  const WholeField& rho = o.fields.at("gas.density");
  const WholeField& momentum = o.fields.at("gas.momentum_y");
  double sum = 0.0;
  for (std::size_t n = 0; n < rho.values.size(); ++n)
    sum += momentum.values[n] * momentum.values[n] / rho.values[n];
  return sum;
}

// 0.1897 is for a flow that does not compress; at a Mach number of 0.2 the rate is a few percent less.
TEST(EulerSmooth, ALayerBetweenStreamsGrowsAsPublished) {
  const double rate = 0.5 * std::log(energyAcross(20.0) / energyAcross(12.0)) / 8.0;
  EXPECT_NEAR(rate / 0.1897, 1.0, 0.1);
}

TEST(EulerSmooth, ALayerBetweenStreamsKeepsItsSums) {
  const Outcome o = simulate("euler/kelvin_helmholtz").run();
  EXPECT_NEAR(o.end.at("euler.mass") / o.start.at("euler.mass"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.momentum_x"), 0.0, 1e-10);
}

/// The height of the wave of inputs/euler/rayleigh_taylor.toml, by where the heavy gas is, as a part of what
/// linear theory says.
double heightOfWave(std::int64_t n) {
  const Outcome o = simulate("euler/rayleigh_taylor").cells({n, 6 * n, 1}).run();
  const WholeField& rho = o.fields.at("gas.density");
  const double h = 0.25 / static_cast<double>(n);
  double sum = 0.0;
  forEachIndex(rho.box, [&](Index x) {
    sum += rho(x) * std::cos(4.0 * M_PI * (static_cast<double>(x.i) + 0.5) * h) * h * h;
  });
  const double rate = std::sqrt(4.0 * M_PI / 3.0);
  return -sum / (0.5 * 0.25) / (0.01 / rate * std::sinh(rate * o.time));
}

TEST(EulerSmooth, HeavyGasFallsAsLinearTheorySays) {
  EXPECT_NEAR(heightOfWave(16), 1.0, 0.1);
  EXPECT_NEAR(heightOfWave(32), 1.0, 0.03);
}

}  // namespace
}  // namespace tessera::test
