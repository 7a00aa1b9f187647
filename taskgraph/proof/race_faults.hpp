#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::detail {

/// Counts faults and keeps the texts of the first ones.
class RaceFaults {
 public:
  void add(std::string text) {
    if (texts_.size() < kKept) texts_.push_back(std::move(text));
    ++count_;
  }
  std::int64_t count() const { return count_; }
  std::vector<std::string> takeTexts() { return std::move(texts_); }

 private:
  static constexpr std::size_t kKept = 50;
  std::vector<std::string> texts_;
  std::int64_t count_ = 0;
};

}  // namespace tessera::detail
