#pragma once

#include <functional>
#include <string>

#include "tools/jobs/cluster/star_tree.hpp"
#include "tools/jobs/cluster/tree_build_body.hpp"

namespace tessera::jobs {

/// A tree that jobs build, wherever these run: it has the bits of Octree.
class JobTree final : public StarTree {
 public:
  /// Runs a job to its end.
  using Run = std::function<void(Job&)>;

  /// Of so many points, at least one, with at most `leaf` of them in a leaf.
  JobTree(std::int64_t points, std::int32_t leaf, Run run);

  void build(std::span<const MassPoint> list) override;
  std::size_t pointAt(std::int64_t place) const override {
    return static_cast<std::size_t>((*keys_)({place, 0, 0}).point);
  }

 private:
  /// Declares what the pass reads and writes, and gives the body its views.
  void run(TreePass pass, DomainBase& written,
           const std::function<void(TreeBuildBody&, const TaskData&)>& bind,
           std::initializer_list<const DomainBase*> read);
  void sort();
  void countCells();

  const std::int64_t count_;
  Run run_;
  TreeBuildBody body_;
  Domain<MassPoint> list_;
  Domain<KeyedPoint> keysA_, keysB_;
  Domain<std::int64_t> countsA_, countsB_;
  Domain<KeyedPoint>* keys_ = &keysA_;
  Domain<KeyedPoint>* otherKeys_ = &keysB_;
  Domain<std::int64_t>* counts_ = &countsA_;
  Domain<std::int64_t>* otherCounts_ = &countsB_;
};

}  // namespace tessera::jobs
