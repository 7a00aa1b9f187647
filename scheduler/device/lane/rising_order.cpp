#include "scheduler/device/lane/rising_order.hpp"

#include <algorithm>
#include <bit>

namespace tessera::detail {

void RisingOrder::sort(std::vector<std::int32_t>& numbers) {
  if (std::is_sorted(numbers.begin(), numbers.end())) return;
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  const auto first = static_cast<std::size_t>(*least) / 64;
  const auto last = static_cast<std::size_t>(*greatest) / 64;
  if (last - first > 4 * numbers.size()) {
    std::sort(numbers.begin(), numbers.end());
    return;
  }
  for (const std::int32_t number : numbers) {
    marks_[static_cast<std::size_t>(number) / 64] |= std::uint64_t{1} << (number % 64);
  }
  auto to = numbers.begin();
  for (std::size_t word = first; word <= last; ++word) {
    for (std::uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
      *to++ = static_cast<std::int32_t>(64 * word) + std::countr_zero(bits);
    }
    marks_[word] = 0;
  }
}

}  // namespace tessera::detail
