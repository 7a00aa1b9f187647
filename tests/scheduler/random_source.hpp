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
      : traits_(static_cast<std::size_t>(shape.nodes)),
        predecessors_(traits_.size()),
        successors_(traits_.size()),
        counts_(traits_.size(), 0),
        stamps_(traits_.size(), 0),
        polls_(traits_.size(), 0) {
    std::mt19937 random(shape.seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
    for (std::int32_t n = 0; n < shape.nodes; ++n) {
      NodeTraits& traits = at(traits_, n);
      traits.used = below(100) >= shape.percentUnused;
      traits.home = below(1 << 16);
      traits.urgency = below(shape.urgencies);
      traits.waits = below(100) < shape.percentWaiting;
      for (int e = 0; traits.used && n > 0 && e < shape.edgesPerNode; ++e) {
        const std::int32_t from = std::max(0, n - 1 - below(40));
        const auto& known = at(predecessors_, n);
        if (!at(traits_, from).used || std::find(known.begin(), known.end(), from) != known.end()) continue;
        at(predecessors_, n).push_back(from);
        at(successors_, from).push_back(n);
        ++at(counts_, n);
      }
    }
    finished_.reserve(traits_.size());
  }

  std::int64_t nodeCount() const override { return std::ssize(traits_); }
  NodeTraits traits(std::int32_t node, int workers) const override {
    NodeTraits traits = traits_[static_cast<std::size_t>(node)];
    traits.home %= workers;
    return traits;
  }
  std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    return successors_[static_cast<std::size_t>(node)];
  }
  bool run(std::int32_t node, int worker) override {
    for (const std::int32_t before : at(predecessors_, node)) {
      if (at(stamps_, before) != replay_) wrong_.store(true);
    }
    if (at(stamps_, node) == replay_) wrong_.store(true);
    if (onRun) onRun(node, worker);
    at(stamps_, node) = replay_;
    if (!at(traits_, node).waits) return true;
    const std::lock_guard lock(mutex_);
    submitted_.push_back(node);
    return false;
  }
  std::span<const std::int32_t> poll() override {
    if (inside_.exchange(true)) wrong_.store(true);
    finished_.clear();
    const std::lock_guard lock(mutex_);
    const auto isDone = [&](std::int32_t node) {
      if (++at(polls_, node) < 1 + node % 3) return false;
      at(polls_, node) = 0;
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
    for (std::size_t n = 0; n < traits_.size(); ++n) {
      if ((stamps_[n] == replay_) != traits_[n].used) return false;
    }
    return !wrong_.load();
  }

  std::function<void(std::int32_t node, int worker)> onRun;

 private:
  template <class T>
  static T& at(std::vector<T>& list, std::int32_t n) {
    return list[static_cast<std::size_t>(n)];
  }

  std::vector<NodeTraits> traits_;
  std::vector<std::vector<std::int32_t>> predecessors_;
  std::vector<std::vector<std::int32_t>> successors_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int64_t> stamps_;
  std::vector<int> polls_;
  std::int64_t replay_ = 0;
  std::atomic<bool> wrong_{false};
  std::atomic<bool> inside_{false};
  std::mutex mutex_;
  std::vector<std::int32_t> submitted_;
  std::vector<std::int32_t> finished_;
};

}  // namespace tessera::test
