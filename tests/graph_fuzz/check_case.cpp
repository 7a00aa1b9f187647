#include "tests/graph_fuzz/check_case.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "core/transport/loopback_transport.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/proof/placement_check.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "tests/graph_fuzz/draw_places.hpp"
#include "tests/graph_fuzz/element.hpp"
#include "tests/graph_fuzz/plain_model.hpp"
#include "tests/graph_fuzz/program.hpp"

namespace tessera::fuzz {
namespace {

/// Faults that random plans may have, by the beginning of their text.
const char* const kExpected[] = {
    "no task computes what a task reads",
    "tasks wait for one another in a cycle",
    "a label is modified, but no task writes it in this plan",
    "a modification follows no task that changes the label",
    "the order of two modifications is not settled",
    "a read names a task that does not compute the label",
    "a halo is wider than the level",
    "a halo leaves both its level and the coarser one",
    "a read of the coarser level leaves it",
    "a task reads a label on a level that is not there",
    "a box of [[grid.level]] cannot be refined",
};

std::string headline(const std::string& fault) { return fault.substr(0, fault.find('\n')); }

bool expected(const std::string& fault) {
  return std::any_of(std::begin(kExpected), std::end(kExpected),
                     [&](const char* e) { return fault.rfind(e, 0) == 0; });
}

Outcome failed(const std::string& name, const std::string& text) {
  return {Outcome::Kind::Failed, {}, name + ": " + text, 0};
}

/// Thrown by a rank whose values differ from the model's.
struct Difference : ErrorClass<Difference> {
  explicit Difference(std::string text) : ErrorClass(ErrorKind::Internal, std::move(text)) {}
};

/// The model's answer after each step, shared by all shapes.
std::vector<PlainModel> modelAfterEachStep(const FuzzCase& c) {
  std::vector<PlainModel> after;
  PlainModel model(c);
  model.run(0, 0);
  after.push_back(model);
  for (std::size_t s = 0; s < c.steps.size(); ++s) {
    model.run(c.steps[s], static_cast<std::int64_t>(s) + 1);
    after.push_back(model);
  }
  return after;
}

/// Compares what one rank holds with the model.
class Comparison {
 public:
  Comparison(const Program& program, const PlainModel& model, std::size_t step, const ShapeSpec& shape)
      : program_(program), model_(model), step_(step), shape_(shape) {}

  void values(const DataWarehouse& data) const {
    for (std::size_t n = 0; n < program_.source().labels.size(); ++n) {
      for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
        if (!lasts(data, static_cast<LabelId>(n)) || !data.has(static_cast<LabelId>(n), local)) continue;
        std::visit(
            [&](auto label) {
              patch<typename decltype(label)::Element>(data, static_cast<LabelId>(n), local);
            },
            program_.handles()[n]);
      }
    }
  }

  void reductions(const StepResult& result) const {
    for (std::size_t r = 0; r < program_.reductions().size(); ++r) {
      const double got = result.reductions[static_cast<std::size_t>(program_.reductions()[r].id)];
      const auto want = model_.reduction(static_cast<int>(r), shape_.ranks);
      if (want ? got == *want : std::isnan(got)) continue;
      throw Difference("r" + std::to_string(r) + " is " + std::to_string(got) + " after step " +
                       std::to_string(step_) + ", not " + (want ? std::to_string(*want) : "absent"));
    }
  }

 private:
  /// Whether the value is there after the plan; else others may have used the memory.
  bool lasts(const DataWarehouse& data, LabelId label) const {
    return !shape_.reuse || program_.source().labels[static_cast<std::size_t>(label)].kept ||
           data.persists(label);
  }
  template <class T>
  void patch(const DataWarehouse& data, LabelId label, std::size_t local) const {
    const Box box = data.ownedBox(label, local);
    std::vector<T> values(static_cast<std::size_t>(box.volume()));
    data.packOwned(label, local, std::as_writable_bytes(std::span(values)));
    const int dirichlet = program_.source().labels[static_cast<std::size_t>(label)].dirichlet;
    const Patch& where = data.hierarchy().patch(data.ownPatches()[local]);
    std::size_t n = 0;
    for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
      for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
        for (std::int64_t i = box.lo.i; i < box.hi.i; ++i, ++n) {
          const auto want = model_.value(label, where.level, {i, j, k});
          if (!want) continue;
          const double got = numberOf(values[n], dirichlet);
          if (got == *want) continue;
          throw Difference("v" + std::to_string(label) + " at " + tessera::asText(Index{i, j, k}) + " of " +
                           tessera::asText(where) + " is " + std::to_string(got) + " after step " +
                           std::to_string(step_) + ", not " + std::to_string(*want));
        }
      }
    }
  }

  const Program& program_;
  const PlainModel& model_;
  std::size_t step_;
  const ShapeSpec& shape_;
};

/// One rank's run of all steps.
void runSteps(const Program& program, const CompiledGraphs& graphs, const ShapeSpec& shape,
              Transport& transport, const std::vector<PlainModel>& model) {
  const auto data = makeDataWarehouse(graphs);
  const auto executor = shape.threads == 0 ? makeInOrderExecutor() : makeThreadsExecutor(shape.threads);
  RunnerOptions options;
  options.checked = shape.checked;
  if (shape.seed % 4 < 2) options.sends.messages = static_cast<std::int64_t>(1 + shape.seed % 4);
  StepRunner runner(graphs, *data, transport, *executor, options);
  for (std::size_t s = 0; s < model.size(); ++s) {
    const int plan = s == 0 ? 0 : program.source().steps[s - 1];
    const StepResult result =
        runner.run(static_cast<std::size_t>(plan), {0.0, 0.0, static_cast<std::int64_t>(s), {}});
    const Comparison comparison(program, model[s], s, shape);
    comparison.values(*data);
    comparison.reductions(result);
  }
}

std::string shapeText(const ShapeSpec& shape) {
  return std::to_string(shape.ranks) + " ranks, " +
         (shape.threads == 0 ? "in order" : std::to_string(shape.threads) + " threads") +
         (shape.checked ? ", checked" : "") + (shape.delays ? ", delays" : "") +
         (shape.reuse ? ", shared memory" : "") + (shape.scratch ? ", scratch windows" : "");
}

Outcome runShape(const Program& program, const ShapeSpec& shape, const std::vector<CompiledGraphs>& graphs,
                 const std::vector<PlainModel>& model) {
  LoopbackOptions options;
  if (shape.delays) options.delaySeed = shape.seed;
  options.synchronous = shape.seed % 3 == 0;
  LoopbackWorld world(shape.ranks, options);
  try {
    runRanks(world, [&](Transport& transport) {
      runSteps(program, graphs[static_cast<std::size_t>(transport.rank())], shape, transport, model);
    });
  } catch (const Difference& difference) {
    return failed("wrong value", difference.message() + " (" + shapeText(shape) + ")");
  } catch (const std::exception& error) {
    return failed("error", std::string(error.what()) + " (" + shapeText(shape) + ")");
  }
  return {};
}

/// Proves two random placements, and one where patches have homes; returns the number of conflicting pairs.
/// That one not where a task would look for another patch in its own place and not at its home: with scratch
/// windows, which no device has, and with a level in one window, which is for one device.
std::int64_t checkPlaces(const std::vector<CompiledGraphs>& graphs, const ShapeSpec& shape) {
  const std::uint64_t seed = shape.seed;
  std::int64_t conflicts = 0;
  for (std::uint64_t n = 0; n < 2; ++n) {
    conflicts += expectGoodPlacement(
        graphs, [&](Rank rank) { return drawPlaces(seed + 1000 * n + static_cast<std::uint64_t>(rank)); });
  }
  const bool inOneWindow = std::any_of(graphs.front().shared.begin(), graphs.front().shared.end(),
                                       [](const SharedWindow& window) { return window.whole; });
  if (shape.scratch || inOneWindow) return conflicts;
  const auto homesOf = [&](Rank rank) {
    return drawHomes(seed + static_cast<std::uint64_t>(rank),
                     graphs[static_cast<std::size_t>(rank)].ownPatches.size());
  };
  return conflicts + expectGoodPlacement(
                         graphs, [&](Rank rank) { return drawAtHome(seed, homesOf(rank)); }, homesOf);
}

/// Whether some plan gives reason for a fault of this headline; only looked into where that is easy to tell.
bool explained(const FuzzCase& c, const std::string& headline) {
  const bool known =
      headline == "no task computes what a task reads" || headline == "tasks wait for one another in a cycle";
  return !known || std::any_of(c.plans.begin(), c.plans.end(),
                               [&](const PlanSpec& plan) { return PlanMeaning(c, plan).explains(headline); });
}

Outcome refused(const FuzzCase& c, const std::vector<std::string>& faults) {
  Outcome outcome{Outcome::Kind::Refused, {}, "", 0};
  for (const std::string& fault : faults) {
    if (!expected(fault)) return failed("unexpected refusal", fault);
    if (!explained(c, headline(fault))) return failed("needless refusal", fault);
    outcome.faults.push_back(headline(fault));
  }
  return outcome;
}

}  // namespace

Outcome checkCase(const FuzzCase& c) {
  std::vector<std::vector<CompiledGraphs>> compiled;
  std::unique_ptr<Program> program;
  try {
    program = std::make_unique<Program>(c);
    for (const ShapeSpec& shape : c.shapes) compiled.push_back(program->compile(shape));
  } catch (const PlanError& error) {
    return refused(c, error.faults());
  } catch (const DeckError& error) {
    return refused(c, {error.message()});
  } catch (const std::exception& error) {
    return failed("compile error", error.what());
  }
  std::int64_t conflicts = 0;
  try {
    for (const auto& graphs : compiled) conflicts += expectNoRaces(graphs);
  } catch (const std::exception& error) {
    return failed("race", error.what());
  }
  try {
    for (std::size_t n = 0; n < compiled.size(); ++n) conflicts += checkPlaces(compiled[n], c.shapes[n]);
  } catch (const std::exception& error) {
    return failed("placement", error.what());
  }
  const std::vector<PlainModel> model = modelAfterEachStep(c);
  for (std::size_t n = 0; n < c.shapes.size(); ++n) {
    Outcome outcome = runShape(*program, c.shapes[n], compiled[n], model);
    if (outcome.kind != Outcome::Kind::Passed) return outcome;
  }
  return {Outcome::Kind::Passed, {}, "", conflicts};
}

}  // namespace tessera::fuzz
