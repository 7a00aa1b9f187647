#include "scheduler/device/lane/junctions.hpp"

#include <algorithm>

namespace tessera::detail {

namespace {

using Edge = std::pair<std::int32_t, std::int32_t>;

/// Lists of `to` by `from`, one after the other.
struct Lists {
  std::vector<std::int32_t> numbers, begin;
  std::span<const std::int32_t> of(std::size_t n) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(begin[n]),
                                      static_cast<std::size_t>(begin[n + 1] - begin[n]));
  }
};

Lists makeLists(std::size_t nodes, std::span<const Edge> edges, bool backwards) {
  Lists lists{std::vector<std::int32_t>(edges.size()), std::vector<std::int32_t>(nodes + 1, 0)};
  for (const auto& [first, then] : edges)
    ++lists.begin[static_cast<std::size_t>(backwards ? then : first) + 1];
  for (std::size_t n = 1; n < lists.begin.size(); ++n) lists.begin[n] += lists.begin[n - 1];
  std::vector<std::int32_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (const auto& [first, then] : edges) {
    lists.numbers[static_cast<std::size_t>(next[static_cast<std::size_t>(backwards ? then : first)]++)] =
        backwards ? first : then;
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    std::sort(lists.numbers.begin() + lists.begin[n], lists.numbers.begin() + lists.begin[n + 1]);
  }
  return lists;
}

struct Hashed {
  std::uint64_t hash = 0;
  std::int32_t task = 0;
  friend auto operator<=>(const Hashed&, const Hashed&) = default;
};

/// Those who may share a junction, next to one another, in rising order.
std::vector<Hashed> hashLists(const Lists& before) {
  std::vector<Hashed> hashed;
  for (std::size_t n = 0; n + 1 < before.begin.size(); ++n) {
    if (before.of(n).size() < 2) continue;
    std::uint64_t hash = 0;
    for (const std::int32_t number : before.of(n)) {
      hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
    hashed.push_back({hash, static_cast<std::int32_t>(n)});
  }
  std::sort(hashed.begin(), hashed.end());
  return hashed;
}

/// By task: the first of those that wait for the same tasks; -1 where a junction would save nothing.
std::vector<std::int32_t> findGroups(const Lists& before) {
  std::vector<std::int32_t> groups(before.begin.size() - 1, -1);
  const std::vector<Hashed> hashed = hashLists(before);
  for (std::size_t first = 0; first < hashed.size();) {
    const auto list = before.of(static_cast<std::size_t>(hashed[first].task));
    // Lists that differ and have one hash end the group: rare, and no more than a junction is lost.
    std::size_t end = first + 1;
    while (end < hashed.size() && hashed[end].hash == hashed[first].hash &&
           std::ranges::equal(list, before.of(static_cast<std::size_t>(hashed[end].task)))) {
      ++end;
    }
    const std::size_t members = end - first;
    const bool saves = members * list.size() > members + list.size();
    for (std::size_t n = first; saves && n < end; ++n)
      groups[static_cast<std::size_t>(hashed[n].task)] = hashed[first].task;
    first = end;
  }
  return groups;
}

}  // namespace

Junctions::Junctions(std::size_t tasks, std::span<const Edge> edges)
    : nodes(static_cast<std::int32_t>(tasks)) {
  const Lists before = makeLists(tasks, edges, /*backwards=*/true);
  const std::vector<std::int32_t> groups = findGroups(before);
  std::vector<std::int32_t> junctions(tasks, -1);  // by the first of a group
  std::vector<Edge> all;
  for (std::size_t n = 0; n < tasks; ++n) {
    const auto task = static_cast<std::int32_t>(n);
    if (groups[n] < 0) {
      for (const std::int32_t first : before.of(n)) all.emplace_back(first, task);
      continue;
    }
    std::int32_t& junction = junctions[static_cast<std::size_t>(groups[n])];
    if (junction < 0) {
      junction = nodes++;
      for (const std::int32_t first : before.of(n)) all.emplace_back(first, junction);
    }
    all.emplace_back(junction, task);
  }
  Lists forwards = makeLists(static_cast<std::size_t>(nodes), all, /*backwards=*/false);
  successors = std::move(forwards.numbers);
  successorBegin = std::move(forwards.begin);
  Lists backwards = makeLists(static_cast<std::size_t>(nodes), all, /*backwards=*/true);
  predecessors = std::move(backwards.numbers);
  predecessorBegin = std::move(backwards.begin);
}

}  // namespace tessera::detail
