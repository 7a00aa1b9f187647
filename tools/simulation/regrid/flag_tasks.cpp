#include "tools/simulation/regrid/flag_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "components/expression_fill.hpp"
#include "core/exact_sum.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/analysis/analysis_tasks.hpp"

namespace tessera {
namespace {

/// The numbers of a cell and of its neighbours along one axis.
struct ThreeInARow {
  double below;
  double here;
  double above;
};

template <class Field>
ThreeInARow rowAt(const Field& u, Index x, int axis) {
  Index step;
  step[axis] = 1;
  return {u(x - step), u(x), u(x + step)};
}

/// The length of the gradient. Mirrored numbers give the same bits, as below.
template <class Field>
double gradientAt(const Field& u, Index x, const Geometry& geometry, const Real3& spacing) {
  double squares = 0.0;
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    const ThreeInARow row = rowAt(u, x, d);
    const double slope = (row.above - row.below) / (2.0 * spacing[d]);
    squares += slope * slope;
  }
  return std::sqrt(squares);
}

template <class Field>
double jumpAt(const Field& u, Index x, const Geometry& geometry) {
  double largest = 0.0;
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    const ThreeInARow row = rowAt(u, x, d);
    largest = std::max({largest, std::abs(row.above - row.here), std::abs(row.here - row.below)});
  }
  return largest;
}

/// Ripples below this part of the values themselves are none.
constexpr double kRipples = 0.01;

template <class Field>
double secondDifferenceAt(const Field& u, Index x, const Geometry& geometry) {
  double largest = 0.0;
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    const ThreeInARow row = rowAt(u, x, d);
    const double up = row.above - row.here;
    const double down = row.here - row.below;
    const double around = (std::abs(row.above) + std::abs(row.below)) + 2.0 * std::abs(row.here);
    const double whole = (std::abs(up) + std::abs(down)) + kRipples * around;
    if (whole > 0.0) largest = std::max(largest, std::abs(up - down) / whole);
  }
  return largest;
}

/// Cells in a row that are flagged, one box for all that touch.
class FlaggedRows {
 public:
  void add(Index x) {
    ++count_;
    if (!rows_.empty() && rows_.back().hi == x + Index{0, 1, 1}) {
      ++rows_.back().hi.i;
    } else {
      rows_.push_back({x, x + Index{1, 1, 1}});
    }
  }
  ExactSum count() const {
    ExactSum sum;
    sum.add(static_cast<double>(count_));
    return sum;
  }
  const std::vector<Box>& rows() const { return rows_; }

 private:
  std::int64_t count_ = 0;
  std::vector<Box> rows_;
};

template <class Field>
double numberAt(FlagKind kind, const Field& u, Index x, const Level& level) {
  if (kind == FlagKind::Gradient) return gradientAt(u, x, level.geometry(), level.spacing());
  if (kind == FlagKind::Jump) return jumpAt(u, x, level.geometry());
  return secondDifferenceAt(u, x, level.geometry());
}

LevelSelection levelsLookedAt(const FlagCriterion& criterion) {
  return criterion.level ? onlyLevel(static_cast<LevelId>(*criterion.level)) : allButFinest();
}

template <class LabelType, class Pick>
void declareOfVariable(TaskBuilder task, const FlagCriterion& criterion, LabelType label, const Pick& pick,
                       ReductionLabel count, std::shared_ptr<FlaggedBlocks> found) {
  task.reads(Old, label, halo(1))
      .on(levelsLookedAt(criterion))
      .contributes(count, Sum)
      .withoutDt()
      .template runs<Cpu>([=, kind = criterion.kind, most = criterion.threshold](const auto& t) {
        const auto u = pick(t.read(Old, label));
        FlaggedRows flagged;
        forEachCell(t.interior(), [&](Index x) {
          if (numberAt(kind, u, x, t.level()) > most) flagged.add(x);
        });
        found->add(t.level().number(), flagged.rows());
        t.contribute(count, flagged.count());
      });
}

}  // namespace

void declareFlags(StepPlan& plan, const std::string& name, const FlagCriterion& criterion,
                  const AnalysisField& field, ReductionLabel count, std::shared_ptr<FlaggedBlocks> found) {
  TaskBuilder task = plan.task(name);
  if (criterion.kind == FlagKind::Expression) {
    task.on(levelsLookedAt(criterion))
        .contributes(count, Sum)
        .withoutDt()
        .runs<Cpu>([=, f = criterion.expression, most = criterion.threshold](const auto& t) {
          FlaggedRows flagged;
          forEachValue(f, t.level(), t.interior(), Cell, t.time(), [&](Index x, double value) {
            if (value > most) flagged.add(x);
          });
          found->add(t.level().number(), flagged.rows());
          t.contribute(count, flagged.count());
        });
  } else if (field.component < 0) {
    declareOfVariable(
        task, criterion, field.whole<Cell>(), [](const auto& values) { return values; }, count, found);
  } else {
    declareOfVariable(
        task, criterion, field.parts<Cell>(), [c = field.component](const auto& values) { return values[c]; },
        count, found);
  }
}

}  // namespace tessera
