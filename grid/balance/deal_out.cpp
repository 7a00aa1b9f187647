#include "grid/balance/deal_out.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

constexpr int kDigits =
    21;  ///< of a position along an axis: finer than any patch of a run that fits into memory

using Places = std::array<std::uint64_t, kAxes>;

/// The numbers of a place on the Hilbert curve, digit by digit across the axes, by the exchanges and
/// inversions of J. Skilling, AIP Conference Proceedings 707 (2004), 381.
void turnToHilbert(Places& x, int axes) {
  constexpr std::uint64_t kHighest = std::uint64_t{1} << (kDigits - 1);
  for (std::uint64_t digit = kHighest; digit > 1; digit >>= 1) {
    const std::uint64_t below = digit - 1;
    for (int d = 0; d < axes; ++d) {
      const auto n = static_cast<std::size_t>(d);
      if ((x[n] & digit) != 0) {
        x[0] ^= below;
      } else {
        const std::uint64_t swapped = (x[0] ^ x[n]) & below;
        x[0] ^= swapped;
        x[n] ^= swapped;
      }
    }
  }
  for (int d = 1; d < axes; ++d) x[static_cast<std::size_t>(d)] ^= x[static_cast<std::size_t>(d) - 1];
  std::uint64_t flips = 0;
  for (std::uint64_t digit = kHighest; digit > 1; digit >>= 1) {
    if ((x[static_cast<std::size_t>(axes) - 1] & digit) != 0) flips ^= digit - 1;
  }
  for (int d = 0; d < axes; ++d) x[static_cast<std::size_t>(d)] ^= flips;
}

/// `first` says whether the first axis has the highest of the digits that belong together.
std::uint64_t interleaved(const Places& x, int axes, bool first) {
  std::uint64_t key = 0;
  for (int digit = kDigits - 1; digit >= 0; --digit) {
    for (int n = 0; n < axes; ++n) {
      const int d = first ? n : axes - 1 - n;
      key = key << 1 | (x[static_cast<std::size_t>(d)] >> digit & 1);
    }
  }
  return key;
}

std::vector<std::uint64_t> positionsOf(const Level& level, Curve curve) {
  std::vector<std::uint64_t> positions;
  for (const Patch& patch : level.patches())
    positions.push_back(positionOnCurve(curve, patch.cells, level.domain(), level.geometry()));
  return positions;
}

std::span<const double> ofLevel(std::span<const double> costs, const Level& level) {
  if (level.patches().empty()) return {};
  return costs.subspan(static_cast<std::size_t>(level.firstPatch()), level.patches().size());
}

std::vector<double> sharesOf(const Level& level, const RankMap& owners, std::span<const double> costs,
                             int ranks) {
  std::vector<double> shares(static_cast<std::size_t>(ranks), 0.0);
  for (const Patch& patch : level.patches()) {
    const auto id = static_cast<std::size_t>(patch.id);
    shares[static_cast<std::size_t>(owners[id])] += costs[id];
  }
  return shares;
}

double largest(const std::vector<double>& shares) { return *std::max_element(shares.begin(), shares.end()); }

/// What a cell of each level has cost on average; 0 on a level without patches.
std::vector<double> meanCosts(const Hierarchy& hierarchy, std::span<const double> costs) {
  std::vector<double> means;
  for (const Level& level : hierarchy.levels()) {
    const std::span<const double> own = ofLevel(costs, level);
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    means.push_back(own.empty() ? 0.0 : sum / static_cast<double>(level.cellCount()));
  }
  return means;
}

}  // namespace

std::uint64_t positionOnCurve(Curve curve, const Box& cells, const Box& domain, const Geometry& geometry) {
  Places places{};
  int axes = 0;
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    const auto centre = 0.5 * static_cast<double>(cells.lo[d] + cells.hi[d] - 2 * domain.lo[d]);
    const double part = centre / static_cast<double>(domain.extent()[d]);
    places[static_cast<std::size_t>(axes++)] =
        static_cast<std::uint64_t>(part * static_cast<double>(std::uint64_t{1} << kDigits));
  }
  if (axes == 0) return 0;
  if (curve == Curve::Hilbert) turnToHilbert(places, axes);
  return interleaved(places, axes, curve == Curve::Hilbert);
}

std::vector<int> cutByCost(std::span<const std::uint64_t> positions, std::span<const double> costs,
                           int parts) {
  TESSERA_EXPECT(parts >= 1, "cut into at least one part");
  TESSERA_EXPECT(positions.size() == costs.size(), "give each piece a cost");
  const double sum = std::accumulate(costs.begin(), costs.end(), 0.0);
  const bool alike = !(sum > 0.0);
  const double total = alike ? static_cast<double>(costs.size()) : sum;
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return positions[a] < positions[b]; });
  std::vector<int> partOf(positions.size(), 0);
  double before = 0.0;
  for (const std::size_t n : order) {
    const double cost = alike ? 1.0 : costs[n];
    // The part whose share contains the middle of this piece of the curve.
    partOf[n] = std::min(static_cast<int>((before + 0.5 * cost) / total * parts), parts - 1);
    before += cost;
  }
  return partOf;
}

std::vector<double> costsByCells(const Hierarchy& hierarchy, std::span<const double> stepsOfLevel) {
  std::vector<double> costs;
  for (const Level& level : hierarchy.levels()) {
    const double steps = stepsOfLevel.empty() ? 1.0 : stepsOfLevel[static_cast<std::size_t>(level.number())];
    for (const Patch& patch : level.patches())
      costs.push_back(steps * static_cast<double>(patch.cells.volume()));
  }
  return costs;
}

RankMap dealOut(const Hierarchy& hierarchy, std::span<const double> costs, int ranks,
                const DealRules& rules) {
  std::vector<std::uint64_t> all;
  RankMap owners;
  for (const Level& level : hierarchy.levels()) {
    const std::vector<std::uint64_t> positions = positionsOf(level, rules.curve);
    if (rules.together) {
      all.insert(all.end(), positions.begin(), positions.end());
      continue;
    }
    const std::vector<int> parts = cutByCost(positions, ofLevel(costs, level), ranks);
    owners.insert(owners.end(), parts.begin(), parts.end());
  }
  if (!rules.together) return owners;
  const std::vector<int> parts = cutByCost(all, costs, ranks);
  return {parts.begin(), parts.end()};
}

std::vector<double> costsOn(const Hierarchy& after, const Hierarchy& before, std::span<const double> costs) {
  const std::vector<double> means = meanCosts(before, costs);
  const double dearest = *std::max_element(means.begin(), means.end());
  std::vector<double> result;
  for (const Level& level : after.levels()) {
    const auto number = static_cast<std::size_t>(level.number());
    const double usual = means[number] > 0.0 ? means[number] : dearest;
    for (const Patch& patch : level.patches()) {
      double cost = 0.0;
      std::int64_t fresh = patch.cells.volume();
      before.levels()[number].forEachOverlapping(patch.cells, [&](const Patch& old) {
        const std::int64_t common = intersect(old.cells, patch.cells).volume();
        fresh -= common;
        cost += costs[static_cast<std::size_t>(old.id)] * static_cast<double>(common) /
                static_cast<double>(old.cells.volume());
      });
      result.push_back(cost + usual * static_cast<double>(fresh));
    }
  }
  return result;
}

double imbalanceOf(const Hierarchy& hierarchy, const RankMap& owners, std::span<const double> costs,
                   int ranks, LevelId only) {
  std::vector<double> shares(static_cast<std::size_t>(ranks), 0.0);
  for (const Level& level : hierarchy.levels()) {
    if (only >= 0 && level.number() != only) continue;
    const std::vector<double> own = sharesOf(level, owners, costs, ranks);
    for (std::size_t rank = 0; rank < own.size(); ++rank) shares[rank] += own[rank];
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return sum > 0.0 ? largest(shares) * ranks / sum : 1.0;
}

double costOfStep(const Hierarchy& hierarchy, const RankMap& owners, std::span<const double> costs, int ranks,
                  bool levelsTakeTurns) {
  double ofTurns = 0.0;
  std::vector<double> shares(static_cast<std::size_t>(ranks), 0.0);
  for (const Level& level : hierarchy.levels()) {
    const std::vector<double> own = sharesOf(level, owners, costs, ranks);
    ofTurns += largest(own);
    for (std::size_t rank = 0; rank < own.size(); ++rank) shares[rank] += own[rank];
  }
  return levelsTakeTurns ? ofTurns : largest(shares);
}

}  // namespace tessera
