#include "core/transport/detail/loopback_collective.hpp"

#include <algorithm>
#include <cstring>

#include "core/text/error.hpp"

namespace tessera::detail {

std::int64_t RoundSequence::join(int rank, std::string_view what, std::string part) {
  const std::int64_t number = next_[static_cast<std::size_t>(rank)]++;
  const auto [place, opened] = rounds_.try_emplace(number);
  Round& round = place->second;
  if (opened) {
    const int ranks = static_cast<int>(next_.size());
    round = {.what = std::string(what),
             .opener = rank,
             .parts = std::vector<std::string>(next_.size()),
             .missing = ranks,
             .inside = ranks};
  }
  if (round.what != what) {
    throw InternalError(Message("two ranks call different collective operations")
                            .line("rank ", round.opener, " calls ", round.what)
                            .line("rank ", rank, " calls ", what)
                            .line("fix  call the same operations in the same order on every rank")
                            .text());
  }
  round.parts[static_cast<std::size_t>(rank)] = std::move(part);
  --round.missing;
  return number;
}

void RoundSequence::leave(std::int64_t number) {
  if (--rounds_.at(number).inside == 0) rounds_.erase(number);
}

std::string describe(Reduction reduction, std::size_t count) {
  const char* name = reduction == Reduction::Min ? "min" : reduction == Reduction::Max ? "max" : "sum";
  return std::string(name) + " of " + std::to_string(count) + " values";
}

std::string packed(std::span<const std::byte> values) {
  std::string text(values.size(), '\0');
  if (!values.empty()) std::memcpy(text.data(), values.data(), values.size());
  return text;
}

namespace {

template <class T, class Join>
void combineAs(const std::vector<std::string>& parts, std::span<std::byte> values, const Join& join) {
  for (std::size_t at = 0; at < values.size(); at += sizeof(T)) {
    T result{};
    std::memcpy(&result, parts.front().data() + at, sizeof(T));
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      T next{};
      std::memcpy(&next, parts[rank].data() + at, sizeof(T));
      result = join(result, next);
    }
    std::memcpy(values.data() + at, &result, sizeof(T));
  }
}

}  // namespace

void combine(Reduction reduction, const std::vector<std::string>& parts, std::span<std::byte> values) {
  switch (reduction) {
    case Reduction::Min:
      return combineAs<double>(parts, values, [](double a, double b) { return std::min(a, b); });
    case Reduction::Max:
      return combineAs<double>(parts, values, [](double a, double b) { return std::max(a, b); });
    case Reduction::Sum:  // unsigned, so that an overflow wraps as it does in MPI
      return combineAs<std::uint64_t>(parts, values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
}

}  // namespace tessera::detail
