#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "core/exec/exec.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

/// Looks for NaN and infinity in what a loop writes while that is still in the nearest cache, so that
/// `expectFinite` need not read it again. For one run of one task; used by its thread alone.
class FiniteWatch final : public LoopWatch {
 public:
  /// `accesses`: of the task, at most kMostAccesses. `finalLoops`: which loops compute final values of them.
  FiniteWatch(std::span<const TaskAccess> accesses, std::span<const FinalLoop> finalLoops,
              const LabelTable& labels)
      : accesses_(accesses), finalLoops_(finalLoops), labels_(&labels) {}

  bool begins(const char* loop) override;
  void passed(const Box& part) override;
  void finished(const Box& box) override;

  /// Whether a loop has been over all that the task declared to write, and nothing was doubtful.
  bool settled(const TaskAccess& access) const {
    return settled_.has(numberOf(access)) && !doubtful_.has(numberOf(access));
  }

 private:
  /// Some of the accesses, by number.
  class Some {
   public:
    void add(std::size_t n) { words_[n / kBits] |= std::uint64_t{1} << n % kBits; }
    bool has(std::size_t n) const { return (words_[n / kBits] >> n % kBits & 1) != 0; }
    bool any() const { return (words_[0] | words_[1]) != 0; }
    /// Calls `visit(number)` for each.
    template <class Visit>
    void forEach(Visit&& visit) const {
      for (std::size_t w = 0; w < words_.size(); ++w) {
        for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
          visit(w * kBits + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }

   private:
    static constexpr std::size_t kBits = 64;
    static_assert(kMostAccesses <= 2 * kBits);
    std::array<std::uint64_t, 2> words_{};
  };

  std::size_t numberOf(const TaskAccess& access) const {
    return static_cast<std::size_t>(&access - accesses_.data());
  }

  std::span<const TaskAccess> accesses_;
  std::span<const FinalLoop> finalLoops_;
  const LabelTable* labels_;
  Some now_;       ///< accesses that the running loop gives their values
  Some settled_;   ///< all of what was declared has been looked at
  Some doubtful_;  ///< something may be NaN or infinite
};

}  // namespace tessera
