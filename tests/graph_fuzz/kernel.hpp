#pragma once

#include <optional>

#include "grid/refine.hpp"
#include "tests/graph_fuzz/fuzz_case.hpp"

// What the random tasks compute. The same function serves the bodies that run on patches and the plain model;
// they differ in where a read looks.
namespace tessera::fuzz {

/// Values are 0 .. kModulus - 1: exact in float, and so are their multiples here.
inline constexpr std::int64_t kModulus = 8191;

inline std::int64_t reduced(std::int64_t x) { return ((x % kModulus) + kModulus) % kModulus; }
inline std::int64_t mixed(std::int64_t value, std::int64_t next) { return reduced(value * 31 + next + 17); }

/// Cells of a level along each axis.
inline Extent cellsOf(const FuzzCase& c, LevelId level) {
  Extent n = c.geometry.cells;
  for (LevelId l = 0; l < level; ++l) {
    for (int d = 0; d < kAxes; ++d)
      n[d] *= c.geometry.active(d) ? c.refined[static_cast<std::size_t>(l)].ratio : 1;
  }
  return n;
}

/// Of a level to the next coarser one.
inline Extent ratioOf(const FuzzCase& c, LevelId level) {
  Extent ratio{1, 1, 1};
  if (level == 0) return ratio;
  for (int d = 0; d < kAxes; ++d) {
    if (c.geometry.active(d)) ratio[d] = c.refined[static_cast<std::size_t>(level) - 1].ratio;
  }
  return ratio;
}

/// Indices of a centering that a level could have.
inline Box domainOf(const FuzzCase& c, LevelId level, Centering centering) {
  Box box{{}, cellsOf(c, level)};
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && c.geometry.active(d) && !c.geometry.wraps(d)) ++box.hi[d];
  }
  return box;
}

inline LevelId levelRead(const ReadSpec& read, LevelId level) {
  switch (read.reach) {
    case Reach::Patch:
      break;
    case Reach::Coarser:
      return level - 1;
    case Reach::Finer:
      return level + 1;
    case Reach::WholeLevel:
      return read.level >= 0 ? read.level : level;
  }
  return level;
}

/// Calls `visit` for around + o for each o with o[d] one of -lo[d], 0, hi[d] (each once).
template <class Visit>
void forEachCorner(const FuzzCase& c, Index around, const Halo& halo, Visit&& visit) {
  std::array<std::vector<std::int64_t>, kAxes> at;
  for (int d = 0; d < kAxes; ++d) {
    auto& list = at[static_cast<std::size_t>(d)];
    list.push_back(around[d]);
    if (!c.geometry.hasHalo(d)) continue;
    if (halo.lo[d] > 0) list.push_back(around[d] - halo.lo[d]);
    if (halo.hi[d] > 0) list.push_back(around[d] + halo.hi[d]);
  }
  for (const std::int64_t k : at[2]) {
    for (const std::int64_t j : at[1]) {
      for (const std::int64_t i : at[0]) visit(Index{i, j, k});
    }
  }
}

/// The indices that a task on `level` reads when it computes index x of `centering`; all of them are
/// declared.
template <class Visit>
void forEachRead(const FuzzCase& c, const TaskSpec& task, const ReadSpec& read, LevelId level, Index x,
                 Centering centering, Visit&& visit) {
  const Centering readCentering = c.labels[static_cast<std::size_t>(read.label)].centering;
  const Extent cells = cellsOf(c, std::max(level, 0));
  Index cell = x;  // the upper border of the domain belongs to the last cell
  for (int d = 0; d < kAxes; ++d) cell[d] = std::min(cell[d], cells[d] - 1);
  switch (read.reach) {
    case Reach::Patch:
      if (readCentering == centering && !(cell == x)) visit(x);
      forEachCorner(c, cell, read.halo, visit);
      break;
    case Reach::Coarser:
      forEachCorner(c, coarsen(cell, ratioOf(c, level)), read.halo, visit);
      break;
    case Reach::Finer: {
      if (!(cell == x)) return;
      const Box over = refine(Box{cell, cell + Index{1, 1, 1}}, ratioOf(c, level + 1));
      visit(over.lo);
      visit(over.hi - Index{1, 1, 1});
      break;
    }
    case Reach::WholeLevel: {
      const Extent n = domainOf(c, levelRead(read, level), readCentering).extent();
      for (int k = 0; k < 2; ++k) {
        Index at;
        for (int d = 0; d < kAxes; ++d) at[d] = (3 * x[d] + 5 * task.id + 7 * k + d) % n[d];
        visit(at);
      }
      break;
    }
  }
}

/// The value of index x: `salt` and what `look(number of the read, index)` finds, which is empty where a
/// gathered level has no such index.
template <class Look>
std::int64_t combine(const FuzzCase& c, const TaskSpec& task, LevelId level, Index x, Centering centering,
                     std::int64_t salt, Look&& look) {
  std::int64_t value = mixed(reduced(salt), x.i + 100 * x.j + 1000 * x.k + 3000 * level + 7 * task.id);
  for (std::size_t r = 0; r < task.reads.size(); ++r) {
    forEachRead(c, task, task.reads[r], level, x, centering, [&](Index at) {
      const std::optional<std::int64_t> found = look(r, at);
      value = mixed(value, found ? *found : 1);
    });
  }
  return value;
}

/// Starting values of what one task computes in one step, so that no two of its results agree by chance.
inline std::int64_t saltOfWrite(std::size_t write, std::int64_t step) {
  return 11 * step + 101 * static_cast<std::int64_t>(write) + 5;
}
inline std::int64_t saltOfContribution(std::size_t n, std::int64_t step) {
  return 13 * step + 211 * static_cast<std::int64_t>(n) + 3;
}

}  // namespace tessera::fuzz
