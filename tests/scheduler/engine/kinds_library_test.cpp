// Kinds of a user's own, compiled outside of this repository to a shared library.
#include "scheduler/engine/kinds_library.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace tessera::engine::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The GPU is among them on every machine, so that tests say where it was missing.
std::vector<EngineOptions> allForms() {
  std::vector<EngineOptions> list = forms();
  if (list.back().form != EngineForm::Cuda) list.push_back({.form = EngineForm::Cuda});
  for (EngineOptions options : forms()) {
    options.mode = EngineMode::RunThenExit;
    list.push_back(options);
  }
  return list;
}

std::string nameOf(const EngineOptions& options) {
  std::string name = formName(options) + (options.mode == EngineMode::RunThenExit ? "RunThenExit" : "");
  std::erase(name, ' ');
  return name;
}

/// As react_row of the example lays them out.
struct ReactArguments {
  const double* old;
  double* next;
  double rateTimesDt;
  std::int64_t cells;
};

std::uint64_t substepsOf(double amount) { return amount > 2.0 ? 8 : 4; }
/// What react_row makes of a cell where rate times dt is 0.01.
double reacted(double amount) {
  const double kept = 1.0 - 0.01 / static_cast<double>(substepsOf(amount));
  for (std::uint64_t n = substepsOf(amount); n > 0; --n) amount *= kept;
  return amount;
}

class KindsLibrariesForms : public ::testing::TestWithParam<EngineOptions> {};
INSTANTIATE_TEST_SUITE_P(All, KindsLibrariesForms, ::testing::ValuesIn(allForms()),
                         [](const auto& info) { return nameOf(info.param); });

TEST_P(KindsLibrariesForms, KindsThatAreLoadedRunInEveryFormWithTheSameBits) {
  if (GetParam().form == EngineForm::Cuda && std::getenv("TESSERA_ENGINE_TEST_CUDA") == nullptr)
    GTEST_SKIP() << "this case needs a GPU: TESSERA_ENGINE_TEST_CUDA=1 in the environment";
  const Program& loaded = loadKinds(TESSERA_REACT_KINDS);
  Engine engine(loaded, GetParam());
  constexpr std::int64_t kTasks = 40;
  constexpr std::int64_t kCells = 3;
  std::vector<double> amounts(kTasks * kCells);
  for (std::size_t n = 0; n < amounts.size(); ++n) amounts[n] = 0.5 + static_cast<double>(n) / 7.0;
  const auto bytes = static_cast<std::int64_t>(amounts.size() * sizeof(double));
  auto* old = static_cast<double*>(engine.allocate(bytes));
  auto* next = static_cast<double*>(engine.allocate(bytes));
  engine.copyIn(old, amounts.data(), bytes);
  for (std::int64_t n = 0; n < kTasks; ++n) {
    Task task;
    task.kind = loaded.numberOf("react_row");
    const ReactArguments arguments{old + n * kCells, next + n * kCells, 0.01, kCells};
    std::memcpy(task.arguments, &arguments, sizeof(arguments));
    const auto tag = static_cast<std::uint64_t>(n);
    ASSERT_EQ(engine.push({&task, 1}, {&tag, 1}), 1);
  }
  if (GetParam().mode == EngineMode::RunThenExit) engine.runQueue();
  for (std::int64_t ended = 0; ended < kTasks;) {
    Finished end;
    if (engine.poll({&end, 1}) == 0) continue;
    ++ended;
    ASSERT_EQ(end.status, TaskStatus::Done) << "task " << end.tag;
    EXPECT_EQ(end.result[0], substepsOf(amounts[end.tag * kCells])) << "task " << end.tag;
  }
  std::vector<double> after(amounts.size());
  engine.copyOut(after.data(), next, bytes);
  for (std::size_t n = 0; n < after.size(); ++n) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(after[n]), std::bit_cast<std::uint64_t>(reacted(amounts[n])));
  }
}

TEST(KindsLibraries, KindsThatAreLoadedRunBesideThoseThatShip) {
  const Program& loaded = loadKinds(TESSERA_REACT_KINDS);
  ASSERT_EQ(loaded.name, "reactions");
  EXPECT_EQ(&loadKinds(TESSERA_REACT_KINDS), &loaded);
  const EngineOptions options{.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16};
  Engine own(loaded, options);
  Engine shipped(shippedProgram(), options);
  auto* cells = static_cast<double*>(own.allocate(4 * sizeof(double)));
  const double amounts[2] = {1.0, 3.0};
  own.copyIn(cells, amounts, sizeof(amounts));
  const ReactArguments arguments{cells, cells + 2, 0.5, 2};
  Task task;
  task.kind = loaded.numberOf("react_row");
  std::memcpy(task.arguments, &arguments, sizeof(arguments));
  const std::uint64_t tag = 7;
  ASSERT_EQ(own.push({&task, 1}, {&tag, 1}), 1);
  Finished end;
  ASSERT_EQ(own.poll({&end, 1}), 1);
  EXPECT_EQ(end.status, TaskStatus::Done);
  EXPECT_EQ(end.result[0], 4U);
  double after[2] = {};
  own.copyOut(after, cells + 2, sizeof(after));
  EXPECT_DOUBLE_EQ(after[0], std::pow(0.875, 4));
  EXPECT_DOUBLE_EQ(after[1], 3.0 * std::pow(0.9375, 8));
  EXPECT_EQ(shipped.wait(shipped.submit<LaneAdder>({1, 2})).result.sum, 3);
}

std::string mistakeIn(const std::string& library) {
  try {
    loadKinds(library);
  } catch (const UsageError& error) {
    return error.message();
  }
  return "the library was loaded";
}

TEST(KindsLibraries, LibrariesThatCannotBeUsedAreNamedWithAFix) {
  EXPECT_THAT(mistakeIn("/nowhere/kinds.so"),
              AllOf(HasSubstr("/nowhere/kinds.so cannot be loaded"), HasSubstr("fix")));
  EXPECT_THAT(mistakeIn(TESSERA_OTHER_KINDS),
              AllOf(HasSubstr("belongs to another version of Tessera"), HasSubstr("compile it again")));
  EXPECT_THAT(mistakeIn("libm.so.6"),
              AllOf(HasSubstr("has no kinds of tasks"), HasSubstr("TESSERA_KINDS_LIBRARY")));
}

}  // namespace
}  // namespace tessera::engine
