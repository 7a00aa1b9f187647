#include "scheduler/solvers/composite/composite_rows.hpp"

#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"
#include "grid/beyond_level.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"

namespace tessera {
namespace {

/// 1 at one cell, and 0 elsewhere: linear functions tell their coefficients with it.
struct OneAt {
  Index at;
  double operator()(Index x) const { return x == at ? 1.0 : 0.0; }
};
constexpr Index kNowhere{std::numeric_limits<std::int64_t>::min(), 0, 0};

}  // namespace

CompositeRows::CompositeRows(SolverSystem& system, CompositeOperator& composite, const RowNumbers& rows)
    : system_(system), composite_(composite), rows_(rows), fineFaces_(system.levels.size()) {
  double weight = 1.0;
  for (std::size_t n = 0; n < system.levels.size(); ++n) {
    if (n > 0) {
      weight /= composite.below(n).refinement().cellsInOne();
      takeFineFaces(n);
    }
    weights_.push_back(weight);
  }
}

void CompositeRows::takeFineFaces(std::size_t fine) {
  std::vector<FineFace>& faces = fineFaces_[fine - 1];
  const GridBoxes& coarse = system_.levels[fine - 1]->boxes;
  for (const CoarseFine::FineFace& face : composite_.below(fine).fineFaces(
           coarse, system_.levels[fine]->system.matrix, composite_.cells(fine))) {
    if (face.conducts == 0.0) continue;
    const std::size_t box = coarse.own[face.box];
    faces.push_back({rows_.firstOfBox(fine - 1, box) + placeIn(coarse.boxes[box], face.cell), face});
  }
  std::stable_sort(faces.begin(), faces.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
}

std::span<const CompositeRows::Entry> CompositeRows::entriesOf(std::size_t level, std::size_t box, Index x) {
  SystemLevel& of = *system_.levels[level];
  const GridBoxes& grid = of.boxes;
  const Box& own = grid.boxes[grid.own[box]];
  const std::int64_t first = rows_.firstOfBox(level, grid.own[box]);
  const std::int64_t row = first + placeIn(own, x);
  entries_.clear();
  if (of.weights.field(box)(x) == 0.0 || composite_.cells(level).field(box)(x) == 0.0) {
    entries_.push_back({row, 1.0});
  } else {
    const StencilFields A = of.system.matrix.fields(box);
    entries_.push_back({row, A.diagonal(x)});
    const std::array<std::array<double, 2>, kAxes> conducts{
        {{A.kx(x), A.belowX(x + ex)}, {A.ky(x), A.belowY(x + ey)}, {A.kz(x), A.belowZ(x + ez)}}};
    for (int axis = 0; axis < kAxes; ++axis) {
      for (const bool high : {false, true}) {
        const double k = conducts[static_cast<std::size_t>(axis)][high ? 1 : 0];
        const Index out = high ? unit(axis) : Index{} - unit(axis);
        const Index y = x + out;
        if (k == 0.0) continue;
        if (own.contains(y)) {
          entries_.push_back({first + placeIn(own, y), -k});
        } else if (grid.wraps[static_cast<std::size_t>(axis)] || grid.domain.contains(y)) {
          if (const auto other = rows_.find(level, y)) {
            entries_.push_back({*other, -k});
          } else {
            const Index in = Index{} - out;
            addBeyond(level, y, axis, in, -k,
                      composite_.below(level).cellsBeyond(box, y, axis, in, composite_.cells(level)));
          }
        }
      }
    }
    addFineFaces(level, row);
  }
  join();
  for (Entry& entry : entries_) entry.number *= weights_[level];
  return entries_;
}

void CompositeRows::addFineFaces(std::size_t level, std::int64_t row) {
  const std::vector<FineFace>& faces = fineFaces_[level];
  auto face = std::lower_bound(faces.begin(), faces.end(), row,
                               [](const FineFace& one, std::int64_t r) { return one.row < r; });
  for (; face != faces.end() && face->row == row; ++face) {
    const CoarseFine::FineFace& of = face->face;
    const double factor = of.conducts / composite_.below(level + 1).refinement().cellsInOne();
    addBeyond(level + 1, of.beyond, of.axis, of.in, factor, of.cells);
    addCell(level + 1, of.beyond + of.in, -factor);
  }
}

void CompositeRows::addBeyond(std::size_t level, Index x, int axis, Index in, double factor,
                              const CellsBeyond& cells) {
  const Refinement& r = composite_.below(level).refinement();
  const auto partOf = [&](Index coarse, Index fine) {
    return BeyondLevel<OneAt, OneAt, CellsBeyond>{{coarse}, {fine}, r, axis, in, cells}(x);
  };
  const auto addCoarse = [&](Index cell) {
    const double part = partOf(cell, kNowhere);
    if (part != 0.0) addCell(level - 1, cell, factor * part);
  };
  const Index at = r.parent(x);
  addCoarse(at);
  for (int t = 0; t < kAxes; ++t) {
    if (t == axis) continue;
    addCoarse(at - unit(t));
    addCoarse(at + unit(t));
  }
  for (const Index& fine : {x + in, x + in + in}) {
    const double part = partOf(kNowhere, fine);
    if (part != 0.0) addCell(level, fine, factor * part);
  }
}

void CompositeRows::addCell(std::size_t level, Index x, double factor) {
  if (level + 1 < system_.levels.size()) {
    const Refinement& r = composite_.below(level + 1).refinement();
    const Index first = r.first(x);
    if (rows_.find(level + 1, first)) {
      const Box finer{first, first + r.ratio};
      detail::forEachInOrder(finer, [&](Index y) { addCell(level + 1, y, factor / r.cellsInOne()); });
      return;
    }
  }
  const std::optional<std::int64_t> row = rows_.find(level, x);
  TESSERA_EXPECT(row.has_value(), "have each level in the next coarser one");
  entries_.push_back({*row, factor});
}

/// Entries of one column become one.
void CompositeRows::join() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.column < b.column; });
  std::size_t last = 0;
  for (std::size_t n = 1; n < entries_.size(); ++n) {
    if (entries_[n].column == entries_[last].column) {
      entries_[last].number += entries_[n].number;
    } else {
      entries_[++last] = entries_[n];
    }
  }
  entries_.resize(last + 1);
}

}  // namespace tessera
