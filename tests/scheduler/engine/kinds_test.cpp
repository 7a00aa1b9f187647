// Right answers of the kinds that are shipped, on the host; on a GPU, where there is one, the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "scheduler/engine/kinds/harmonic_replica.hpp"
#include "scheduler/engine/kinds/matrix_product.hpp"
#include "scheduler/engine/kinds/molecular_dynamics.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace tessera::engine::testing;
using Product = MatrixProduct<TaskWidth::Warp>;
using Md = MolecularDynamics<TaskWidth::Warp>;

Engine hostEngine() {
  return Engine(shippedProgram(), {.threads = 1, .capacity = 256, .memoryBytes = 8 << 20});
}

TEST(PlainMath, AgreesWithTheLibraryToAFewUnits) {
  for (double x = -1.57; x <= 1.57; x += 0.001) {
    EXPECT_NEAR(plainCosine(x), std::cos(x), 4e-16);
    EXPECT_NEAR(plainSine(x), std::sin(x), 4e-16);
  }
  for (double x = 0.0; x < 1.0; x += 0.0007) {
    EXPECT_NEAR(plainCosineOfTurns(x), std::cos(2 * M_PI * x), 2e-15);
  }
  for (double x = 1e-9; x < 1e9; x *= 1.3) {
    EXPECT_NEAR(plainLog(x), std::log(x), 5e-16 * std::max(1.0, std::abs(std::log(x))));
  }
  for (double x = -600.0; x < 600.0; x += 0.37)
    EXPECT_NEAR(plainExp(x) / std::exp(x), 1.0, 1e-15 * (2 + std::abs(x)));
}

TEST(PlainMath, NormalNumbersHaveMeanZeroAndVarianceOne) {
  constexpr int kCount = 200'000;
  double sum = 0.0, squares = 0.0, fourth = 0.0;
  for (std::uint64_t n = 0; n < kCount; ++n) {
    const double x = randomNormal(1, 2, n);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 4.0 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 4.0 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth / kCount, 3.0, 4.0 * std::sqrt(96.0 / kCount));
}

/// Freivalds' check with a vector of ones and minus ones, and each element against a bound of its rounding
/// errors.
void expectProduct(Engine& engine, const char* kind, std::int64_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto cells = static_cast<std::size_t>(n * n);
  std::vector<double> a(cells), b(cells), c(cells, -1.0);
  for (double& value : a) value = uniform(random);
  for (double& value : b) value = uniform(random);
  const std::int64_t bytes = n * n * 8;
  auto* block = static_cast<double*>(engine.allocate(3 * bytes));
  engine.copyIn(block, a.data(), bytes);
  engine.copyIn(block + n * n, b.data(), bytes);
  const Task task =
      taskOf<Product>(engine.program().numberOf(kind), {block, block + n * n, block + 2 * n * n, n});
  const std::uint64_t tag = 0;
  Finished end;
  engine.push({&task, 1}, {&tag, 1});
  while (engine.poll({&end, 1}) == 0) {
  }
  ASSERT_EQ(end.status, TaskStatus::Done);
  engine.copyOut(c.data(), block + 2 * n * n, bytes);
  engine.release(block);
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<double> signs(static_cast<std::size_t>(n)), bx(static_cast<std::size_t>(n), 0.0);
  for (double& sign : signs) sign = uniform(random) < 0 ? -1.0 : 1.0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      bx[static_cast<std::size_t>(i)] += b[at(i, j)] * signs[static_cast<std::size_t>(j)];
  }
  const double unit = 0x1p-53;
  for (std::int64_t i = 0; i < n; ++i) {
    double left = 0.0, right = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
      left += a[at(i, j)] * bx[static_cast<std::size_t>(j)];
      right += c[at(i, j)] * signs[static_cast<std::size_t>(j)];
    }
    EXPECT_NEAR(left, right, 4 * static_cast<double>(n * n) * unit);
    const std::int64_t j = (7 * i) % n;
    long double exact = 0.0L;
    double size = 0.0;
    for (std::int64_t k = 0; k < n; ++k) {
      exact += static_cast<long double>(a[at(i, k)]) * b[at(k, j)];
      size += std::abs(a[at(i, k)] * b[at(k, j)]);
    }
    EXPECT_NEAR(c[at(i, j)], static_cast<double>(exact), static_cast<double>(n) * unit * size);
  }
}

class KindForms : public ::testing::TestWithParam<EngineOptions> {};
INSTANTIATE_TEST_SUITE_P(All, KindForms, ::testing::ValuesIn(forms()), [](const auto& info) {
  std::string name = formName(info.param);
  std::erase(name, ' ');
  return name;
});

TEST_P(KindForms, MatrixProductsPassFreivaldsAndTheElementBound) {
  EngineOptions options = GetParam();
  options.memoryBytes = 8 << 20;
  Engine engine(shippedProgram(), options);
  for (const std::int64_t n : {1, 8, 33, 64, 256}) {
    expectProduct(engine, "matrix_product", n);
    expectProduct(engine, "matrix_product_block", n);
  }
}

TEST_P(KindForms, AnEnsembleHasTheBitsOfOneThread) {
  Engine one = hostEngine();
  EngineOptions options = GetParam();
  options.memoryBytes = 8 << 20;
  Engine engine(shippedProgram(), options);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Md::Arguments arguments{nullptr, seed, 50, 20, 0.01, 4.0};
    const auto expected = one.wait(one.submit<Md>(arguments)).result;
    const auto got = engine.wait(engine.submit<Md>(arguments)).result;
    const auto wide =
        engine.wait(engine.submit<MolecularDynamics<TaskWidth::Block>>({nullptr, seed, 50, 20, 0.01, 4.0}));
    EXPECT_EQ(std::memcmp(&expected, &got, sizeof(got)), 0) << seed;
    EXPECT_EQ(std::memcmp(&expected, &wide.result, sizeof(got)), 0) << seed;
  }
}

TEST(MolecularDynamicsTask, ThePotentialOfACubeIsThatOfItsDistances) {
  // Expected for uniform points in a cube of edge 10, three dimensions: pairs x 0.9971991, sd 26 at 1000
  // particles.
  Engine engine = hostEngine();
  const auto result = engine.wait(engine.submit<Md>({nullptr, 7, 1000, 0, 1e-4, 10.0})).result;
  EXPECT_NEAR(result.potentialAtStart, 1000.0 * 999.0 / 2 * 0.9971991, 4 * 26.0);
  EXPECT_EQ(result.kineticAtStart, 0.0);
}

TEST(MolecularDynamicsTask, TheEnergyErrorIsOfOrderTwo) {
  Engine engine = hostEngine();
  std::vector<double> drift;
  for (const std::uint32_t steps : {50, 100, 200}) {
    const auto result = engine.wait(engine.submit<Md>({nullptr, 3, 100, steps, 1.0 / steps, 4.0})).result;
    drift.push_back(result.largestDrift);
    EXPECT_LT(result.momentum, 1e-11);
    // What the potential has lost the kinetic energy has.
    EXPECT_NEAR(result.potentialAtStart - result.potential, result.kinetic, 2 * result.largestDrift);
    EXPECT_GT(result.kinetic, 10 * result.largestDrift);
  }
  EXPECT_NEAR(std::log2(drift[0] / drift[1]), 2.0, 0.15);
  EXPECT_NEAR(std::log2(drift[1] / drift[2]), 2.0, 0.15);
}

/// The time from rest at separation `d` until two bodies rest at that separation again.
double periodOf(Engine& engine, double d, double dt) {
  auto* state = static_cast<double*>(engine.allocate(12 * 8));
  double start[12] = {0, 0, 0, d, 0, 0};
  engine.copyIn(state, start, sizeof(start));
  double now[12];
  double before = 0.0;
  for (int step = 1;; ++step) {
    engine.wait(engine.submit<Md>({state, 0, 2, 1, dt, 1.0}));
    engine.copyOut(now, state, sizeof(now));
    const double speed = now[9] - now[6];  // of the separation along x
    if (step > 10 && before > 0 && speed <= 0) {
      engine.release(state);
      return dt * (step - speed / (speed - before));
    }
    before = speed;
  }
}

TEST(MolecularDynamicsTask, TwoBodiesSwingWithThePeriodsOfAPendulum) {
  Engine engine(shippedProgram(), {.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16});
  const std::pair<double, double> periods[] = {
      {0.25, 3.191395}, {0.5, 3.349988}, {1.0, 4.174876}, {1.4, 6.348543}};
  for (const auto& [separation, period] : periods)
    EXPECT_NEAR(periodOf(engine, separation, 2e-3), period, 1e-4 * period);
}

TEST(HarmonicReplicaTask, KeepsTheBoltzmannMeanAndVariance) {
  Engine engine = hostEngine();
  constexpr std::uint32_t kFreedoms = 30;
  auto* state = static_cast<double*>(engine.allocate(2 * kFreedoms * 8));
  for (const double temperature : {0.5, 2.0}) {
    double sum = 0.0, squares = 0.0;
    constexpr int kStretches = 4000;
    for (std::uint32_t n = 0; n < kStretches; ++n) {
      const auto result = engine
                              .wait(engine.submit<HarmonicReplica>(
                                  {state, 11, temperature, n == 0 ? 0.0 : 1.0, 20U << 16 | kFreedoms, n}))
                              .result;
      sum += result.potential;
      squares += result.potential * result.potential;
    }
    const double mean = sum / kStretches;
    // Gamma(15, T): mean 15 T, variance 15 T^2; stretches of 20 steps are nearly independent.
    EXPECT_NEAR(mean, 15 * temperature, 4 * std::sqrt(15.0) * temperature * std::sqrt(1.5 / kStretches));
    EXPECT_NEAR(squares / kStretches - mean * mean, 15 * temperature * temperature,
                0.12 * 15 * temperature * temperature);
  }
}

}  // namespace
}  // namespace tessera::engine
