#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::bench {

/// Where a task stands in the grid of a benchmark's graph.
struct TaskPlace {
  int step = 0;
  int column = 0;
};

/// A list of numbers for each of many items, one list behind the other.
struct NumberLists {
  std::vector<std::uint32_t> begins{0};
  std::vector<std::int32_t> numbers;

  void endList() { begins.push_back(static_cast<std::uint32_t>(numbers.size())); }
  std::span<const std::int32_t> of(std::int32_t item) const {
    const auto n = static_cast<std::size_t>(item);
    return std::span(numbers).subspan(begins[n], begins[n + 1] - begins[n]);
  }
};

/// A graph that every system of a benchmark replays: nodes by number, row by row.
///
/// The task at (step, column) puts its output into slot `step % 2 * width + column`, so that memory does not
/// grow with the steps. Whoever overwrites a slot has to wait for those who still read it.
struct ReplayGraph {
  int width = 0;
  std::vector<TaskPlace> places;                ///< by node
  NumberLists inputs;                           ///< by node: the nodes whose output it reads
  std::vector<std::int32_t> predecessorCounts;  ///< inputs, and those that still read the slot
  NumberLists successors;                       ///< by node; no edge that others imply

  std::int64_t tasks() const { return std::ssize(places); }
  std::int32_t slots() const { return 2 * width; }
  std::int32_t slotOf(std::int32_t node) const {
    const TaskPlace place = places[static_cast<std::size_t>(node)];
    return place.step % 2 * width + place.column;
  }
};

}  // namespace tessera::bench
