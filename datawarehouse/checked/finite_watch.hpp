#pragma once

#include <cstdint>
#include <span>

#include "core/exec/exec.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

/// Looks for NaN and infinity in what a loop writes while that is still in the nearest cache, so that
/// `expectFinite` need not read it again. For one run of one task; used by its thread alone.
class FiniteWatch final : public LoopWatch {
 public:
  /// `accesses`: of the task, at most 64. `finalLoops`: which loops compute final values of them.
  FiniteWatch(std::span<const TaskAccess> accesses, std::span<const FinalLoop> finalLoops,
              const LabelTable& labels)
      : accesses_(accesses), finalLoops_(finalLoops), labels_(&labels) {}

  bool begins(const char* loop) override;
  void passed(const Box& part) override;
  void finished(const Box& box) override;

  /// Whether a loop has been over all that the task declared to write, and nothing was doubtful.
  bool settled(const TaskAccess& access) const { return (settled_ & ~doubtful_ & bitOf(access)) != 0; }

 private:
  std::uint64_t bitOf(const TaskAccess& access) const {
    return std::uint64_t{1} << static_cast<unsigned>(&access - accesses_.data());
  }

  std::span<const TaskAccess> accesses_;
  std::span<const FinalLoop> finalLoops_;
  const LabelTable* labels_;
  std::uint64_t now_ = 0;       ///< accesses that the running loop gives their values
  std::uint64_t settled_ = 0;   ///< all of what was declared has been looked at
  std::uint64_t doubtful_ = 0;  ///< something may be NaN or infinite
};

}  // namespace tessera
