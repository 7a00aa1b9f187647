#pragma once

#include <cstdint>
#include <vector>

#include "core/id_vector.hpp"
#include "taskgraph/ids.hpp"

namespace tessera::detail {

/// Nodes more than a placed graph has, one for each of several devices: whoever runs one launches what is
/// ready there. They wait for nothing and nothing waits for them, so at the begin of a step several workers
/// launch at once, each on a device of its own; what becomes ready later is launched by whoever looks after
/// messages.
class LaunchNodes {
 public:
  /// `counts`: of the nodes of the graph, whose numbers come first.
  LaunchNodes(const IdVector<NodeId, std::int32_t>& counts, std::size_t devices)
      : first_(counts.endId()), counts_(counts) {
    counts_.resize(counts.size() + devices, 0);
  }

  bool is(NodeId node) const { return node >= first_; }
  /// Of the device, among the rank's.
  std::size_t slotOf(NodeId node) const { return static_cast<std::size_t>(node - first_); }
  /// A worker of its own, as far as there are some.
  int homeOf(NodeId node, int workers) const {
    const int devices = counts_.endId() - first_;
    const int slot = node - first_;
    return workers < devices ? slot % workers : slot * workers / devices;
  }
  /// Of all nodes, these included.
  IdSpan<NodeId, const std::int32_t> predecessorCounts() const { return counts_; }

 private:
  NodeId first_;
  IdVector<NodeId, std::int32_t> counts_;
};

}  // namespace tessera::detail
