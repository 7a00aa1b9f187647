#include "tools/bench/replay/stencil_case.hpp"

#include <algorithm>

namespace tessera::bench {
namespace {

constexpr std::size_t kLine = 64;

}  // namespace

void StencilBody::reset() {
  for (auto& row : rows_) row.assign(static_cast<std::size_t>(shape_.width), -1);
  wrong_.assign(static_cast<std::size_t>(shape_.width) * kLine, 0);
}

void StencilBody::checkInputs(int step, int column) {
  const std::vector<int>& before = rows_[(step + 1) % 2];
  if (step > 0) {
    for (int j = std::max(0, column - 1); j <= std::min(shape_.width - 1, column + 1); ++j) {
      if (before[static_cast<std::size_t>(j)] != step - 1)
        wrong_[static_cast<std::size_t>(column) * kLine] = 1;
    }
  }
  rows_[step % 2][static_cast<std::size_t>(column)] = step;
}

bool StencilBody::ok() const {
  if (!shape_.check) return true;
  const std::vector<int>& last = rows_[(shape_.steps - 1) % 2];
  return std::count(wrong_.begin(), wrong_.end(), 0) == std::ssize(wrong_) &&
         std::count(last.begin(), last.end(), shape_.steps - 1) == shape_.width;
}

}  // namespace tessera::bench
