#include "tests/graph_fuzz/shrink_case.hpp"

#include <algorithm>

namespace tessera::fuzz {
namespace {

/// Collects variants of one case.
class Smaller {
 public:
  explicit Smaller(const FuzzCase& c) : case_(c) {}

  std::vector<FuzzCase> all() {
    shapes();
    plans();
    levels();
    tasks();
    cells();
    labels();
    return std::move(found_);
  }

 private:
  /// Adds the case after `change`, unless that returns false.
  template <class Change>
  void add(Change&& change) {
    FuzzCase c = case_;
    if (change(c)) found_.push_back(std::move(c));
  }
  template <class T>
  static void erase(std::vector<T>& list, std::size_t n) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(n));
  }

  void shapes() {
    for (std::size_t n = 0; n < case_.shapes.size(); ++n) {
      add([&](FuzzCase& c) { return erase(c.shapes, n), !c.shapes.empty(); });
      for (const int ranks : {1, case_.shapes[n].ranks / 2, case_.shapes[n].ranks - 1}) {
        add([&](FuzzCase& c) {
          const bool less = ranks >= 1 && ranks < c.shapes[n].ranks;
          c.shapes[n].ranks = ranks;
          return less;
        });
      }
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].threads, 0) > 0; });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].delays, false); });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].regrids, c.shapes[n].regrids / 2) > 0; });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].cuts, c.shapes[n].cuts - 1) > 0; });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].checked, false); });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].reuse, false); });
      add([&](FuzzCase& c) { return std::exchange(c.shapes[n].scratch, false); });
    }
  }

  void plans() {
    for (std::size_t s = 0; s < case_.steps.size(); ++s) {
      add([&](FuzzCase& c) { return erase(c.steps, s), true; });
    }
    for (std::size_t p = 1; p < case_.plans.size(); ++p) {
      add([&](FuzzCase& c) {
        erase(c.plans, p);
        std::erase(c.steps, static_cast<int>(p));
        for (int& plan : c.steps) plan -= plan > static_cast<int>(p) ? 1 : 0;
        return true;
      });
    }
  }

  void levels() {
    if (!case_.refined.empty()) add([](FuzzCase& c) { return c.refined.pop_back(), true; });
    for (std::size_t l = 0; l < case_.refined.size(); ++l) {
      for (std::size_t b = 0; b < case_.refined[l].boxes.size(); ++b) {
        add([&](FuzzCase& c) { return erase(c.refined[l].boxes, b), !c.refined[l].boxes.empty(); });
        for (int d = 0; d < kAxes; ++d) {
          add([&](FuzzCase& c) { return --c.refined[l].boxes[b].hi[d] > c.refined[l].boxes[b].lo[d]; });
          add([&](FuzzCase& c) { return ++c.refined[l].boxes[b].lo[d] < c.refined[l].boxes[b].hi[d]; });
        }
      }
      add([&](FuzzCase& c) { return std::exchange(c.refined[l].ratio, 2) > 2; });
      add([&](FuzzCase& c) {
        return !(std::exchange(c.refined[l].patchSize, {64, 64, 64}) == Extent{64, 64, 64});
      });
    }
  }

  void tasks() {
    for (std::size_t p = 0; p < case_.plans.size(); ++p) {
      for (std::size_t t = 0; t < case_.plans[p].size(); ++t) {
        add([&](FuzzCase& c) {
          const int id = c.plans[p][t].id;
          erase(c.plans[p], t);
          for (TaskSpec& task : c.plans[p]) forget(task, id);
          return true;
        });
        parts(p, t);
      }
    }
  }

  /// No clause of the task names `id` any more.
  static void forget(TaskSpec& task, int id) {
    for (ReadSpec& read : task.reads) read.from = read.from == id ? -1 : read.from;
    for (WriteSpec& write : task.writes) write.from = write.from == id ? -1 : write.from;
  }

  void parts(std::size_t p, std::size_t t) {
    const TaskSpec& task = case_.plans[p][t];
    for (std::size_t r = 0; r < task.reads.size(); ++r) {
      add([&](FuzzCase& c) { return erase(c.plans[p][t].reads, r), true; });
      add([&](FuzzCase& c) { return std::exchange(c.plans[p][t].reads[r].from, -1) >= 0; });
      add([&](FuzzCase& c) { return !std::exchange(c.plans[p][t].reads[r].halo, Halo{}).isZero(); });
      for (int d = 0; d < kAxes && task.reads[r].reach == Reach::Patch; ++d) {
        add([&](FuzzCase& c) { return --c.plans[p][t].reads[r].halo.lo[d] >= 0; });
        add([&](FuzzCase& c) { return --c.plans[p][t].reads[r].halo.hi[d] >= 0; });
      }
    }
    for (std::size_t w = 0; w < task.writes.size(); ++w) {
      add([&](FuzzCase& c) { return erase(c.plans[p][t].writes, w), true; });
      add([&](FuzzCase& c) {
        c.plans[p][t].writes[w].from = -1;
        return std::exchange(c.plans[p][t].writes[w].modifies, false);
      });
    }
    for (std::size_t n = 0; n < task.contributions.size(); ++n) {
      add([&](FuzzCase& c) { return erase(c.plans[p][t].contributions, n), true; });
    }
    add([&](FuzzCase& c) {
      return std::exchange(c.plans[p][t].place, static_cast<int>(t)) != static_cast<int>(t);
    });
    add([&](FuzzCase& c) {
      return std::exchange(c.plans[p][t].levels, LevelSelection{}).kind != LevelSelection::Kind::All;
    });
  }

  void cells() {
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t n = case_.geometry.cells[d];
      for (const std::int64_t fewer : {std::int64_t{1}, n / 2, n - 1}) {
        add([&](FuzzCase& c) {
          c.geometry.cells[d] = fewer;
          c.division.value[d] = std::min(c.division.value[d], fewer);
          for (RefinedLevel& level : c.refined) {
            if (fewer > 1) continue;
            level.patchSize[d] = 1;
            for (Box& box : level.boxes) {
              box.lo[d] = 0;
              box.hi[d] = 1;
            }
          }
          return fewer >= 1 && fewer < n;
        });
      }
      add([&](FuzzCase& c) {
        return std::exchange(c.geometry.periodic[static_cast<std::size_t>(d)], false);
      });
      add([&](FuzzCase& c) {
        const bool count = c.division.by == Division::By::Patches;
        const std::int64_t one = count ? 1 : c.geometry.cells[d];
        return std::exchange(c.division.value[d], one) != one;
      });
    }
  }

  void labels() {
    for (std::size_t n = 0; n < case_.labels.size(); ++n) {
      add([&](FuzzCase& c) {
        c.labels[n].components.clear();
        return std::exchange(c.labels[n].type, NumberType::Double) != NumberType::Double;
      });
      add([&](FuzzCase& c) {
        std::vector<ComponentSpec> plain(c.labels[n].components.size());
        for (ComponentSpec& component : plain) component.conditions.fill(BoundaryKind::Outflow);
        return std::exchange(c.labels[n].components, plain) != plain;
      });
      add([&](FuzzCase& c) { return !std::exchange(c.labels[n].kept, true); });
      add([&](FuzzCase& c) {
        return std::exchange(c.labels[n].prolongation, Prolongation::Constant) != Prolongation::Constant;
      });
      add([&](FuzzCase& c) {
        return std::exchange(c.labels[n].centering, Centering::Cell) != Centering::Cell;
      });
      add([&](FuzzCase& c) {
        std::array<BoundaryKind, kSides> plain;
        plain.fill(BoundaryKind::Outflow);
        return std::exchange(c.labels[n].conditions, plain) != plain;
      });
    }
  }

  const FuzzCase& case_;
  std::vector<FuzzCase> found_;
};

std::string nameOf(const Outcome& outcome) { return outcome.text.substr(0, outcome.text.find(':')); }

}  // namespace

std::vector<FuzzCase> smallerCases(const FuzzCase& c) { return Smaller(c).all(); }

Shrunk shrink(const FuzzCase& c, const Outcome& outcome, std::int64_t tries,
              const std::function<Outcome(const FuzzCase&)>& check) {
  Shrunk best{c, outcome, {}};
  for (bool progress = true; progress && tries > 0;) {
    progress = false;
    const std::vector<FuzzCase> smaller = smallerCases(best.least);
    for (std::size_t n = 0; n < smaller.size() && !progress && tries > 0; ++n, --tries) {
      const Outcome next = check(smaller[n]);
      if (next.kind != Outcome::Kind::Failed || nameOf(next) != nameOf(outcome)) continue;
      best.least = smaller[n];
      best.outcome = next;
      best.path.push_back(n);
      progress = true;
    }
  }
  return best;
}

FuzzCase follow(const FuzzCase& c, const std::vector<std::size_t>& path) {
  FuzzCase at = c;
  for (const std::size_t step : path) at = smallerCases(at).at(step);
  return at;
}

}  // namespace tessera::fuzz
