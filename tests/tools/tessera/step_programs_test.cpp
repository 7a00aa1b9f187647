#include <filesystem>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "tests/tools/tessera/relaxing_component.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/simulation.hpp"
#include "tools/simulation/watch/call_watch.hpp"

namespace tessera {
namespace {

using test::Relaxing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Programs = std::vector<StepProgram>;

Deck lineOf(const std::string& time) {
  return Deck::fromText(
      "simulation.components = ['relaxing']\n"
      "grid = { cells = [8, 1, 1], patches = [4, 1, 1] }\n"
      "time = { " +
          time + " }\n",
      "deck.toml");
}

/// Hears of steps that are taken again.
class Retries final : public RunListener {
 public:
  void retaken(const StepRetry& retry) override { heard.push_back(retry); }
  std::vector<StepRetry> heard;
};

/// What a run leaves: columns, and what rank 0 heard.
struct Left {
  std::vector<double> columns;
  std::vector<StepRetry> retries;
  double dt = 0.0;
};

Left run(const Deck& deck, const Relaxing::MakePrograms& programs, int ranks = 1,
         SimulationOptions options = {}) {
  const ComponentRegistry registry = test::relaxing(programs);
  Left left;
  std::mutex mutex;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, options);
    Retries listener;
    simulation.run(listener);
    const std::vector<double> columns = simulation.diagnose();
    const std::lock_guard lock(mutex);
    if (transport.rank() == 0) left = {columns, listener.heard, simulation.clock().dt()};
  });
  return left;
}

/// The whole message of what the model says about programs.
std::string faultsOf(const Relaxing::MakePrograms& programs,
                     const std::string& time = "dt = 1, max_steps = 1") {
  try {
    const Model model(lineOf(time), test::relaxing(programs));
    static_cast<void>(model.compile(model.meshOfDeck(1), 0, 1, 32767));
  } catch (const PlanError& error) {
    return error.message();
  }
  return "";
}

/// 1 .. 8, twice it is 72 in all; without its mean the sum is 0, and half of it as well.
TEST(StepPrograms, TasksReadWhatReductionsOfEarlierItemsHaveFound) {
  const auto programs = [](const Relaxing::Parts&) {
    StepProgram program("step");
    program.run("guess");
    program.run("shift");
    return Programs{program};
  };
  for (const int ranks : {1, 2, 4}) {
    for (const ExecutorKind kind : {ExecutorKind::InOrder, ExecutorKind::Threads}) {
      SimulationOptions options;
      options.executor = kind;
      EXPECT_THAT(run(lineOf("dt = 1, max_steps = 3"), programs, ranks, options).columns,
                  ElementsAre(0.0, 0.0));
    }
  }
}

/// From 16 at most: four passes until nothing is above 1, and sum 72 becomes 4.5.
TEST(StepPrograms, ItemsRepeatUntilAReductionSaysEnough) {
  const auto programs = [](const Relaxing::Parts& parts) {
    StepProgram program("step");
    program.run("guess");
    program.repeat({[r = parts.largest](const ReducedNumbers& found) { return found(r) <= 1.0; }, 10},
                   [](StepProgram& body) {
                     body.run("halve");
                     body.run("measure");
                   });
    return Programs{program};
  };
  for (const int ranks : {1, 3}) {
    EXPECT_EQ(run(lineOf("dt = 1, max_steps = 1"), programs, ranks).columns.front(), 4.5);
  }
}

TEST(StepPrograms, ARepetitionThatHasToEndRefusesTheStepWhereItDoesNot) {
  const auto programs = [](const Relaxing::Parts& parts) {
    StepProgram program("step");
    program.run("guess");
    program.repeat({[r = parts.largest](const ReducedNumbers& found) { return found(r) <= 1.0; }, 3,
                    "u does not become small"},
                   [](StepProgram& body) {
                     body.run("halve");
                     body.run("measure");
                   });
    return Programs{program};
  };
  try {
    run(lineOf("dt = 1, max_steps = 1"), programs, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Numerical);
    EXPECT_THAT(error.message(), HasSubstr("the step is refused: u does not become small"));
    EXPECT_THAT(error.message(), HasSubstr("time.retries"));
  }
}

/// (72 + 8 halved) + 8 = 48; each rank makes its calls.
TEST(StepPrograms, CallsChangeNewValuesBetweenPlans) {
  const auto programs = [](const Relaxing::Parts& parts) {
    const auto solver = std::make_shared<test::AddOne>(parts);
    StepProgram program("step");
    program.run("guess");
    for (const char* name : {"first", "second"}) {
      program.call(name, solver).modifies(parts.u).contributes(parts.calls);
      if (std::string(name) == "first") program.run("halve");
    }
    program.require("there were two calls",
                    [r = parts.calls](const ReducedNumbers& found) { return found(r) == 2.0; });
    return Programs{program};
  };
  for (const int ranks : {1, 2, 4}) {
    EXPECT_EQ(run(lineOf("dt = 1, max_steps = 1"), programs, ranks).columns.front(), 48.0);
  }
}

/// Two halves of a step of 1: at 0 and 0.5 in the first, at 1 and 1.5 in the second; 100 x 3 + 2.
TEST(StepPrograms, PartsOfAStepHaveTimesOfTheirOwnAndPromoteOnTheWay) {
  const auto programs = [](const Relaxing::Parts&) {
    StepProgram program("step");
    program.run("clock").over({0, 1, 2}).promotes();
    program.run("clock").over({1, 1, 2}).promotes();
    return Programs{program};
  };
  EXPECT_EQ(run(lineOf("dt = 1, max_steps = 2"), programs, 2).columns.back(), 302.0);
}

Programs withoutLongSteps(const Relaxing::Parts& parts) {
  StepProgram program("step");
  program.run("clock");
  program.require("the step is long",
                  [r = parts.length](const ReducedNumbers& found) { return found(r) < 0.3; });
  return {program};
}

TEST(StepPrograms, ARefusedStepIsTakenAgainHalfAsLong) {
  for (const int ranks : {1, 2}) {
    const Left left = run(lineOf("dt = 1, max_steps = 2, retries = 2"), withoutLongSteps, ranks);
    ASSERT_EQ(left.retries.size(), 4U);
    EXPECT_EQ(left.retries[0].cause, "the step is long");
    EXPECT_EQ(left.retries[0].refusedDt, 1.0);
    EXPECT_EQ(left.retries[1].refusedDt, 0.5);
    EXPECT_EQ(left.retries[1].dt, 0.25);
    EXPECT_EQ(left.retries[3].time, 0.25);
    EXPECT_EQ(left.dt, 0.25);
    EXPECT_EQ(left.columns.back(), 100.0 * 0.25 + 0.5);
  }
}

TEST(StepPrograms, AStepThatIsRefusedTooOftenEndsTheRunWithItsCause) {
  try {
    run(lineOf("dt = 1, max_steps = 2, retries = 1"), withoutLongSteps, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Numerical);
    EXPECT_THAT(error.message(), HasSubstr("the step is refused: the step is long"));
    EXPECT_THAT(error.message(), HasSubstr("tried   2 times"));
  }
}

TEST(StepPrograms, WrongUseIsASentenceAtTheStart) {
  const auto of = [](const auto& declare) {
    return faultsOf([&](const Relaxing::Parts& parts) {
      StepProgram program("step");
      declare(program, parts);
      return Programs{program};
    });
  };
  EXPECT_THAT(of([](StepProgram& p, const auto&) { p.run("halve"), p.run("guess"); }),
              HasSubstr("needs a New value that no earlier item leaves"));
  EXPECT_THAT(of([](StepProgram& p, const auto& parts) {
                p.call("fill", std::make_shared<test::AddOne>(parts)).writes(parts.u);
                p.run("shift");
              }),
              HasSubstr("a task reads a reduction to which no earlier item contributes"));
  EXPECT_THAT(of([](StepProgram& p, const auto&) { p.run("gess"); }),
              HasSubstr("a step program runs a plan that no task takes part in"));
  EXPECT_THAT(of([](StepProgram& p, const auto& parts) {
                p.call("fill", std::make_shared<test::AddOne>(parts)).writes(parts.u);
              }),
              HasSubstr("a step program runs no plan"));
  EXPECT_THAT(of([](StepProgram& p, const auto&) {
                p.run("clock").promotes();
                p.run("guess");
              }),
              HasSubstr("never promotes a label that is read as Old"));
  EXPECT_THAT(of([](StepProgram& p, const auto& parts) {
                p.call("change", std::make_shared<test::AddOne>(parts)).modifies(parts.u);
                p.run("guess");
              }),
              HasSubstr("a call of a step program needs a New value"));
}

TEST(StepPrograms, RetriesAreRefusedWhereAPartOfTheStepHasBecomeOld) {
  const auto programs = [](const Relaxing::Parts& parts) {
    StepProgram program("step");
    program.run("clock").over({0, 1, 2}).promotes();
    program.run("clock").over({1, 1, 2}).promotes();
    program.require("the step is long", [r = parts.length](const ReducedNumbers& f) { return f(r) < 1.0; });
    return Programs{program};
  };
  EXPECT_EQ(faultsOf(programs), "");
  EXPECT_THAT(faultsOf(programs, "dt = 1, max_steps = 1, retries = 2"),
              HasSubstr("a step cannot be taken again when a part of it has become Old"));
}

TEST(StepPrograms, ARestartGoesOnAsTheUnbrokenRun) {
  const auto programs = [](const Relaxing::Parts&) {
    StepProgram program("step");
    program.run("guess");
    program.run("shift");
    program.run("clock");
    return Programs{program};
  };
  const ComponentRegistry registry = test::relaxing(programs);
  const std::vector<double> unbroken = run(lineOf("dt = 1, max_steps = 5"), programs).columns;
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "step_programs_restart";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::path written;
  LoopbackWorld two(2);
  runRanks(two, [&](Transport& transport) {
    Simulation first(lineOf("dt = 1, max_steps = 2"), registry, transport, {});
    first.run();
    CheckpointWriter writer(transport, {.folder = folder});
    const CheckpointResult result = writeCheckpoint(writer, first);
    EXPECT_TRUE(result.committed) << result.failure;
    if (transport.rank() == 0) written = result.path;
  });
  const CheckpointReader checkpoint = CheckpointReader::open(written);
  LoopbackWorld three(3);
  runRanks(three, [&](Transport& transport) {
    Simulation second(lineOf("dt = 1, max_steps = 5"), registry, transport, {}, checkpoint);
    second.run();
    EXPECT_EQ(second.diagnose(), unbroken);
  });
}

TEST(CallWatch, NamesACallThatDoesNotReturn) {
  std::string page;
  const std::function<void(const std::string&)> hear = [&](const std::string& text) { page = text; };
  { const CallWatch quick("quick", 20.0, hear); }
  EXPECT_EQ(page, "");
  {
    const CallWatch slow("pressure", 0.02, hear);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  EXPECT_THAT(page, HasSubstr("the call \"pressure\""));
}

}  // namespace
}  // namespace tessera
