#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "grid/hierarchy.hpp"
#include "scheduler/device/device_options.hpp"
#include "scheduler/device/memory/device_paging_counts.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/components/other_mesh.hpp"
#include "tests/for_each_index.hpp"
#include "tools/simulation/balance/load_balance.hpp"
#include "tools/simulation/program/solve_book.hpp"
#include "tools/simulation/regrid/regridding.hpp"

namespace tessera::test {

/// One variable over the whole level, by index and not by patch, so that two runs compare whatever their
/// layouts.
struct WholeField {
  Box box;  ///< all indices of its centering
  std::vector<double> values;

  double operator()(Index x) const;
};

/// What a run leaves.
struct Outcome {
  /// Every variable that lives from step to step, or each component of it, by its name, and from level 1 on
  /// "name on level 1"; 0 where the level has no patch.
  std::map<std::string, WholeField> fields;
  std::map<std::string, double> start;  ///< columns of the history before the first step
  std::map<std::string, double> end;    ///< and after the last
  std::map<std::string, std::vector<double>>
      history;  ///< with `keepHistory`: "time" and these after each step
  std::int64_t steps = 0;
  double time = 0.0;
  double dt = 0.0;            ///< of the last step
  StepStatistics statistics;  ///< of one of the ranks
  SolveTotals solves;         ///< likewise, of all linear solves
  DevicePagingCounts paging;  ///< of all ranks
  std::int64_t adoptions = 0;
  RegridCounts regrids;         ///< of one of the ranks
  std::int64_t rebalances = 0;  ///< times that patches went to other ranks, adoptions apart
};

/// Empty where all fields and columns have the same bits, else a sentence that names the first difference.
std::string firstDifference(const Outcome& expected, const Outcome& actual);
/// Between numbers of all fields, which are those of one mesh.
double largestDifference(const Outcome& a, const Outcome& b);

/// One run of a deck, on ranks inside this process; the fluent part of a test.
///
///   Outcome o = simulate("heat/hot_spot").set("grid.cells=[8,8,8]").ranks(4).threads(2).patches({2, 2,
///   1}).run(10);
class Simulate {
 public:
  explicit Simulate(Deck deck) : deck_(std::move(deck)) {}

  Simulate& set(std::string_view assignment);  ///< as --set of the command line
  Simulate& cells(Extent n);
  /// Cuts the level into about so many patches, in the deck's own way (patches or patch_size).
  Simulate& patches(Extent n);
  Simulate& ranks(int n);
  Simulate& threads(int n);  ///< 0: the in-order executor, which is also the default
  /// The virtual executor: tasks, messages and ranks in an order that the seed gives.
  Simulate& seed(std::uint64_t n);
  Simulate& checked();
  Simulate& keepHistory();
  Simulate& withoutReuse();  ///< no two variables share memory
  /// Each rank runs on devices what can run there.
  Simulate& devices(DeviceOptions devices);
  /// After each step, the initial one included, the host has another of these parts of the cells, in turns.
  /// Needs devices with placement by cost.
  Simulate& hostParts(std::vector<double> parts);
  /// Between steps, now and then, the run adopts another mesh of the same cells; which and when, the seed
  /// says.
  Simulate& adoptions(std::uint64_t seed, OtherPatches patches = OtherPatches::Yes);
  /// What patches cost in a step, for `balance.cost='measured'`: which of them move depends on no clock then.
  Simulate& secondsOfPatch(GivenSeconds seconds);
  /// In place of the built-in components.
  Simulate& components(ComponentRegistry registry);
  Simulate& scratch();  ///< halos are gathered into scratch windows where that is possible
  /// What was set, as options of the command line: " --set 'grid.cells=[8,8,1]'".
  std::string assignments() const { return assignments_; }
  const Deck& deck() const { return deck_; }
  /// Until the deck's end, or for so many steps.
  Outcome run(std::optional<std::int64_t> steps = {});

 private:
  Deck deck_;
  std::string assignments_;
  int ranks_ = 1;
  int threads_ = 0;
  bool checked_ = false;
  bool keepsHistory_ = false;
  BufferReuse reuse_ = BufferReuse::On;
  DeviceOptions devices_;
  std::vector<double> hostParts_;
  bool scratch_ = false;
  GivenSeconds secondsOfPatch_;
  ComponentRegistry registry_ = builtInComponents();
  std::optional<std::uint64_t> seed_;
  std::optional<std::uint64_t> adoptions_;
  OtherPatches otherPatches_ = OtherPatches::Yes;
};

/// The deck inputs/NAME.toml of the repository.
Simulate simulate(std::string_view name);
/// A deck in a text.
Simulate simulateText(std::string_view text);

}  // namespace tessera::test
