#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::detail {

/// Nodes more than a placed graph has, one for each of several devices: whoever runs one launches what is
/// ready there. They wait for nothing and nothing waits for them, so at the begin of a step several workers
/// launch at once, each on a device of its own; what becomes ready later is launched by whoever looks after
/// messages.
class LaunchNodes {
 public:
  /// `counts`: of the nodes of the graph, whose numbers come first.
  LaunchNodes(std::span<const std::int32_t> counts, std::size_t devices)
      : first_(static_cast<std::int32_t>(counts.size())), counts_(counts.begin(), counts.end()) {
    counts_.resize(counts.size() + devices, 0);
  }

  bool is(std::int32_t node) const { return node >= first_; }
  /// Of the device, among the rank's.
  std::size_t slotOf(std::int32_t node) const { return static_cast<std::size_t>(node - first_); }
  /// A worker of its own, as far as there are some.
  int homeOf(std::int32_t node, int workers) const {
    const int devices = static_cast<int>(counts_.size()) - first_;
    const int slot = node - first_;
    return workers < devices ? slot % workers : slot * workers / devices;
  }
  /// Of all nodes, these included.
  std::span<const std::int32_t> predecessorCounts() const { return counts_; }

 private:
  std::int32_t first_;
  std::vector<std::int32_t> counts_;
};

}  // namespace tessera::detail
