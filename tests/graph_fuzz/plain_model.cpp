#include "tests/graph_fuzz/plain_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/graph_fuzz/element.hpp"
#include "tests/graph_fuzz/kernel.hpp"

namespace tessera::fuzz {
namespace {

template <class Visit>
void forEachIndex(const Box& box, Visit&& visit) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
    }
  }
}

std::size_t position(const Box& box, Index x) {
  const Extent n = box.extent();
  return static_cast<std::size_t>(((x.k - box.lo.k) * n.j + x.j - box.lo.j) * n.i + x.i - box.lo.i);
}

}  // namespace

PlainModel::PlainModel(const FuzzCase& c) : case_(c) {
  for (LevelId level = 0; level <= c.finest(); ++level) {
    const Box cells = domainOf(c, level, Centering::Cell);
    covered_.emplace_back(static_cast<std::size_t>(cells.volume()), level == 0);
    if (level == 0) continue;
    for (const Box& box : c.refined[static_cast<std::size_t>(level) - 1].boxes) {
      forEachIndex(refine(box, ratioOf(c, level)),
                   [&](Index x) { covered_.back()[position(cells, x)] = true; });
    }
  }
  old_.assign(c.labels.size(), std::vector<Values>(static_cast<std::size_t>(c.finest()) + 1));
}

void PlainModel::run(int plan, std::int64_t step) {
  meaning_.emplace(case_, case_.plans[static_cast<std::size_t>(plan)]);
  step_ = step;
  versions_.clear();
  done_.clear();
  contributions_.clear();
  for (const TaskSpec& task : meaning_->plan()) {
    for (const LevelId level : meaning_->levelsOf(task)) evaluate(task, level);
  }
  for (auto& [where, versions] : versions_) {
    old_[static_cast<std::size_t>(where.first)][static_cast<std::size_t>(where.second)] = versions.back();
  }
}

void PlainModel::ensure(int label, LevelId level, std::int32_t version) {
  if (version >= 0) evaluate(*meaning_->chain(label, level)[static_cast<std::size_t>(version)], level);
}

void PlainModel::evaluate(const TaskSpec& task, LevelId level) {
  if (done_[{task.id, level}]) return;
  done_[{task.id, level}] = true;
  for (const ReadSpec& read : task.reads)
    ensure(read.label, levelRead(read, std::max(level, 0)), meaning_->versionOf(task, read, level));
  for (std::size_t w = 0; w < task.writes.size(); ++w) {
    const auto tasks = meaning_->chain(task.writes[w].label, level);
    const auto mine = std::find(tasks.begin(), tasks.end(), &task) - tasks.begin();
    ensure(task.writes[w].label, level, static_cast<std::int32_t>(mine) - 1);
    evaluateWrite(task, w, level);
  }
  contribute(task, level);
}

void PlainModel::evaluateWrite(const TaskSpec& task, std::size_t write, LevelId level) {
  const int label = task.writes[write].label;
  const Centering centering = case_.labels[static_cast<std::size_t>(label)].centering;
  const Box domain = domainOf(case_, level, centering);
  std::vector<Values>& versions = versions_[{label, level}];
  versions.reserve(meaning_->plan().size());
  Values made(static_cast<std::size_t>(domain.volume()), std::numeric_limits<double>::quiet_NaN());
  forEachIndex(domain, [&](Index x) {
    if (!exists(label, level, x)) return;
    std::int64_t salt = saltOfWrite(write, step_);
    if (task.writes[write].modifies) salt += reduced(std::llround(versions.back()[position(domain, x)]));
    made[position(domain, x)] =
        static_cast<double>(combine(case_, task, level, x, centering, salt, [&](std::size_t r, Index at) {
          return look(task, task.reads[r], level, at);
        }));
  });
  versions.push_back(std::move(made));
}

void PlainModel::contribute(const TaskSpec& task, LevelId level) {
  for (std::size_t n = 0; n < task.contributions.size(); ++n) {
    const auto give = [&](Index x) {
      const auto seen = [&](std::size_t r, Index at) { return look(task, task.reads[r], level, at); };
      const std::int64_t salt = saltOfContribution(n, step_);
      contributions_.push_back({task.contributions[n], task.oncePerRank,
                                combine(case_, task, std::max(level, 0), x, Centering::Cell, salt, seen)});
    };
    if (task.oncePerRank) {
      give({0, 0, 0});
      continue;
    }
    forEachIndex(domainOf(case_, level, Centering::Cell), [&](Index x) {
      if (covered(level, x)) give(x);
    });
  }
}

std::optional<std::int64_t> PlainModel::look(const TaskSpec& task, const ReadSpec& read, LevelId level,
                                             Index x) {
  const LevelId source = levelRead(read, std::max(level, 0));
  const bool gathered = read.reach == Reach::Finer || read.reach == Reach::WholeLevel;
  if (gathered && !exists(read.label, source, x)) return std::nullopt;
  const std::int32_t version = meaning_->versionOf(task, read, level);
  const int components = componentsOf(case_.labels[static_cast<std::size_t>(read.label)].type);
  if (components == 0) return reduced(std::llround(halo(read.label, 0, source, version, x)));
  double sum = 0.0;
  for (int c = 0; c < components; ++c) sum += weightOf(c) * halo(read.label, c, source, version, x);
  return reduced(std::llround(sum));
}

SideCondition PlainModel::conditionAt(int label, int component, int side, LevelId level, Index x) const {
  const LabelSpec& spec = case_.labels[static_cast<std::size_t>(label)];
  const auto part = partOf(spec, component);
  if (!part) return conditionOf(spec, component, side);
  const Extent cells = cellsOf(case_, level);
  Real3 p;
  for (int d = 0; d < kAxes; ++d) {
    const double width = case_.geometry.upper[d] - case_.geometry.lower[d];
    const double place = static_cast<double>(x[d]) + (onBorders(spec.centering, d) ? 0.0 : 0.5);
    p[d] = case_.geometry.lower[d] + place * width / static_cast<double>(cells[d]);
  }
  p[side / 2] = side % 2 == 1 ? case_.geometry.upper[side / 2] : case_.geometry.lower[side / 2];
  return (*part->within)(p.x, p.y, p.z, 0.0) != 0.0 ? *part : conditionOf(spec, component, side);
}

double PlainModel::halo(int label, int component, LevelId level, std::int32_t version, Index x) {
  const LabelSpec& spec = case_.labels[static_cast<std::size_t>(label)];
  const Box domain = domainOf(case_, level, spec.centering);
  const Extent cells = cellsOf(case_, level);
  for (int d = 0; d < kAxes; ++d) {
    if (case_.geometry.wraps(d)) x[d] = ((x[d] % cells[d]) + cells[d]) % cells[d];
  }
  // The condition of z holds over the halos of x and y as well, that of y over the halo of x.
  for (int d = kAxes - 1; d >= 0; --d) {
    const bool high = x[d] >= domain.hi[d];
    if (!high && x[d] >= domain.lo[d]) continue;
    const SideCondition condition = conditionAt(label, component, sideOf(d, high), level, x);
    const double given = condition.value(0, 0, 0, 0);
    if (condition.kind == BoundaryKind::Given) return given;
    const std::int64_t edge = high ? domain.hi[d] - 1 : domain.lo[d];
    Index inside = x;
    inside[d] = edge;
    if (condition.kind == BoundaryKind::Outflow) return halo(label, component, level, version, inside);
    inside[d] = 2 * edge - x[d] + (onBorders(spec.centering, d) ? 0 : high ? 1 : -1);
    const double value = halo(label, component, level, version, inside);
    if (condition.kind == BoundaryKind::Dirichlet) return 2.0 * given - value;
    return condition.kind == BoundaryKind::Reflect ? condition.sign * value : value;
  }
  if (!exists(label, level, x)) return below(label, component, level, version, x);
  const Values& values =
      version < 0 ? old(label, level) : versions_.at({label, level})[static_cast<std::size_t>(version)];
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return values[position(domain, x)] + offsetOf(component);
}

double PlainModel::below(int label, int component, LevelId level, std::int32_t version, Index x) {
  const std::int32_t coarse = meaning_->versionBelow(label, level, version);
  ensure(label, level - 1, coarse);
  const Index under = coarsen(x, ratioOf(case_, level));
  if (!exists(label, level - 1, under)) return std::numeric_limits<double>::quiet_NaN();
  const LabelSpec& spec = case_.labels[static_cast<std::size_t>(label)];
  if (spec.prolongation == Prolongation::Constant) return halo(label, component, level - 1, coarse, under);
  // Of the lines at the borders on both sides, each counts as much as it is near.
  const Extent ratio = ratioOf(case_, level);
  double value = 0.0;
  forEachIndex({under, under + Index{2, 2, 2}}, [&](Index corner) {
    double weight = 1.0;
    for (int d = 0; d < kAxes; ++d) {
      const bool between = bordersOn(case_, spec.centering, d) && ratio[d] > 1;
      const double above =
          between ? static_cast<double>(x[d] - under[d] * ratio[d]) / static_cast<double>(ratio[d]) : 0.0;
      weight *= corner[d] > under[d] ? above : 1.0 - above;
    }
    if (weight > 0.0) value += weight * onLine(label, component, level - 1, coarse, corner, x);
  });
  return value;
}

double PlainModel::onLine(int label, int component, LevelId coarser, std::int32_t version, Index under,
                          Index fine) {
  const LabelSpec& spec = case_.labels[static_cast<std::size_t>(label)];
  const bool limited = spec.prolongation == Prolongation::LimitedLinear;
  const Extent ratio = ratioOf(case_, coarser + 1);
  const auto at = [&](Index x) { return halo(label, component, coarser, version, x); };
  const double u = at(under);
  Halo around;
  double change = 0.0;
  double most = 0.0;
  for (int d = 0; d < kAxes; ++d) {
    if (ratio[d] == 1 || bordersOn(case_, spec.centering, d)) continue;
    around.lo[d] = around.hi[d] = 1;
    Index e;
    e[d] = 1;
    const double below = u - at(under - e);
    const double above = at(under + e) - u;
    double slope = 0.5 * (below + above);
    if (limited && below * above <= 0.0) slope = 0.0;
    if (limited)
      slope = std::copysign(std::min({std::abs(slope), 2.0 * std::abs(below), 2.0 * std::abs(above)}), slope);
    // In halves of a fine cell, from the centre of the coarse cell.
    const std::int64_t place = 2 * (fine[d] - under[d] * ratio[d]) + 1 - ratio[d];
    change += slope * static_cast<double>(place) / static_cast<double>(2 * ratio[d]);
    most += std::abs(slope) * static_cast<double>(ratio[d] - 1) / static_cast<double>(2 * ratio[d]);
  }
  if (!limited || most == 0.0) return u + change;
  double least = u;
  double largest = u;
  forEachIndex(grow({under, under + Index{1, 1, 1}}, around), [&](Index x) {
    least = std::min(least, at(x));
    largest = std::max(largest, at(x));
  });
  const double room = std::min(largest - u, u - least);
  return std::clamp(u + (most > room ? change * (room / most) : change), least, largest);
}

const PlainModel::Values& PlainModel::old(int label, LevelId level) const {
  return old_[static_cast<std::size_t>(label)][static_cast<std::size_t>(level)];
}

bool PlainModel::covered(LevelId level, Index cell) const {
  return covered_[static_cast<std::size_t>(level)][position(domainOf(case_, level, Centering::Cell), cell)];
}

bool PlainModel::exists(int label, LevelId level, Index x) const {
  const Centering centering = case_.labels[static_cast<std::size_t>(label)].centering;
  x = home(case_, level, x);
  if (!domainOf(case_, level, centering).contains(x)) return false;
  // It does if a cell beside it does.
  const Box cells{{}, cellsOf(case_, level)};
  Box beside{x, x + Index{1, 1, 1}};
  for (int d = 0; d < kAxes; ++d) beside.lo[d] -= bordersOn(case_, centering, d) ? 1 : 0;
  bool found = false;
  forEachIndex(beside, [&](Index at) {
    const Index cell = home(case_, level, at);
    found = found || (cells.contains(cell) && covered(level, cell));
  });
  return found;
}

std::optional<double> PlainModel::value(int label, LevelId level, Index x) const {
  const Values& values = old(label, level);
  if (values.empty()) return std::nullopt;
  return values[position(domainOf(case_, level, case_.labels[static_cast<std::size_t>(label)].centering),
                         home(case_, level, x))];
}

std::optional<double> PlainModel::reduction(int number, int ranks) const {
  std::optional<std::int64_t> result;
  for (const Contribution& c : contributions_) {
    if (c.reduction != number) continue;
    switch (case_.reductions[static_cast<std::size_t>(number)]) {
      case ReductionKind::Min:
        result = std::min(result.value_or(c.value), c.value);
        break;
      case ReductionKind::Max:
        result = std::max(result.value_or(c.value), c.value);
        break;
      case ReductionKind::Sum:
        result = result.value_or(0) + c.value * (c.oncePerRank ? ranks : 1);
        break;
    }
  }
  if (!result) return std::nullopt;
  return static_cast<double>(*result);
}

}  // namespace tessera::fuzz
