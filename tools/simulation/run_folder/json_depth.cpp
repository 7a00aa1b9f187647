#include "tools/simulation/run_folder/json_depth.hpp"

#include <algorithm>

namespace tessera {
namespace {

constexpr int kDeepest = 64;

/// How many brackets are open at most, those in texts left out.
int depthOf(std::string_view text) {
  int deepest = 0;
  int depth = 0;
  bool inText = false;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (inText && c == '\\') {
      ++n;
    } else if (c == '"') {
      inText = !inText;
    } else if (!inText && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!inText && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

std::string_view shallowJson(std::string_view text) {
  return depthOf(text) > kDeepest ? std::string_view() : text;
}

}  // namespace tessera
