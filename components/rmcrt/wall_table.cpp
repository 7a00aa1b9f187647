#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "components/rmcrt/rmcrt_parameters.hpp"
#include "core/deck/expression.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kMostFaces = std::int64_t{1} << 22;

/// Puts one wall after the other into a table.
class WallReader {
 public:
  WallReader(const ParameterValues& values, double stefanBoltzmann, const Geometry& geometry)
      : values_(values), stefanBoltzmann_(stefanBoltzmann), geometry_(geometry) {}

  RayWall read(int side) {
    const Expression temperature = expressionOf(side, "temperature", 0.0);
    const Expression emissivity = expressionOf(side, "emissivity", 1.0);
    RayWall wall;
    wall.first = static_cast<std::int64_t>(numbers_.size()) / RayWalls<TableView>::kNumbers;
    if (geometry_.active(side / 2) && !(temperature.isConstant() && emissivity.isConstant())) {
      wall.across[0] = geometry_.cells[firstAcross(side / 2)];
      wall.across[1] = geometry_.cells[secondAcross(side / 2)];
    }
    if (!isTooLarge(side, wall)) addFaces(side, wall, temperature, emissivity);
    return wall;
  }
  std::vector<double> take() {
    findings_.throwIfErrors();
    return std::move(numbers_);
  }

 private:
  void addFaces(int side, const RayWall& wall, const Expression& temperature, const Expression& emissivity) {
    const std::string mirror = keyOf(side, "mirror");
    const double mirrored = values_.has(mirror) ? values_.real(mirror) : 0.0;
    const int axis = side / 2;
    Real3 at;
    at[axis] = side % 2 == 1 ? geometry_.upper[axis] : geometry_.lower[axis];
    for (std::int64_t v = 0; v < wall.across[1]; ++v) {
      at[secondAcross(axis)] = middleOf(secondAcross(axis), v, wall.across[1]);
      for (std::int64_t u = 0; u < wall.across[0]; ++u) {
        at[firstAcross(axis)] = middleOf(firstAcross(axis), u, wall.across[0]);
        const double t = temperature(at.x, at.y, at.z, 0.0);
        const double e = emissivity(at.x, at.y, at.z, 0.0);
        if (!(t >= 0.0 && std::isfinite(t))) refuse(side, "temperature", t, at, "from 0 on");
        if (!(e >= 0.0 && e <= 1.0)) refuse(side, "emissivity", e, at, "between 0 and 1");
        if (findings_.hasErrors()) return;
        numbers_.insert(numbers_.end(), {intensityOf(t, stefanBoltzmann_), e, mirrored});
      }
    }
  }
  /// The key of the side where the deck has it, else that of all walls.
  std::string keyOf(int side, const std::string& key) const {
    const std::string own = std::string("wall.") + sideName(side) + "." + key;
    return values_.has(own) ? own : "wall." + key;
  }
  Expression expressionOf(int side, const std::string& what, double usual) const {
    const std::string key = keyOf(side, what);
    return values_.has(key) ? values_.expression(key) : Expression::constant(usual);
  }
  double middleOf(int axis, std::int64_t face, std::int64_t faces) const {
    const double part = (static_cast<double>(face) + 0.5) / static_cast<double>(faces);
    return geometry_.lower[axis] + part * (geometry_.upper[axis] - geometry_.lower[axis]);
  }
  bool isTooLarge(int side, const RayWall& wall) {
    const std::int64_t most = kMostFaces / std::max<std::int64_t>(wall.across[0], 1);
    if (wall.across[1] <= most) return false;
    findings_.error(values_.tableWhere(), std::string("the wall ") + sideName(side) +
                                              " varies and has more than " + std::to_string(kMostFaces) +
                                              " faces on level 0; give numbers for it, or a coarser level 0");
    return true;
  }
  void refuse(int side, const std::string& what, double value, const Real3& place, const char* range) {
    const std::string key = keyOf(side, what);
    std::ostringstream text;
    text << "rmcrt." << key << " is " << value << " at (" << place.x << ", " << place.y << ", " << place.z
         << "), on the wall " << sideName(side) << "; let it be " << range << " on all of it";
    findings_.error(values_.where(key), text.str());
  }

  const ParameterValues& values_;
  const double stefanBoltzmann_;
  const Geometry& geometry_;
  std::vector<double> numbers_;
  DeckDiagnostics findings_;
};

}  // namespace

double intensityOf(double temperature, double stefanBoltzmann) {
  return intensityOfFourthPower(stefanBoltzmann) * fourthPower(temperature);
}

WallTable wallsOf(const ParameterValues& values, double stefanBoltzmann, ComponentSetup& setup) {
  WallReader reader(values, stefanBoltzmann, setup.geometry);
  WallTable walls;
  for (int side = 0; side < kSides; ++side) walls.sides[static_cast<std::size_t>(side)] = reader.read(side);
  walls.table = setup.labels.table("rmcrt.walls", reader.take());
  return walls;
}

}  // namespace tessera
