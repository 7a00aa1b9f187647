#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tests/graph_fuzz/plan_meaning.hpp"

namespace tessera::fuzz {

/// The meaning of the plans, evaluated directly: one array for each (label, level, version), without patches,
/// ranks, messages or copies of halos. A halo value is found where it is asked for: across a period, by the
/// condition of a side, or on the coarser level.
class PlainModel {
 public:
  explicit PlainModel(const FuzzCase& c);

  /// Runs a plan; its last versions become Old.
  void run(int plan, std::int64_t step);

  /// Old value of an index that exists on the level; empty where nobody has written the label there.
  std::optional<double> value(int label, LevelId level, Index x) const;
  bool exists(int label, LevelId level, Index x) const;
  /// Of the plan that ran last, on so many ranks; by reduction, empty where nobody contributed.
  std::optional<double> reduction(int number, int ranks) const;

 private:
  /// Values on domainOf(...), x fastest; empty: nobody has written.
  using Values = std::vector<double>;
  struct Contribution {
    int reduction = 0;
    bool oncePerRank = false;
    std::int64_t value = 0;
  };

  const Values& old(int label, LevelId level) const;
  void ensure(int label, LevelId level, std::int32_t version);
  void evaluate(const TaskSpec& task, LevelId level);
  void evaluateWrite(const TaskSpec& task, std::size_t write, LevelId level);
  void contribute(const TaskSpec& task, LevelId level);
  std::optional<std::int64_t> look(const TaskSpec& task, const ReadSpec& read, LevelId level, Index x);
  double halo(int label, int component, LevelId level, std::int32_t version, Index x);
  double below(int label, int component, LevelId level, std::int32_t version, Index x);
  /// What a straight line through a coarse index and its neighbours says at a fine one.
  double onLine(int label, int component, LevelId coarser, std::int32_t version, Index under, Index fine);
  /// What holds at an index beyond a side.
  SideCondition conditionAt(int label, int component, int side, LevelId level, Index x) const;
  bool covered(LevelId level, Index cell) const;
  std::size_t at(int label, LevelId level, Index x) const;

  const FuzzCase& case_;
  std::vector<std::vector<Values>> old_;    ///< by label, level
  std::vector<std::vector<bool>> covered_;  ///< by level, cell
  std::optional<PlanMeaning> meaning_;      ///< of the plan that runs
  std::int64_t step_ = 0;
  std::map<std::pair<int, LevelId>, std::vector<Values>> versions_;
  std::map<std::pair<int, LevelId>, bool> done_;  ///< by task id and level
  std::vector<Contribution> contributions_;
};

}  // namespace tessera::fuzz
