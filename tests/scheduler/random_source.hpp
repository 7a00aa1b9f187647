#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <vector>

#include "scheduler/executor.hpp"

namespace tessera::test {

/// How to draw a graph; the same numbers give the same graph.
struct RandomGraph {
  std::int32_t nodes = 100;
  int edgesPerNode = 3;
  std::uint32_t seed = 1;
  int percentUnused = 0;
  int percentWaiting = 0;  ///< nodes that end by `poll`
  int urgencies = 1;
};

/// A random graph whose nodes look whether all their predecessors have run, in plain memory: an executor that
/// forgets an edge gives a wrong stamp, and a race under ThreadSanitizer.
class RandomSource : public NodeSource {
 public:
  explicit RandomSource(const RandomGraph& shape)
      : traits_(shape.nodes),
        predecessors_(traits_.size()),
        successors_(traits_.size()),
        counts_(traits_.size(), 0),
        stamps_(traits_.size(), 0),
        polls_(traits_.size(), 0) {
    std::mt19937 random(shape.seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
    for (std::int32_t n = 0; n < shape.nodes; ++n) {
      const NodeId node(n);
      NodeTraits& traits = traits_[node];
      traits.used = below(100) >= shape.percentUnused;
      traits.home = below(1 << 16);
      traits.urgency = below(shape.urgencies);
      traits.waits = below(100) < shape.percentWaiting;
      for (int e = 0; traits.used && n > 0 && e < shape.edgesPerNode; ++e) {
        const NodeId from(std::max(0, n - 1 - below(40)));
        const auto& known = predecessors_[node];
        if (!traits_[from].used || std::find(known.begin(), known.end(), from) != known.end()) continue;
        predecessors_[node].push_back(from);
        successors_[from].push_back(node);
        ++counts_[node];
      }
    }
    finished_.reserve(traits_.size());
  }

  std::int64_t nodeCount() const override { return static_cast<std::int64_t>(traits_.size()); }
  NodeTraits traits(NodeId node, int workers) const override {
    NodeTraits traits = traits_[node];
    traits.home %= workers;
    return traits;
  }
  IdSpan<NodeId, const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const NodeId> successors(NodeId node) const override { return successors_[node]; }
  bool run(NodeId node, int worker) override {
    for (const NodeId before : predecessors_[node]) {
      if (stamps_[before] != replay_) wrong_.store(true);
    }
    if (stamps_[node] == replay_) wrong_.store(true);
    if (onRun) onRun(node, worker);
    stamps_[node] = replay_;
    if (!traits_[node].waits) return true;
    const std::lock_guard lock(mutex_);
    submitted_.push_back(node);
    return false;
  }
  std::span<const NodeId> poll() override {
    if (inside_.exchange(true)) wrong_.store(true);
    finished_.clear();
    const std::lock_guard lock(mutex_);
    const auto isDone = [&](NodeId node) {
      if (++polls_[node] < 1 + node.value() % 3) return false;
      polls_[node] = 0;
      finished_.push_back(node);
      return true;
    };
    submitted_.erase(std::remove_if(submitted_.begin(), submitted_.end(), isDone), submitted_.end());
    inside_.store(false);
    return finished_;
  }

  /// Before each replay.
  void begin() {
    ++replay_;
    submitted_.clear();
  }
  /// After it: whether every node that is in use has run once, after its predecessors.
  bool right() const {
    for (const NodeId n : traits_.ids()) {
      if ((stamps_[n] == replay_) != traits_[n].used) return false;
    }
    return !wrong_.load();
  }

  std::function<void(NodeId node, int worker)> onRun;

 private:
  IdVector<NodeId, NodeTraits> traits_;
  IdVector<NodeId, std::vector<NodeId>> predecessors_;
  IdVector<NodeId, std::vector<NodeId>> successors_;
  IdVector<NodeId, std::int32_t> counts_;
  IdVector<NodeId, std::int64_t> stamps_;
  IdVector<NodeId, int> polls_;
  std::int64_t replay_ = 0;
  std::atomic<bool> wrong_{false};
  std::atomic<bool> inside_{false};
  std::mutex mutex_;
  std::vector<NodeId> submitted_;
  std::vector<NodeId> finished_;
};

}  // namespace tessera::test
