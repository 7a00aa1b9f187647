#include "core/memory/lean_strides.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

/// What is in use of one row, counted from the window's lower end.
struct Row {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const Row&, const Row&) = default;
};

/// Lines are tried that are as long as so many of the widest rows.
constexpr std::int64_t kLongestLine = 32;
constexpr std::size_t kMostKinds = 4;
/// Slabs are tried up to so much farther apart than what is in use of one.
constexpr double kLargestWaste = 1.15;
/// Pairs of rows that are looked at in a search.
constexpr std::int64_t kMostLooks = 100'000'000;

/// What is in use of each row of slab `s`, as the hull of the parts. `along`: the axis of rows in a slab (1
/// or 2), `across`: the axis of slabs.
void rowsOf(const Box& window, std::span<const Box> parts, int along, int across, std::int64_t s,
            std::vector<Row>& rows) {
  rows.assign(static_cast<std::size_t>(window.extent()[along]), {});
  for (const Box& part : parts) {
    if (part.empty() || s < part.lo[across] || s >= part.hi[across]) continue;
    const Row more{part.lo.i - window.lo.i, part.hi.i - window.lo.i};
    for (std::int64_t r = part.lo[along]; r < part.hi[along]; ++r) {
      Row& row = rows[static_cast<std::size_t>(r - window.lo[along])];
      row = row.size() == 0 ? more : Row{std::min(row.begin, more.begin), std::max(row.end, more.end)};
    }
  }
}

/// The rows that all slabs have; empty where they differ.
std::vector<Row> commonRows(const Box& window, std::span<const Box> parts, int along, int across) {
  std::vector<Row> first;
  std::vector<Row> rows;
  rowsOf(window, parts, along, across, window.lo[across], first);
  for (std::int64_t s = window.lo[across] + 1; s < window.hi[across]; ++s) {
    rowsOf(window, parts, along, across, s, rows);
    if (rows != first) return {};
  }
  return first;
}

/// A search over the distances of rows and of slabs.
class Search {
 public:
  Search(std::vector<Row> rows, std::int64_t slabs, std::int64_t grain)
      : rows_(std::move(rows)), slabs_(slabs), grain_(grain) {
    std::int64_t common = 0;
    for (const Row& row : rows_) {
      common = std::gcd(common, std::gcd(row.begin, row.end));
      used_ += row.size();
      widest_ = std::max(widest_, row.size());
      if (row.size() > 0 && std::find(kinds_.begin(), kinds_.end(), row) == kinds_.end())
        kinds_.push_back(row);
    }
    if (common % grain == 0) grain_ = common;
    if (isPossible()) notePairs();
  }

  bool isPossible() const { return kinds_.size() >= 2 && kinds_.size() <= kMostKinds; }
  bool run();

  std::int64_t line() const { return line_; }
  std::int64_t slab() const { return slab_; }
  /// From the first element of the window to the last in use.
  std::int64_t elements(std::int64_t line, std::int64_t slab) const {
    std::int64_t last = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].size() > 0) last = std::max(last, static_cast<std::int64_t>(r) * line + rows_[r].end);
    }
    return last + (slabs_ - 1) * slab;
  }

 private:
  /// Rows of kind `second`, so many rows behind some of kind `first`.
  struct Pair {
    Row first;
    Row second;
  };

  std::int64_t up(std::int64_t n) const { return (n + grain_ - 1) / grain_ * grain_; }
  void notePairs();
  bool fits(std::int64_t line, std::int64_t slab);

  std::vector<Row> rows_;
  std::int64_t slabs_;
  std::int64_t grain_;     ///< what borders of all rows are multiples of: then so are good strides
  std::int64_t used_ = 0;  ///< elements of a slab
  std::int64_t widest_ = 0;
  std::vector<Row> kinds_;
  std::vector<std::vector<Pair>> pairs_;  ///< by distance in rows
  std::int64_t looks_ = 0;
  std::int64_t line_ = 0;
  std::int64_t slab_ = 0;
};

void Search::notePairs() {
  pairs_.resize(rows_.size());
  const std::size_t n = kinds_.size();
  std::vector<std::size_t> kindOf;
  for (const Row& row : rows_) {
    kindOf.push_back(static_cast<std::size_t>(std::find(kinds_.begin(), kinds_.end(), row) - kinds_.begin()));
  }
  std::vector<char> seen;
  for (std::size_t distance = 1; distance < rows_.size(); ++distance) {
    seen.assign(n * n, 0);
    for (std::size_t r = 0; r + distance < rows_.size(); ++r) {
      const std::size_t a = kindOf[r];
      const std::size_t b = kindOf[r + distance];
      if (a == n || b == n || seen[a * n + b] != 0) continue;
      seen[a * n + b] = 1;
      pairs_[distance].push_back({kinds_[a], kinds_[b]});
    }
  }
}

/// Whether no two rows of a slab lie on one another modulo `slab`: then no two of all slabs do.
bool Search::fits(std::int64_t line, std::int64_t slab) {
  std::int64_t behind = 0;
  for (std::size_t distance = 1; distance < rows_.size(); ++distance) {
    behind += line;
    while (behind >= slab) behind -= slab;
    ++looks_;
    for (const Pair& pair : pairs_[distance]) {
      std::int64_t apart = behind + pair.second.begin - pair.first.begin;
      if (apart < 0) apart += slab;
      if (apart >= slab) apart -= slab;
      if (apart < pair.first.size() || slab - apart < pair.second.size()) return false;
    }
  }
  return true;
}

bool Search::run() {
  std::int64_t least = 0;
  const auto farthest = static_cast<std::int64_t>(kLargestWaste * static_cast<double>(used_));
  for (std::int64_t slab = up(used_); slab <= farthest && looks_ < kMostLooks; slab += grain_) {
    if (least > 0 && elements(0, slab) >= least) break;
    for (std::int64_t line = up(widest_); line <= kLongestLine * widest_; line += grain_) {
      const std::int64_t all = elements(line, slab);
      if (line >= slab || (least > 0 && all >= least)) break;
      if (!fits(line, slab)) continue;
      least = all;
      line_ = line;
      slab_ = slab;
      break;
    }
  }
  return least > 0;
}

}  // namespace

std::optional<LeanStrides> leanStrides(const Box& window, std::span<const Box> parts, std::int64_t grain,
                                       double worth) {
  TESSERA_EXPECT(grain >= 1, "ask for strides of whole elements");
  std::optional<LeanStrides> best;
  for (const int along : {1, 2}) {
    const int across = 3 - along;
    Search search(commonRows(window, parts, along, across), window.extent()[across], grain);
    if (!search.isPossible() || !search.run()) continue;
    LeanStrides found{search.line(), search.slab(), search.elements(search.line(), search.slab())};
    if (along == 2) std::swap(found.strideJ, found.strideK);
    if (!best || found.elements < best->elements) best = found;
  }
  const Extent n = window.extent();
  const std::int64_t box = (n.i + grain - 1) / grain * grain * n.j * n.k;
  if (best && static_cast<double>(box) < worth * static_cast<double>(best->elements)) return std::nullopt;
  return best;
}

}  // namespace tessera
