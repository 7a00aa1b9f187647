#include "core/memory/packed_window.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace tessera {
namespace {

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kPageLines = kPageBytes / kLineBytes;
/// Rows are at most so many times as far apart as the longest of them is long: farther apart they share less
/// of a page and more of the tables that map it.
constexpr std::int64_t kWidest = 8;
/// Slots for rows of one width.
constexpr std::int64_t kMostSlots = 12;
/// Promises of strides are told apart by one part in so many of what is in use.
constexpr std::int64_t kPromises = 100;
/// Of shapes with more kinds of rows only the longest are combined.
constexpr std::size_t kWidths = 4;
/// Less memory than this is not worth the tables that map it.
constexpr std::int64_t kLeastPages = 16;
/// Steps of the search, of a nanosecond or two; where they are used up the best one so far is taken.
constexpr std::int64_t kMostSteps = 100'000'000;
/// A packing that wastes no more than one part in so many is not improved.
constexpr std::int64_t kGoodEnough = 40;

std::int64_t floorOf(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
std::int64_t ceilOf(std::int64_t a, std::int64_t b) { return -floorOf(-a, b); }

/// A slab in lines of 64 bytes: the part of each row in use, and the rows.
struct Comb {
  std::int64_t first = 0;
  std::int64_t width = 0;
  std::int64_t rowBegin = 0;
  std::int64_t rowEnd = 0;
};

/// Where combs lie: at which page each, and up to which row the memory reaches.
struct Placed {
  std::vector<std::int64_t> pages;
  std::int64_t rows = 0;
};

/// Puts combs with rows `rowLines` apart into memory, one on top of the others.
class Stack {
 public:
  Stack(std::int64_t rowLines, std::int64_t slabLines)
      : rowLines_(rowLines),
        slabLines_(slabLines),
        cycle_(rowLines / std::gcd(rowLines, kPageLines)),
        heights_(static_cast<std::size_t>(rowLines), 0) {}

  /// Nothing where more than `mostRows` rows are needed.
  std::optional<Placed> place(std::span<const Comb> combs, std::span<const std::size_t> order,
                              std::int64_t mostRows) {
    Placed placed;
    placed.pages.resize(combs.size());
    for (const std::size_t n : order) {
      if (combs[n].width == 0) continue;
      placed.pages[n] = put(combs[n], static_cast<std::int64_t>(n) * slabLines_ % kPageLines);
      if (top_ > mostRows) return std::nullopt;
    }
    placed.rows = top_;
    return placed;
  }

 private:
  struct Spot {
    std::int64_t page = 0;
    std::int64_t column = 0;
    std::int64_t row = 0;  ///< of the comb's first row in use
    std::int64_t gap = 0;  ///< rows left free below
  };

  /// By column, the lowest row above what is there for `width` columns from it; those behind the last column
  /// are the first ones of the next row.
  void findFloors(std::int64_t width) {
    const auto height = [&](std::int64_t c) {
      return c < rowLines_ ? heights_[static_cast<std::size_t>(c)]
                           : heights_[static_cast<std::size_t>(c - rowLines_)] - 1;
    };
    floors_.resize(heights_.size());
    highest_.clear();
    std::size_t front = 0;
    for (std::int64_t c = 0; c < rowLines_ + width - 1; ++c) {
      while (highest_.size() > front && height(highest_.back()) <= height(c)) highest_.pop_back();
      highest_.push_back(c);
      const std::int64_t first = c - width + 1;
      if (first < 0) continue;
      if (highest_[front] < first) ++front;
      floors_[static_cast<std::size_t>(first)] = height(highest_[front]);
    }
  }

  std::int64_t put(const Comb& comb, std::int64_t phase) {
    const std::int64_t step = kPageLines * cycle_ / rowLines_;  // rows by which a cycle of pages goes up
    findFloors(comb.width);
    std::optional<Spot> best;
    for (std::int64_t page = 0; page < cycle_; ++page) {
      const std::int64_t start = phase + kPageLines * page + comb.first;
      Spot spot{page, start % rowLines_, start / rowLines_ + comb.rowBegin, 0};
      const std::int64_t floor = floors_[static_cast<std::size_t>(spot.column)];
      const std::int64_t cycles = ceilOf(floor - spot.row, step);
      spot.page += cycles * cycle_;
      spot.row += cycles * step;
      spot.gap = spot.row - floor;
      if (!best || spot.row < best->row || (spot.row == best->row && spot.gap < best->gap)) best = spot;
    }
    const std::int64_t end = best->row + comb.rowEnd - comb.rowBegin;
    for (std::int64_t c = best->column; c < best->column + comb.width; ++c)
      heights_[static_cast<std::size_t>(c % rowLines_)] = end + (c >= rowLines_ ? 1 : 0);
    top_ = std::max(top_, end + (best->column + comb.width > rowLines_ ? 1 : 0));
    return best->page;
  }

  std::int64_t rowLines_;
  std::int64_t slabLines_;
  std::int64_t cycle_;                 ///< pages after which columns come again
  std::vector<std::int64_t> heights_;  ///< by column: the row after the last one in use
  std::vector<std::int64_t> floors_;
  std::vector<std::int64_t> highest_;  ///< columns that may be the highest of the next stretch
  std::int64_t top_ = 0;
};

/// Packs along one of the two axes.
class Packing {
 public:
  Packing(const Box& window, std::span<const Box> parts, std::int64_t elementBytes, int outer)
      : elementBytes_(elementBytes), inner_(3 - outer) {
    packed_.outer = outer;
    packed_.window = window;
    makeSlabs(parts);
    order_.resize(combs_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return combs_[a].width > combs_[b].width; });
  }

  /// Bytes in use, in whole lines of 64.
  std::int64_t used() const { return usedLines_ * kLineBytes; }

  /// The packing that takes the fewest bytes, below `limit`.
  std::optional<PackedWindow> best(std::int64_t limit) {
    if (usedLines_ == 0) return std::nullopt;
    const std::int64_t grain = kLineBytes / std::gcd(kLineBytes, elementBytes_);  // elements of whole lines
    std::int64_t lines = limit / kLineBytes;
    std::int64_t steps = 0;
    std::optional<PackedWindow> found;
    for (const std::int64_t wanted : rowStrides()) {
      const std::int64_t rowStride = ceilOf(wanted * kLineBytes, grain * elementBytes_) * grain;
      const std::int64_t rowLines = rowStride * elementBytes_ / kLineBytes;
      // A page lies between slabs, so that each can be mapped where it likes.
      const std::int64_t rows = packed_.window.extent()[inner_];
      const std::int64_t least = ceilOf(kPageBytes, grain * elementBytes_) * grain + rows * rowStride;
      for (std::int64_t more = 0; more * elementBytes_ < kPageBytes; more += grain) {
        if (found && lines * kGoodEnough <= usedLines_ * (kGoodEnough + 1)) return found;
        steps += 2 * rowLines * static_cast<std::int64_t>(combs_.size());
        if (steps > kMostSteps) return found;
        const std::int64_t slabLines = (least + more) * elementBytes_ / kLineBytes;
        auto placed = Stack(rowLines, slabLines).place(combs_, order_, lines / rowLines);
        if (!placed || (found && placed->rows * rowLines >= lines)) continue;
        lines = placed->rows * rowLines;
        found = packed_;
        found->rowStride = rowStride;
        found->slabStride = least + more;
        found->pages = std::move(placed->pages);
      }
    }
    return found;
  }

 private:
  void makeSlabs(std::span<const Box> parts) {
    const Box& all = packed_.window;
    packed_.slabs.resize(static_cast<std::size_t>(all.extent()[packed_.outer]));
    for (const Box& w : parts) {
      for (std::int64_t n = w.lo[packed_.outer]; n < w.hi[packed_.outer]; ++n) {
        Box part = w;
        part.lo[packed_.outer] = n;
        part.hi[packed_.outer] = n + 1;
        Box& slab = packed_.slabs[static_cast<std::size_t>(n - all.lo[packed_.outer])];
        slab = boundingBox(slab, part);
      }
    }
    for (const Box& slab : packed_.slabs) {
      if (slab.empty()) {
        combs_.push_back({});
        continue;
      }
      const Box at = shift(slab, Index{} - all.lo);
      const std::int64_t first = at.lo.i * elementBytes_ / kLineBytes;
      const std::int64_t end = ceilOf(at.hi.i * elementBytes_, kLineBytes);
      combs_.push_back({first, end - first, at.lo[inner_], at.hi[inner_]});
      usedLines_ += (end - first) * slab.extent()[inner_];
    }
  }

  /// Rows of one width, and how many there are of all slabs.
  struct Width {
    std::int64_t lines = 0;
    std::int64_t rows = 0;
  };

  /// The longest first.
  std::vector<Width> widths() const {
    std::map<std::int64_t, std::int64_t, std::greater<>> rows;
    for (const Comb& comb : combs_) {
      if (comb.width > 0) rows[comb.width] += comb.rowEnd - comb.rowBegin;
    }
    std::vector<Width> widths;
    for (const auto& [lines, count] : rows) {
      if (widths.size() < kWidths) widths.push_back({lines, count});
    }
    return widths;
  }

  /// Sums of lengths of rows, in lines: so far apart rows of several slabs fit between one another. Those
  /// first that promise the least memory, and of about the same promise the short ones.
  std::vector<std::int64_t> rowStrides() const {
    std::map<std::int64_t, std::int64_t> promised;  // lines of memory, by stride
    std::vector<std::int64_t> slots;
    noteSums(widths(), 0, slots, promised);
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (const auto& [stride, memory] : promised) {
      order.emplace_back((memory - usedLines_) * kPromises / usedLines_, stride);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> strides;
    for (const auto& [waste, stride] : order) strides.push_back(stride);
    return strides;
  }

  /// Adds the sums that go on with `slots` for rows of the first widths, and `lines` of these.
  static void noteSums(std::span<const Width> widths, std::int64_t lines, std::vector<std::int64_t>& slots,
                       std::map<std::int64_t, std::int64_t>& promised) {
    if (slots.size() == widths.size()) {
      const std::int64_t height = rowsOfMemory(widths, slots);
      for (const std::int64_t stride : {lines, lines + 1}) {
        const auto [at, isNew] = promised.try_emplace(stride, height * stride);
        if (!isNew) at->second = std::min(at->second, height * stride);
      }
      return;
    }
    const std::int64_t width = widths[slots.size()].lines;
    for (std::int64_t n = slots.empty() ? 1 : 0; n <= kMostSlots; ++n) {
      const std::int64_t more = lines + n * width;
      if (more > kWidest * widths.front().lines) break;
      slots.push_back(n);
      noteSums(widths, more, slots, promised);
      slots.pop_back();
    }
  }

  /// That give each row a slot; one slot has room for several short rows.
  static std::int64_t rowsOfMemory(std::span<const Width> widths, std::span<const std::int64_t> slots) {
    std::int64_t height = 0;
    for (std::size_t n = 0; n < widths.size(); ++n) {
      std::int64_t needed = 0;
      std::int64_t there = 0;
      for (std::size_t wider = 0; wider <= n; ++wider) {
        const std::int64_t room = widths[wider].lines / widths[n].lines;
        needed += room * widths[wider].rows;
        there += room * slots[wider];
      }
      height = std::max(height, ceilOf(needed, there));
    }
    return height;
  }

  std::int64_t elementBytes_;
  int inner_;
  PackedWindow packed_;
  std::vector<Comb> combs_;
  std::vector<std::size_t> order_;  ///< in which combs are put into memory: long rows first
  std::int64_t usedLines_ = 0;
};

/// Notes which pages of memory hold an index in use.
void countPages(PackedWindow& packed, std::int64_t elementBytes) {
  const int inner = 3 - packed.outer;
  std::vector<std::int64_t> pages;
  for (std::size_t n = 0; n < packed.slabs.size(); ++n) {
    if (packed.slabs[n].empty()) continue;
    const Box at = shift(packed.slabs[n], Index{} - packed.window.lo);
    const std::int64_t start = static_cast<std::int64_t>(n) * packed.slabStride * elementBytes;
    const std::int64_t base = packed.pages[n] * kPageBytes + start % kPageBytes;
    for (std::int64_t row = at.lo[inner]; row < at.hi[inner]; ++row) {
      const std::int64_t first = base + (row * packed.rowStride + at.lo.i) * elementBytes;
      const std::int64_t last = base + (row * packed.rowStride + at.hi.i) * elementBytes - 1;
      for (std::int64_t page = first / kPageBytes; page <= last / kPageBytes; ++page) pages.push_back(page);
    }
  }
  std::sort(pages.begin(), pages.end());
  packed.bytes = (std::unique(pages.begin(), pages.end()) - pages.begin()) * kPageBytes;
  packed.memoryPages = pages.back() + 1;
}

}  // namespace

SlabPages slabPages(const PackedWindow& packed, std::size_t slab, std::int64_t elementBytes) {
  if (packed.slabs[slab].empty()) return {};
  const int inner = 3 - packed.outer;
  const Box at = shift(packed.slabs[slab], Index{} - packed.window.lo);
  const std::int64_t start = static_cast<std::int64_t>(slab) * packed.slabStride;
  const std::int64_t first = (start + at.lo[inner] * packed.rowStride + at.lo.i) * elementBytes;
  const std::int64_t end = (start + (at.hi[inner] - 1) * packed.rowStride + at.hi.i) * elementBytes;
  SlabPages pages{first / kPageBytes, (end + kPageBytes - 1) / kPageBytes, 0};
  pages.memory = packed.pages[slab] + pages.begin - start * elementBytes / kPageBytes;
  return pages;
}

std::int64_t addressPages(const PackedWindow& packed, std::int64_t elementBytes) {
  const auto slabs = static_cast<std::int64_t>(packed.slabs.size());
  return ceilOf(slabs * packed.slabStride * elementBytes, kPageBytes);
}

std::optional<PackedWindow> packWindow(const Box& window, std::span<const Box> parts,
                                       std::int64_t elementBytes, std::int64_t limit) {
  if (limit < kLeastPages * kPageBytes) return std::nullopt;
  std::optional<PackedWindow> best;
  for (const int outer : {2, 1}) {
    Packing packing(window, parts, elementBytes, outer);
    if (packing.used() > limit) continue;
    std::optional<PackedWindow> found = packing.best(limit);
    if (!found) continue;
    countPages(*found, elementBytes);
    if (found->bytes > limit || (best && found->bytes >= best->bytes)) continue;
    limit = found->bytes;
    best = std::move(found);
  }
  return best;
}

}  // namespace tessera
