#pragma once

#include "grid/beyond_level.hpp"

namespace tessera {

/// Which of the cells that a value beyond a level comes from have values: the second fine cell inside, and
/// the coarse ones along the faces. Known to the rank of the finer level; as a number it goes by message to
/// the one that has the coarse cell. For `BeyondLevel` at one place.
class CellsBeyond {
 public:
  /// Of a value in the coarse cell `at`.
  CellsBeyond(Index at, double number) : at_(at), bits_(static_cast<unsigned>(number)) {}
  /// Of the value at `x`, as `BeyondLevel` has these; `cells` is asked as it does.
  template <class Cells>
  CellsBeyond(const Refinement& r, Index x, int axis, Index in, const Cells& cells) : at_(r.parent(x)) {
    note(0, cells.hasFine(x + in + in));
    for (int t = 0; t < kAxes; ++t) {
      if (t == axis || r.active[t] == 0) continue;
      for (const bool high : {false, true}) {
        const Index beside = high ? at_ + unit(t) : at_ - unit(t);
        note(bitOf(t, high), r.exists(beside, t) && cells.hasCoarse(beside));
      }
    }
  }

  double asNumber() const { return bits_; }
  bool hasFine(Index /*second*/) const { return (bits_ & 1U) != 0; }
  bool hasCoarse(Index beside) const {
    for (int t = 0; t < kAxes; ++t)
      if (beside[t] != at_[t]) return ((bits_ >> bitOf(t, beside[t] > at_[t])) & 1U) != 0;
    return true;
  }

 private:
  static unsigned bitOf(int axis, bool high) {
    return 1U + 2U * static_cast<unsigned>(axis) + (high ? 1U : 0U);
  }
  void note(unsigned bit, bool has) { bits_ |= (has ? 1U : 0U) << bit; }

  Index at_;
  unsigned bits_ = 0;
};

}  // namespace tessera
