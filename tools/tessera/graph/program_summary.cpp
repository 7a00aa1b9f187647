#include "tools/tessera/graph/program_summary.hpp"

#include <set>
#include <sstream>
#include <type_traits>

#include "grid/search/box_tree.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {
namespace {

SolvedLevel levelOf(const Level& level, const RankMap& owners, Rank rank) {
  const GridBoxes grid = gridBoxes(level, owners, rank);
  SolvedLevel solved{level.number()};
  solved.boxes = static_cast<std::int64_t>(grid.own.size());
  const BoxTree tree(grid.boxes);
  Halo beside;
  for (int d = 0; d < kAxes; ++d) beside.lo[d] = beside.hi[d] = level.geometry().active(d) ? 1 : 0;
  std::set<Rank> ranks;
  for (const std::size_t own : grid.own) {
    solved.cells += grid.boxes[own].volume();
    for (const Index& step : grid.images()) {
      tree.visit(grid.boxes, shift(grow(grid.boxes[own], beside), step),
                 [&](std::size_t other) { ranks.insert(grid.owners[other]); });
    }
  }
  ranks.erase(rank);
  solved.neighbours = static_cast<std::int64_t>(ranks.size());
  return solved;
}

class ProgramWalk {
 public:
  ProgramWalk(const LabelTable& labels, const OwnedMesh& mesh, Rank rank)
      : labels_(labels), mesh_(mesh), rank_(rank) {}

  void add(const std::vector<ProgramItem>& items, int depth) {
    for (const ProgramItem& item : items) std::visit([&](const auto& what) { note(what, depth); }, item.what);
  }
  std::vector<ProgramStep> take() { return std::move(steps_); }

 private:
  void note(const RunItem& item, int depth) { steps_.push_back({"run " + item.plan, depth}); }
  void note(const CallItem& item, int depth) { steps_.push_back({"call " + item.name, depth}); }
  void note(const RequireItem& item, int depth) { steps_.push_back({"refuse where " + item.cause, depth}); }
  void note(const RepeatItem& item, int depth) {
    steps_.push_back({"repeat, " + std::to_string(item.most) + " times at most", depth});
    add(item.items, depth + 1);
  }
  void note(const SolveItem& item, int depth) {
    ProgramStep step{"solve " + item.name + " for " + labels_.info(item.system.solution.id).name, depth};
    for (const Level& level : mesh_.hierarchy->levels())
      step.solved.push_back(levelOf(level, mesh_.owners, rank_));
    steps_.push_back(std::move(step));
  }

  const LabelTable& labels_;
  const OwnedMesh& mesh_;
  const Rank rank_;
  std::vector<ProgramStep> steps_;
};

}  // namespace

std::vector<ProgramStep> summarise(const StepProgram& program, const LabelTable& labels,
                                   const OwnedMesh& mesh, Rank rank) {
  ProgramWalk walk(labels, mesh, rank);
  walk.add(program.items(), 0);
  return walk.take();
}

std::string asText(const std::string& program, const std::vector<ProgramStep>& steps) {
  std::ostringstream out;
  out << "program " << program << ", item by item\n";
  for (const ProgramStep& step : steps) {
    const std::string indent(static_cast<std::size_t>(2 * step.depth + 2), ' ');
    out << indent << step.text << "\n";
    for (const SolvedLevel& level : step.solved) {
      out << indent << "  level " << level.level << ": " << level.cells << " cells in " << level.boxes
          << (level.boxes == 1 ? " box" : " boxes") << ", beside those of " << level.neighbours
          << (level.neighbours == 1 ? " other rank" : " other ranks") << "\n";
    }
  }
  return out.str();
}

}  // namespace tessera
