#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::detail {

/// One collective operation of all ranks: each brings a part, and takes a result once all have come.
/// `what` names the operation and everything that must be equal on all ranks.
struct Round {
  std::string what;
  int opener = 0;  ///< the rank that came first
  std::vector<std::string> parts;
  int missing = 0;  ///< ranks that have not come
  int inside = 0;   ///< ranks that have not taken their result
};

/// Rounds in order: the n-th call of a rank is part of the n-th round.
/// Not thread-safe: the world's mutex is held around every call.
class RoundSequence {
 public:
  explicit RoundSequence(int ranks) : next_(static_cast<std::size_t>(ranks), 0) {}

  /// Returns the number of the round; throws InternalError where `rank` calls another operation than the
  /// others.
  std::int64_t join(int rank, std::string_view what, std::string part);
  const Round& at(std::int64_t number) const { return rounds_.at(number); }
  bool complete(std::int64_t number) const { return at(number).missing == 0; }
  bool hasJoined(int rank, std::int64_t number) const {
    return next_[static_cast<std::size_t>(rank)] > number;
  }
  /// A rank has taken its result; the last one ends the round.
  void leave(std::int64_t number);

 private:
  std::vector<std::int64_t> next_;  // for each rank
  std::map<std::int64_t, Round> rounds_;
};

/// How the values of a reduction are joined.
enum class Reduction { Min, Max, Sum };

/// "min of 3 values"
std::string describe(Reduction reduction, std::size_t count);
/// Values as the part that a rank brings, bit for bit.
std::string packed(std::span<const std::byte> values);
/// The parts joined in rank order, written to `values`: doubles for Min and Max, 64-bit integers for Sum.
void combine(Reduction reduction, const std::vector<std::string>& parts, std::span<std::byte> values);

}  // namespace tessera::detail
