#include "tools/simulation/regrid/new_cells.hpp"

#include <algorithm>
#include <type_traits>

#include "datawarehouse/moves/interpolation.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/analysis/analysis_tasks.hpp"

namespace tessera {
namespace {

/// The coarse numbers around one, of which its finer cells are interpolated.
struct Surroundings {
  double values[27];  // NOLINT: interpolation takes addresses

  template <class Field>
  Surroundings(const Field& coarse, Index x, const Geometry& geometry) {
    for (int n = 0; n < 27; ++n) {
      Index at{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      for (int d = 0; d < kAxes; ++d) at[d] = geometry.active(d) ? at[d] : 0;
      values[n] = coarse(x + at);
    }
  }

  detail::FinePlace place(Index fine, Index coarse, Extent ratio) const {
    detail::FinePlace place;
    place.at = reinterpret_cast<const std::byte*>(&values[13]);
    std::int64_t step = sizeof(double);
    for (int d = 0; d < kAxes; ++d, step *= 3) {
      place.step[d] = step;
      place.ratio[d] = static_cast<std::uint16_t>(ratio[d]);
      place.fromBelow[d] = static_cast<std::uint16_t>(fine[d] - coarse[d] * ratio[d]);
    }
    return place;
  }
};

template <class Task, class From, class Coarse, class To>
void carryComponent(const Task& task, const std::vector<Box>& fresh, Prolongation prolongation,
                    const From& from, const Coarse& coarse, const To& to) {
  const Extent ratio = task.level().ratioToCoarser();
  const auto isFresh = [&](Index x) {
    return std::any_of(fresh.begin(), fresh.end(), [&](const Box& box) { return box.contains(x); });
  };
  forEachCell(coarsen(task.interior(), ratio), [&](Index below) {
    const Box finer = intersect(refine(Box{below, below + Index{1, 1, 1}}, ratio), task.interior());
    if (!isFresh(finer.lo)) {
      forEachCell(finer, [&](Index x) { to(x) = from(x); });
    } else if (prolongation == Prolongation::Constant) {
      forEachCell(finer, [&](Index x) { to(x) = coarse(below); });
    } else {
      const Surroundings around(coarse, below, task.geometry());
      forEachCell(finer, [&](Index x) {
        to(x) = detail::interpolated<double>(around.place(x, below, ratio),
                                             prolongation == Prolongation::LimitedLinear);
      });
    }
  });
}

template <class LabelType>
void declareCarry(StepPlan& plan, const std::string& name, LabelType label, Prolongation prolongation,
                  std::shared_ptr<const NewCells> cells) {
  constexpr bool kApart = std::is_same_v<LabelType, Label<Components<double>, Cell>>;
  plan.task("Regrid::keep " + name)
      .on(LevelId{0})
      .reads(Old, label)
      .writes(label)
      .withoutDt()
      .template runs<Cpu>([label](const auto& task) {
        const auto from = task.read(Old, label);
        const auto to = task.write(label);
        if constexpr (kApart) {
          for (std::int32_t c = 0; c < to.count(); ++c)
            forEachCell(task.interior(), [&](Index x) { to[c](x) = from[c](x); });
        } else {
          forEachCell(task.interior(), [&](Index x) { to(x) = from(x); });
        }
      });
  plan.task("Regrid::carry " + name)
      .on(allButCoarsest())
      .reads(Old, label)
      .reads(New, label, fromCoarser(1))
      .writes(label)
      .withoutDt()
      .template runs<Cpu>([label, prolongation, cells](const auto& task) {
        const auto from = task.read(Old, label);
        const auto coarse = task.readCoarser(New, label);
        const auto to = task.write(label);
        const std::vector<Box>& fresh = cells->of(label.id, task.patch().id);
        if constexpr (kApart) {
          for (std::int32_t c = 0; c < to.count(); ++c)
            carryComponent(task, fresh, prolongation, from[c], coarse[c], to[c]);
        } else {
          carryComponent(task, fresh, prolongation, from, coarse, to);
        }
      });
}

}  // namespace

void NewCells::take(const MigrationPlan& plan) {
  boxes_.clear();
  for (const MigrationPiece& piece : plan.fresh) boxes_[{piece.label, piece.to}].push_back(piece.box);
}

const std::vector<Box>& NewCells::of(LabelId label, PatchId patch) const {
  static const std::vector<Box> kNone;
  const auto found = boxes_.find({label, patch});
  return found == boxes_.end() ? kNone : found->second;
}

void carry(StepPlan& plan, const std::string& name, Label<double, Cell> label, Prolongation prolongation,
           std::shared_ptr<const NewCells> cells) {
  declareCarry(plan, name, label, prolongation, std::move(cells));
}

void carry(StepPlan& plan, const std::string& name, Label<Components<double>, Cell> label,
           Prolongation prolongation, std::shared_ptr<const NewCells> cells) {
  declareCarry(plan, name, label, prolongation, std::move(cells));
}

}  // namespace tessera
