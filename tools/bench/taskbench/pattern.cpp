#include "tools/bench/taskbench/pattern.hpp"

#include <algorithm>
#include <bit>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "tools/bench/taskbench/even_hash.hpp"

namespace tessera::bench {
namespace {

/// Which of the graph's repeating rows this is.
int dependenceSet(const Pattern& p, int step) {
  switch (p.kind) {
    case PatternKind::Fft: {
      const int stages = std::max(1, std::countr_zero(static_cast<unsigned>(p.width)));
      return (step + stages - 1) % stages;
    }
    case PatternKind::Spread:
    case PatternKind::RandomNearest:
      return step % p.period;
    default:
      return 0;
  }
}

/// Whether a random pattern has the edge; the same answer from both of its ends.
bool drawn(const Pattern& p, int set, int from, int to) {
  return from == to ||
         evenHash(static_cast<std::uint64_t>(p.radix), static_cast<std::uint64_t>(set),
                  static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)) < p.fraction;
}

int wrapped(std::int64_t column, int width) { return static_cast<int>((column % width + width) % width); }

/// first, first + 1, ..., last
std::vector<int> range(int first, int last) {
  std::vector<int> columns;
  for (int c = first; c <= last; ++c) columns.push_back(c);
  return columns;
}

/// The definitions as written, which may name a column twice, or one that the row does not have.
std::vector<int> rawInputs(const Pattern& p, int step, int column) {
  const int set = dependenceSet(p, step);
  switch (p.kind) {
    case PatternKind::Trivial:
      return {};
    case PatternKind::NoComm:
      return {column};
    case PatternKind::Stencil1d:
      return {column - 1, column, column + 1};
    case PatternKind::Stencil1dPeriodic:
      return {wrapped(column - 1, p.width), column, wrapped(column + 1, p.width)};
    case PatternKind::Dom:
      return {column - 1, column};
    case PatternKind::Tree:
      return {column / 2};
    case PatternKind::Fft:
      return {column - (1 << set), column, column + (1 << set)};
    case PatternKind::Nearest:
      return range(column - p.radix / 2, column + (p.radix - 1) / 2);
    case PatternKind::RandomNearest: {
      std::vector<int> near = range(column - p.radix / 2, column + (p.radix - 1) / 2);
      std::erase_if(near, [&](int from) { return !drawn(p, set, from, column); });
      return near;
    }
    case PatternKind::Spread: {
      std::vector<int> spread{column};
      for (std::int64_t i = 1; i < p.radix; ++i)
        spread.push_back(wrapped(column + i * p.width / p.radix + set, p.width));
      return spread;
    }
    case PatternKind::AllToAll:
      return range(0, p.width - 1);
  }
  return {};
}

std::vector<int> rawReaders(const Pattern& p, int step, int column) {
  const int set = dependenceSet(p, step + 1);
  switch (p.kind) {
    case PatternKind::Dom:
      return {column, column + 1};
    case PatternKind::Tree:
      return {2 * column, 2 * column + 1};
    case PatternKind::Nearest:
      return range(column - (p.radix - 1) / 2, column + p.radix / 2);
    case PatternKind::RandomNearest: {
      std::vector<int> near = range(column - (p.radix - 1) / 2, column + p.radix / 2);
      std::erase_if(near, [&](int to) { return !drawn(p, set, column, to); });
      return near;
    }
    case PatternKind::Spread: {
      std::vector<int> spread{column};
      for (std::int64_t i = 1; i < p.radix; ++i)
        spread.push_back(wrapped(column - i * p.width / p.radix - set, p.width));
      return spread;
    }
    default:  // as far to one side as to the other
      return rawInputs(p, step + 1, column);
  }
}

std::vector<int> within(Columns row, std::vector<int> columns) {
  std::erase_if(columns, [&](int c) { return !row.has(c); });
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

void expectAtLeastOne(const char* option, int value) {
  if (value >= 1) return;
  throw UsageError(std::string(option) + " is " + std::to_string(value) +
                   ", but there has to be at least one; write " + option + " 1 or more");
}

}  // namespace

const std::vector<std::string>& patternNames() {
  static const std::vector<std::string> names{
      "trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom",       "tree",
      "fft",     "nearest", "spread",     "random_nearest",      "all_to_all"};
  return names;
}

std::string_view nameOf(PatternKind kind) { return patternNames()[static_cast<std::size_t>(kind)]; }

PatternKind patternOf(std::string_view name) {
  const std::vector<std::string>& names = patternNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<PatternKind>(found - names.begin());
  throw UsageError("there is no pattern '" + std::string(name) + "'" + didYouMeanOneOf(name, names));
}

void expectValid(const Pattern& p) {
  expectAtLeastOne("--width", p.width);
  expectAtLeastOne("--steps", p.steps);
  expectAtLeastOne("--radix", p.radix);
  expectAtLeastOne("--period", p.period);
  if (p.kind == PatternKind::Fft && !std::has_single_bit(static_cast<unsigned>(p.width))) {
    throw UsageError("fft has a row of 2^n columns, but --width is " + std::to_string(p.width) +
                     "; write --width " + std::to_string(std::bit_ceil(static_cast<unsigned>(p.width))));
  }
  if (p.kind == PatternKind::Spread && p.radix > p.width) {
    throw UsageError("spread reads " + std::to_string(p.radix) + " columns, but a row has " +
                     std::to_string(p.width) + "; write --radix " + std::to_string(p.width) +
                     " or a larger --width");
  }
  if (p.kind == PatternKind::RandomNearest && !(p.fraction >= 0.0 && p.fraction <= 1.0)) {
    throw UsageError("--fraction is a probability and has to lie in 0 .. 1; write --fraction 0.25");
  }
  if (std::int64_t{p.width} * p.steps > (std::int64_t{1} << 30)) {
    throw UsageError("--width times --steps is " + std::to_string(std::int64_t{p.width} * p.steps) +
                     " tasks, more than the 2^30 that one graph holds; write a smaller --steps");
  }
}

Columns columnsOf(const Pattern& p, int step) {
  if (step < 0 || step >= p.steps) return {};
  if (p.kind == PatternKind::Dom) {
    const int first = std::max(0, step + p.width - p.steps);
    return {first, first + std::min({p.width, step + 1, p.steps - step})};
  }
  if (p.kind == PatternKind::Tree) return {0, step < 30 ? std::min(p.width, 1 << step) : p.width};
  return {0, p.width};
}

std::vector<int> inputsOf(const Pattern& p, int step, int column) {
  return within(columnsOf(p, step - 1), rawInputs(p, step, column));
}

std::vector<int> readersOf(const Pattern& p, int step, int column) {
  return within(columnsOf(p, step + 1), rawReaders(p, step, column));
}

}  // namespace tessera::bench
