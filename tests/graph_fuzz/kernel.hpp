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

/// The index itself, of the images across a period the first one: what is computed may depend on it, and has
/// two names where a border at the end of the domain wraps.
inline Index home(const FuzzCase& c, LevelId level, Index x) {
  const Extent n = cellsOf(c, level);
  for (int d = 0; d < kAxes; ++d) {
    if (c.geometry.wraps(d)) x[d] = ((x[d] % n[d]) + n[d]) % n[d];
  }
  return x;
}

/// Whether indices of a centering are borders of cells along an axis.
inline bool bordersOn(const FuzzCase& c, Centering centering, int axis) {
  return onBorders(centering, axis) && c.geometry.hasHalo(axis);
}

/// Whether a read of the patch's own level goes beyond what the patch stores itself.
inline bool needsFill(const FuzzCase& c, const ReadSpec& read) {
  const Centering centering = c.labels[static_cast<std::size_t>(read.label)].centering;
  bool needs = false;
  for (int d = 0; d < kAxes; ++d) {
    const bool border = bordersOn(c, centering, d) && read.halo.hi[d] == 1;
    needs = needs || read.halo.lo[d] > 0 || (read.halo.hi[d] > 0 && !border);
  }
  return read.reach == Reach::Patch && needs;
}

using Places = std::array<std::vector<std::int64_t>, kAxes>;

template <class Visit>
void forEachPlace(const Places& at, Visit&& visit) {
  for (const std::int64_t k : at[2]) {
    for (const std::int64_t j : at[1]) {
      for (const std::int64_t i : at[0]) visit(Index{i, j, k});
    }
  }
}

/// What lies furthest around a cell: its own index, and what the halo reaches, with the upper border of the
/// cell. Of a border, both of whose cells compute it, what the halos of both reach: cells above[d] and
/// below[d] of the level that is read are the cells of the two sides, the same one where x is no border.
inline Places placesAround(const FuzzCase& c, Index above, Index below, Centering computed, Centering read,
                           const Halo& halo) {
  Places at;
  for (int d = 0; d < kAxes; ++d) {
    auto& list = at[static_cast<std::size_t>(d)];
    const bool readsBorders = bordersOn(c, read, d);
    const std::int64_t lo = c.geometry.hasHalo(d) ? halo.lo[d] : 0;
    const std::int64_t hi = c.geometry.hasHalo(d) ? halo.hi[d] : 0;
    if (!bordersOn(c, computed, d)) {
      list.push_back(above[d]);
      if (lo > 0) list.push_back(above[d] - lo);
      if (hi > 0) list.push_back(above[d] + hi);
      if (readsBorders && hi != 1) list.push_back(above[d] + 1);
      continue;
    }
    if (readsBorders) {
      list.push_back(above[d]);
      if (lo > 0) list.push_back(above[d] - lo);
      if (hi > 0) list.push_back(below[d] + hi);
    } else if (above[d] - lo <= below[d] + hi) {
      list = {above[d] - lo, below[d] + hi};
    }
  }
  return at;
}

/// The indices that a task on `level` reads when it computes index x of `centering`; all of them are
/// declared. Both patches beside a border read the same ones.
template <class Visit>
void forEachRead(const FuzzCase& c, const TaskSpec& task, const ReadSpec& read, LevelId level, Index x,
                 Centering centering, Visit&& visit) {
  const Centering readCentering = c.labels[static_cast<std::size_t>(read.label)].centering;
  Index below = x;  // the cells on both sides of a border
  for (int d = 0; d < kAxes; ++d) below[d] -= bordersOn(c, centering, d) ? 1 : 0;
  switch (read.reach) {
    case Reach::Patch:
      forEachPlace(placesAround(c, x, below, centering, readCentering, read.halo), visit);
      break;
    case Reach::Coarser: {
      const Extent ratio = ratioOf(c, level);
      forEachPlace(
          placesAround(c, coarsen(x, ratio), coarsen(below, ratio), centering, readCentering, read.halo),
          visit);
      break;
    }
    case Reach::Finer: {
      const Extent ratio = ratioOf(c, level + 1);
      Places at;
      for (int d = 0; d < kAxes; ++d) {
        auto& list = at[static_cast<std::size_t>(d)];
        const bool readsBorders = bordersOn(c, readCentering, d);
        if (!bordersOn(c, centering, d)) {
          list = {x[d] * ratio[d], x[d] * ratio[d] + ratio[d] - (readsBorders ? 0 : 1)};
        } else if (readsBorders) {
          list = {x[d] * ratio[d]};
        }
      }
      forEachPlace(at, visit);
      break;
    }
    case Reach::WholeLevel: {
      const Extent n = domainOf(c, levelRead(read, level), readCentering).extent();
      const Index first = home(c, std::max(level, 0), x);
      for (int k = 0; k < 2; ++k) {
        Index at;
        for (int d = 0; d < kAxes; ++d) at[d] = (3 * first[d] + 5 * task.id + 7 * k + d) % n[d];
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
  const Index name = home(c, level, x);
  std::int64_t value =
      mixed(reduced(salt), name.i + 100 * name.j + 1000 * name.k + 3000 * level + 7 * task.id);
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
