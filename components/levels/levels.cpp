#include "components/levels/levels.hpp"

#include <algorithm>

#include "components/average_down.hpp"
#include "components/levels/stamp.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

/// Counts what is not `expected(x)` among the values of a box.
template <class Task, class FieldType, class Expected>
ExactSum countWrong(const Task& task, const FieldType& values, const Box& box, Expected expected) {
  return reduce(task.exec(), "Levels::countWrong", box, Sum,
                [&](Index x) { return values(x) == expected(x) ? 0.0 : 1.0; });
}

}  // namespace

void Levels::configure(const ParameterValues& /*values*/, ComponentSetup& setup) {
  stamp_ = setup.labels.variable<double, Cell>("levels.stamp", "1");
  fill_ = setup.labels.variable<double, Cell>("levels.fill", "1");
  seen_ = setup.labels.variable<double, Cell>("levels.seen", "1");
  wrong_ = setup.labels.reduction("levels.wrong");
  setup.labels.setBoundary(stamp_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
}

void Levels::declareStamps(StepPlan& plan, std::int64_t ahead) const {
  plan.task("Levels::write").writes(stamp_).withoutDt().runs<Cpu>([s = stamp_, ahead](const auto& task) {
    const auto out = task.write(s);
    const LevelId level = task.level().number();
    const std::int64_t step = task.step() + ahead;
    forEach(task.exec(), "Levels::write", task.interior(),
            [=](Index x) { out(x) = stampOf(level, x, step); });
  });
  averageDown(plan, "Levels::averageDown", stamp_);
  plan.task("Levels::fill")
      .on(allButCoarsest())
      .reads(New, stamp_, fromCoarser(1))
      .writes(fill_)
      .withoutDt()
      .runs<Cpu>([s = stamp_, f = fill_](const auto& task) {
        const auto below = task.readCoarser(New, s);
        const auto out = task.write(f);
        const Extent ratio = task.level().ratioToCoarser();
        forEach(task.exec(), "Levels::fill", task.interior(),
                [=](Index x) { out(x) = below(coarsen(x, ratio)); });
      });
  plan.task("Levels::lookAtCoarsest")
      .on(finestLevel())
      .reads(New, stamp_, wholeLevel(0))
      .writes(seen_)
      .withoutDt()
      .runs<Cpu>([s = stamp_, w = seen_, ahead](const auto& task) {
        const auto out = task.write(w);
        const StampExpectation expected(task.hierarchy(), 0, task.step() + ahead);
        const Box all = task.hierarchy().level(0).domain();
        const double wrong = countWrong(task, task.readLevel(New, s, 0), all, expected).value();
        forEach(task.exec(), "Levels::lookAtCoarsest", task.interior(), [=](Index x) { out(x) = wrong; });
      });
}

void Levels::declareDiagnostics(StepPlan& plan) const {
  plan.task("Levels::checkHalo")
      .reads(Old, stamp_, halo(1))
      .contributes(wrong_, Sum)
      .runs<Cpu>([s = stamp_, n = wrong_](const auto& task) {
        const StampExpectation expected(task.hierarchy(), task.level().number(), task.step());
        const Box box = grow(task.interior(), task.level().effectiveHalo(uniformHalo(1)));
        task.contribute(n, countWrong(task, task.read(Old, s), box, expected));
      });
  plan.task("Levels::checkCoarser")
      .on(allButCoarsest())
      .reads(Old, stamp_, fromCoarser(1))
      .reads(Old, fill_)
      .contributes(wrong_, Sum)
      .runs<Cpu>([s = stamp_, f = fill_, n = wrong_](const auto& task) {
        const Extent ratio = task.level().ratioToCoarser();
        const Level& coarser = task.hierarchy().level(task.level().number() - 1);
        const StampExpectation expected(task.hierarchy(), coarser.number(), task.step());
        const Box ring = grow(coarsen(task.interior(), ratio), coarser.effectiveHalo(uniformHalo(1)));
        ExactSum wrong = countWrong(task, task.readCoarser(Old, s), ring, expected);
        wrong.add(countWrong(task, task.read(Old, f), task.interior(),
                             [&](Index x) { return expected(coarsen(x, ratio)); }));
        task.contribute(n, wrong);
      });
  plan.task("Levels::checkFiner")
      .on(allButFinest())
      .reads(Old, stamp_, fromFiner())
      .contributes(wrong_, Sum)
      .runs<Cpu>([s = stamp_, n = wrong_](const auto& task) {
        const auto fine = task.readFiner(Old, s);
        const StampExpectation expected(task.hierarchy(), task.level().number() + 1, task.step());
        ExactSum wrong;
        task.forEachCovered([&](const Box& covered) {
          wrong.add(countWrong(task, fine, refine(covered, task.refinementRatio()), expected));
        });
        task.contribute(n, wrong);
      });
  plan.task("Levels::checkSeen")
      .on(finestLevel())
      .reads(Old, seen_)
      .contributes(wrong_, Sum)
      .runs<Cpu>([w = seen_, n = wrong_](const auto& task) {
        task.contribute(n, countWrong(task, task.read(Old, w), task.interior(), [](Index) { return 0.0; }));
      });
}

}  // namespace tessera
