#include "tests/graph_fuzz/check_case.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

#include "core/transport/loopback_transport.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "tests/graph_fuzz/cut_plans.hpp"
#include "tests/graph_fuzz/draw_places.hpp"
#include "tests/graph_fuzz/element.hpp"
#include "tests/graph_fuzz/plain_model.hpp"
#include "tests/graph_fuzz/program.hpp"
#include "tests/placement_proof/placement_check.hpp"

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
    "a read of the coarser level",
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
    if constexpr (HasComponents<T>::value) {
      // Each component as a variable of its own.
      using Number = decltype([]<class N>(Components<N>) { return N{}; }(T{}));
      for (std::int32_t c = 0; c < data.labels().info(label).type.components; ++c)
        component<Number>(data, label, local, c, offsetOf(c));
    } else {
      component<T>(data, label, local, 0, 0);
    }
  }
  template <class T>
  void component(const DataWarehouse& data, LabelId label, std::size_t local, std::int32_t number,
                 int offset) const {
    const Box box = data.ownedBox(label, local);
    std::vector<T> values(static_cast<std::size_t>(box.volume()));
    data.packComponent(label, local, number, std::as_writable_bytes(std::span(values)));
    const int dirichlet = program_.source().labels[static_cast<std::size_t>(label)].dirichlet;
    const Patch& where = data.hierarchy().patch(data.ownPatches()[local]);
    std::size_t n = 0;
    for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
      for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
        for (std::int64_t i = box.lo.i; i < box.hi.i; ++i, ++n) {
          const auto want = model_.value(label, where.level, {i, j, k});
          if (!want) continue;
          const double got = numberOf(values[n], dirichlet) - offset;
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

/// What one shape runs: the plans of a case, or what they were cut into.
struct Compiled {
  std::unique_ptr<CutPlans> cut = nullptr;
  std::vector<CompiledGraphs> graphs{};

  std::vector<std::size_t> itemsOf(std::size_t plan) const {
    if (cut == nullptr) return {plan};
    return {cut->itemsOf(plan).begin(), cut->itemsOf(plan).end()};
  }
};

Compiled compile(const Program& program, const ShapeSpec& shape) {
  if (shape.cuts == 0) return {nullptr, program.compile(shape)};
  ShapeSpec onRankZero;
  onRankZero.seed = 0;
  Compiled made;
  made.cut = std::make_unique<CutPlans>(program.compile(onRankZero).front(), shape.cuts, shape.seed);
  try {
    made.graphs = program.compile(shape, WindowSharing::On, made.cut.get());
  } catch (const PlanError& error) {
    throw InternalError("the plans are accepted whole, but not cut: " + error.message());
  }
  return made;
}

/// Joins what items of a plan contribute to each reduction, as if one plan did.
void join(const FuzzCase& c, const StepResult& item, std::span<const ReductionLabel> reductions,
          StepResult& all) {
  for (std::size_t r = 0; r < reductions.size(); ++r) {
    const auto at = static_cast<std::size_t>(reductions[r].id);
    double& sum = all.reductions[at];
    const double more = item.reductions[at];
    if (std::isnan(more) || std::isnan(sum)) {
      sum = std::isnan(sum) ? more : sum;
      continue;
    }
    const ReductionKind kind = c.reductions[r];
    sum = kind == ReductionKind::Min   ? std::min(sum, more)
          : kind == ReductionKind::Max ? std::max(sum, more)
                                       : sum + more;
  }
}

/// Runs a plan, or its items one after the other; what they leave becomes Old after the last.
StepResult runPlan(const Program& program, const CompiledGraphs& graphs, std::span<const std::size_t> items,
                   std::int64_t step, StepRunner& runner) {
  StepInputs inputs;
  inputs.step = step;
  if (items.size() == 1) return runner.run(items.front(), inputs);
  inputs.after = AfterReplay::Keep;
  StepResult result = runner.run(items.front(), inputs);
  for (const std::size_t item : items.subspan(1))
    join(program.source(), runner.run(item, inputs), program.reductions(), result);
  std::set<LevelLabel> written;
  for (const std::size_t item : items)
    written.insert(graphs.plans[item].written.begin(), graphs.plans[item].written.end());
  runner.promote(std::vector<LevelLabel>(written.begin(), written.end()));
  return result;
}

/// One rank's run of all steps.
void runSteps(const Program& program, const Compiled& compiled, const ShapeSpec& shape, Transport& transport,
              const std::vector<PlainModel>& model) {
  const CompiledGraphs& graphs = compiled.graphs[static_cast<std::size_t>(transport.rank())];
  const auto data = makeDataWarehouse(graphs);
  const auto executor = shape.threads == 0 ? makeInOrderExecutor() : makeThreadsExecutor(shape.threads);
  RunnerOptions options;
  options.checked = shape.checked;
  if (shape.seed % 4 < 2) options.sends.messages = static_cast<std::int64_t>(1 + shape.seed % 4);
  StepRunner runner(graphs, *data, transport, *executor, options);
  for (std::size_t s = 0; s < model.size(); ++s) {
    const int plan = s == 0 ? 0 : program.source().steps[s - 1];
    const StepResult result = runPlan(program, graphs, compiled.itemsOf(static_cast<std::size_t>(plan)),
                                      static_cast<std::int64_t>(s), runner);
    const Comparison comparison(program, model[s], s, shape);
    comparison.values(*data);
    comparison.reductions(result);
  }
}

std::string shapeText(const ShapeSpec& shape) {
  return std::to_string(shape.ranks) + " ranks, " +
         (shape.threads == 0 ? "in order" : std::to_string(shape.threads) + " threads") +
         (shape.checked ? ", checked" : "") + (shape.delays ? ", delays" : "") +
         (shape.cuts > 0 ? ", cut" : "") + (shape.reuse ? ", shared memory" : "") +
         (shape.scratch ? ", scratch windows" : "");
}

Outcome runShape(const Program& program, const ShapeSpec& shape, const Compiled& compiled,
                 const std::vector<PlainModel>& model) {
  LoopbackOptions options;
  if (shape.delays) options.delaySeed = shape.seed;
  options.synchronous = shape.seed % 3 == 0;
  LoopbackWorld world(shape.ranks, options);
  try {
    runRanks(world, [&](Transport& transport) { runSteps(program, compiled, shape, transport, model); });
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
  std::vector<Compiled> compiled;
  std::unique_ptr<Program> program;
  try {
    program = std::make_unique<Program>(c);
    for (const ShapeSpec& shape : c.shapes) compiled.push_back(compile(*program, shape));
  } catch (const PlanError& error) {
    return refused(c, error.faults());
  } catch (const DeckError& error) {
    return refused(c, {error.message()});
  } catch (const std::exception& error) {
    return failed("compile error", error.what());
  }
  std::int64_t conflicts = 0;
  std::int64_t carried = 0;
  try {
    for (const Compiled& one : compiled) {
      conflicts += expectNoRaces(one.graphs);
      carried += carriedCount(one.graphs.front());
    }
  } catch (const std::exception& error) {
    return failed("race", error.what());
  }
  try {
    for (std::size_t n = 0; n < compiled.size(); ++n)
      conflicts += checkPlaces(compiled[n].graphs, c.shapes[n]);
  } catch (const std::exception& error) {
    return failed("placement", error.what());
  }
  const std::vector<PlainModel> model = modelAfterEachStep(c);
  for (std::size_t n = 0; n < c.shapes.size(); ++n) {
    Outcome outcome = runShape(*program, c.shapes[n], compiled[n], model);
    if (outcome.kind != Outcome::Kind::Passed) return outcome;
  }
  return {Outcome::Kind::Passed, {}, "", conflicts, carried};
}

}  // namespace tessera::fuzz
