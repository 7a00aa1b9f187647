#include "tests/graph_fuzz/task_body.hpp"

#include <cmath>
#include <functional>

#include "datawarehouse/task_context.hpp"
#include "tests/graph_fuzz/element.hpp"
#include "tests/graph_fuzz/kernel.hpp"
#include "tests/graph_fuzz/program.hpp"

namespace tessera::fuzz {
namespace {

/// The body of one task: `combine` with reads that look into the fields.
template <class Task>
class TaskBodyRun {
 public:
  TaskBodyRun(const Task& task, const Program& program, const TaskSpec& spec)
      : task_(task), program_(program), case_(program.source()), spec_(spec) {
    for (const ReadSpec& read : spec.reads) lookups_.push_back(lookupOf(read));
  }

  void run() {
    // All results before the first write: a task that changes a label also reads it.
    std::vector<std::vector<std::int64_t>> results;
    for (std::size_t w = 0; w < spec_.writes.size(); ++w) results.push_back(resultsOf(w));
    contribute();
    for (std::size_t w = 0; w < spec_.writes.size(); ++w) store(w, results[w]);
  }

 private:
  using Lookup = std::function<std::optional<std::int64_t>(Index)>;

  const AnyLabel& handle(int label) const { return program_.handles()[static_cast<std::size_t>(label)]; }
  LevelId levelNumber() const { return spec_.oncePerRank ? 0 : task_.level().number(); }

  int dirichletOf(int label) const { return case_.labels[static_cast<std::size_t>(label)].dirichlet; }
  template <class Visit>
  static void forEachIndex(const Box& box, Visit&& visit) {
    for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
      for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
        for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
      }
    }
  }

  /// Whether a patch of the level has the index; gathers hold nothing elsewhere.
  bool exists(LevelId level, Index x, Centering centering) const {
    return task_.hierarchy().level(level).exists(x, centering);
  }

  Lookup lookupOf(const ReadSpec& read) const {
    const LevelId level = levelRead(read, levelNumber());
    const int dirichlet = dirichletOf(read.label);
    const bool gathered = read.reach == Reach::Finer || read.reach == Reach::WholeLevel;
    return std::visit(
        [&](auto label) -> Lookup {
          using Element = typename decltype(label)::Element;
          const auto looking = [this, gathered, level, dirichlet,
                                centering = label.kCentering](auto field) -> Lookup {
            return
                [this, gathered, level, dirichlet, centering, field](Index x) -> std::optional<std::int64_t> {
                  if (gathered && !exists(level, x, centering)) return std::nullopt;
                  return reduced(std::llround(seenNumber<Element>(field, x, dirichlet)));
                };
          };
          switch (read.reach) {
            case Reach::Coarser:
              return looking(task_.readCoarser(read.generation, label));
            case Reach::Finer:
              return looking(task_.readFiner(read.generation, label));
            case Reach::WholeLevel:
              return looking(task_.readLevel(read.generation, label, level));
            case Reach::Patch:
              break;
          }
          return looking(task_.read(read.generation, label));
        },
        handle(read.label));
  }

  std::int64_t valueAt(Index x, Centering centering, std::int64_t salt) const {
    return combine(case_, spec_, levelNumber(), x, centering, salt,
                   [&](std::size_t r, Index at) { return lookups_[r](at); });
  }

  std::vector<std::int64_t> resultsOf(std::size_t write) const {
    const int dirichlet = dirichletOf(spec_.writes[write].label);
    return std::visit(
        [&](auto label) {
          using Element = typename decltype(label)::Element;
          std::vector<std::int64_t> values;
          std::function<std::int64_t(Index)> own = [](Index) { return std::int64_t{0}; };
          if (spec_.writes[write].modifies) {
            own = [field = task_.modify(label), dirichlet](Index x) {
              return reduced(std::llround(ownNumber<Element>(field, x, dirichlet)));
            };
          }
          forEachIndex(task_.interior(label), [&](Index x) {
            values.push_back(valueAt(x, label.kCentering, saltOfWrite(write, task_.step()) + own(x)));
          });
          return values;
        },
        handle(spec_.writes[write].label));
  }

  void store(std::size_t write, const std::vector<std::int64_t>& values) const {
    const int dirichlet = dirichletOf(spec_.writes[write].label);
    std::visit(
        [&](auto label) {
          using Element = typename decltype(label)::Element;
          const auto field = spec_.writes[write].modifies ? task_.modify(label) : task_.write(label);
          std::size_t n = 0;
          forEachIndex(task_.interior(label),
                       [&](Index x) { putNumber<Element>(field, x, values[n++], dirichlet); });
        },
        handle(spec_.writes[write].label));
  }

  void contribute() const {
    for (std::size_t n = 0; n < spec_.contributions.size(); ++n) {
      const auto number = static_cast<std::size_t>(spec_.contributions[n]);
      const ReductionKind kind = case_.reductions[number];
      ExactSum sum;
      std::optional<std::int64_t> best;
      const auto give = [&](Index x) {
        const std::int64_t value = valueAt(x, Centering::Cell, saltOfContribution(n, task_.step()));
        sum.add(static_cast<double>(value));
        if (!best || (kind == ReductionKind::Min ? value < *best : value > *best)) best = value;
      };
      if (spec_.oncePerRank) {
        give({0, 0, 0});
      } else {
        forEachIndex(task_.interior(), give);
      }
      if (kind == ReductionKind::Sum) {
        task_.contribute(program_.reductions()[number], sum);
      } else {
        task_.contribute(program_.reductions()[number], static_cast<double>(*best));
      }
    }
  }

  const Task& task_;
  const Program& program_;
  const FuzzCase& case_;
  const TaskSpec& spec_;
  std::vector<Lookup> lookups_;
};

}  // namespace

TaskBody bodyOf(const Program& program, const TaskSpec& task) {
  return taskBody<Cpu>([&program, task](const auto& at) {
    const auto run = [&](const auto& one) {
      TaskBodyRun<std::decay_t<decltype(one)>>(one, program, task).run();
    };
    if (task.oncePerLevel) {
      at.forEachPatch(run);
    } else {
      run(at);
    }
  });
}

}  // namespace tessera::fuzz
