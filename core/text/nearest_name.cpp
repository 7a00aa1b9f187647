#include "core/text/nearest_name.hpp"

#include <algorithm>

namespace tessera {

namespace {
constexpr std::size_t kLongestName = 200;
}

std::size_t editDistance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> beforeLast(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearestName(std::string_view written, const std::vector<std::string>& names) {
  if (written.size() > kLongestName) return {};
  std::size_t best = std::max<std::size_t>(2, written.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const std::size_t distance = editDistance(written, name);
    const bool nothingLeft = distance >= std::max(written.size(), name.size());
    if (distance >= best || nothingLeft) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

std::string didYouMean(std::string_view written, const std::vector<std::string>& names) {
  const std::string nearest = nearestName(written, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string didYouMeanOneOf(std::string_view written, const std::vector<std::string>& names) {
  const std::string nearest = didYouMean(written, names);
  std::string text = nearest.empty() ? "; known names: " : nearest + " Known names: ";
  for (std::size_t n = 0; n < names.size(); ++n) text += (n == 0 ? "" : ", ") + names[n];
  return text;
}

}  // namespace tessera
