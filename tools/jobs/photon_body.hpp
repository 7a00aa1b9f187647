#pragma once

#include <cmath>

#include "core/elementary.hpp"
#include "core/elementary_float.hpp"
#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// Light of one band in a layer: coefficients of absorption and scattering, and the mean cosine of
/// scattering.
template <class Real>
struct LayerOptics {
  Real absorbs = 0;
  Real scatters = 0;
  Real cosine = 0;
  // From these, so that a step divides no more than it has to.
  Real attenuates = 0;  ///< absorbs + scatters
  Real path = 0;        ///< mean free path, 1 / attenuates
  Real absorbed = 0;    ///< part of a weight that ends with a path
  Real sum = 1;         ///< 1 + g^2, where g is the mean cosine
  Real difference = 1;  ///< 1 - g^2
  Real half = 0;        ///< 1 / 2 g

  LayerOptics() = default;
  LayerOptics(double theAbsorbs, double theScatters, double g)
      : absorbs(static_cast<Real>(theAbsorbs)),
        scatters(static_cast<Real>(theScatters)),
        cosine(static_cast<Real>(g)),
        attenuates(static_cast<Real>(theAbsorbs + theScatters)),
        path(static_cast<Real>(theAbsorbs + theScatters > 0.0 ? 1.0 / (theAbsorbs + theScatters) : 0.0)),
        absorbed(static_cast<Real>(theAbsorbs + theScatters > 0.0 ? theAbsorbs / (theAbsorbs + theScatters)
                                                                  : 1.0)),
        sum(static_cast<Real>(1.0 + g * g)),
        difference(static_cast<Real>(1.0 - g * g)),
        half(static_cast<Real>(g != 0.0 ? 0.5 / g : 0.0)) {}
};

/// A layer of tissue, of infinite width. Lengths in cm, coefficients in 1/cm.
template <class Real>
struct TissueLayer {
  Real top = 0;
  Real bottom = 0;
  Real index = 1;
  Real fluoresces = 0;          ///< the part of what is absorbed that is re-emitted
  LayerOptics<Real> optics[2];  ///< of the band that comes in, and of fluorescence
};

/// What photons are counted by.
enum PhotonTally {
  kDiffuse,
  kTransmitted,
  kAbsorbed,
  kCreated,
  kTopGlow,
  kBottomGlow,
  kReabsorbed,
  kTallies
};

/// Photon packets in layered tissue: steps of random length, weights that drop by absorption, scattering by
/// Henyey and Greenstein, Fresnel's reflection between layers, roulette for small weights. A packet that is
/// absorbed in a fluorescent layer pushes a packet of the other band, of weight 1, with the probability of
/// its weight. Random numbers are by photon, generation and number of the step. `Real`: double or float; what
/// is counted is counted in whole multiples of kResolution in both.
template <class Real>
struct PhotonBody {
  static constexpr int kPushes = 1;
  static constexpr int kMostLayers = 8;
  static constexpr std::int64_t kBatches = 64;
  static constexpr double kResolution = 0x1p-30;  ///< of tallies and absorption; a weight is at most 1
  struct Unit {
    std::int64_t photon = 0;
    std::uint32_t birth = 0;  ///< 0, or 1 + the step at which its parent pushed it
    std::uint32_t step = 0;
    std::int16_t layer = 0;
    std::int16_t band = 0;
    std::int32_t cell = 0;       ///< of the absorption map, to which `here` belongs
    std::uint32_t here = 0;      ///< absorbed there and not yet added, in multiples of kResolution
    std::uint32_t absorbed = 0;  ///< in all
    Real x = 0, y = 0, z = 0;
    Real ux = 0, uy = 0, uz = 1;
    Real weight = 1;
    Real left = 0;  ///< of the step, in mean free paths
  };

  const TissueLayer<Real>* layers = nullptr;  ///< of a domain: lanes read different ones at once
  int count = 0;
  Real outside = 1;  ///< index of refraction above and below
  Real specular = 0;
  std::uint32_t seed = 1;
  SumArray tallies;     ///< by tally and batch
  SumArray absorption;  ///< by depth and, in each bin, by radius
  Real ringsPerLength = 0;
  Real binsPerLength = 0;
  std::int32_t rings = 1;
  std::int32_t bins = 1;

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.photon = at.i;
    unit.weight = Real{1} - specular;
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units& units) const {
    const PhiloxWords random = draw(unit, 0);
    const TissueLayer<Real>& layer = layers[unit.layer];
    const LayerOptics<Real>& optics = layer.optics[unit.band];
    if (unit.left <= 0) unit.left = -plainLog(uniform(random.x));
    const bool down = unit.uz > 0;
    const Real edge = down ? layer.bottom : layer.top;
    const Real depth = down ? edge - unit.z : unit.z - edge;
    const Real steepness = down ? unit.uz : -unit.uz;
    ++unit.step;
    if (depth * optics.attenuates < unit.left * steepness) {
      const Real toEdge = depth / steepness;
      unit.left -= toEdge * optics.attenuates;
      unit.x += toEdge * unit.ux;
      unit.y += toEdge * unit.uy;
      unit.z = edge;
      return cross(unit, uniform(random.y));
    }
    const Real length = unit.left * optics.path;
    unit.left = 0;
    unit.x += length * unit.ux;
    unit.y += length * unit.uy;
    unit.z += length * unit.uz;
    const Real absorbed = unit.weight * optics.absorbed;
    absorb(unit, absorbed, layer, units);
    unit.weight -= absorbed;
    if (unit.weight < Real(1e-4)) {
      if (unit.weight <= 0 || uniform(random.w) > Real(0.1)) return end(unit);
      unit.weight *= 10;
    }
    scatter(unit, optics, uniform(random.y), uniform(random.z));
    return UnitEnd::GoOn;
  }

 private:
  TESSERA_KERNEL static Real uniform(std::uint32_t word) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return unitFloat(word);
    } else {
      return unitReal(word);
    }
  }
  TESSERA_KERNEL static Real root(Real x) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return sqrtf(x);
    } else {
      return sqrt(x);
    }
  }
  /// In multiples of kResolution.
  TESSERA_KERNEL static std::uint32_t whole(Real weight) {
    return static_cast<std::uint32_t>(weight * Real(1.0 / kResolution) + Real(0.5));
  }

  TESSERA_KERNEL void note(PhotonTally tally, const Unit& unit, Real weight) const {
    tallies.addWhole({tally, unit.photon % kBatches, 0}, whole(weight));
  }
  TESSERA_KERNEL UnitEnd end(const Unit& unit) const {
    tallies.addWhole({unit.band == 0 ? kAbsorbed : kReabsorbed, unit.photon % kBatches, 0}, unit.absorbed);
    addToMap(unit);
    return UnitEnd::Done;
  }
  TESSERA_KERNEL void addToMap(const Unit& unit) const {
    const Index cell{unit.cell, 0, 0};
    if (unit.here != 0) absorption.addWhole(cell, unit.here);
  }
  TESSERA_KERNEL PhiloxWords draw(const Unit& unit, std::uint32_t more) const {
    return philox<7>({static_cast<std::uint32_t>(unit.photon), static_cast<std::uint32_t>(unit.photon >> 32),
                      unit.step, more},
                     {seed, unit.birth});
  }

  template <class Units>
  TESSERA_KERNEL void absorb(Unit& unit, Real weight, const TissueLayer<Real>& layer, Units& units) const {
    const std::uint32_t part = whole(weight);
    unit.absorbed += part;
    if (unit.band != 0) return;
    const Real ring = root(unit.x * unit.x + unit.y * unit.y) * ringsPerLength;
    const Real bin = unit.z * binsPerLength;
    const std::int32_t cell =
        (ring < static_cast<Real>(rings) ? static_cast<std::int32_t>(ring) : rings - 1) +
        (bin < static_cast<Real>(bins) ? static_cast<std::int32_t>(bin) : bins - 1) * rings;
    // Steps are short against cells, so several of them go to one place at once.
    if (cell != unit.cell) {
      addToMap(unit);
      unit.cell = cell;
      unit.here = 0;
    }
    unit.here += part;
    if (layer.fluoresces > 0) fluoresce(unit, weight * layer.fluoresces, units);
  }

  template <class Units>
  TESSERA_KERNEL void fluoresce(const Unit& unit, Real probability, Units& units) const {
    const PhiloxWords random = draw(unit, 1);
    if (uniform(random.x) > probability) return;
    Unit child = unit;
    child.birth = 1 + unit.step;
    child.step = 0;
    child.band = 1;
    child.weight = 1;
    child.left = 0;
    child.absorbed = 0;
    child.here = 0;
    child.uz = Real{2} * uniform(random.y) - Real{1};
    const Real sine = root(Real{1} - child.uz * child.uz);
    const auto angle = plainSineCosine(uniform(random.z));
    child.ux = sine * angle.cosine;
    child.uy = sine * angle.sine;
    note(kCreated, unit, 1);
    units.push(child);
  }

  /// The direction turns by an angle of Henyey and Greenstein.
  TESSERA_KERNEL static void scatter(Unit& unit, const LayerOptics<Real>& optics, Real u, Real turn) {
    const Real g = optics.cosine;
    Real cosine = Real{2} * u - Real{1};
    if (g != 0) {
      const Real q = optics.difference / (Real{1} - g + Real{2} * g * u);
      cosine = (optics.sum - q * q) * optics.half;
    }
    const Real rest = Real{1} - cosine * cosine;
    const Real sine2 = rest > 0 ? rest : Real{0};
    const auto angle = plainSineCosine(turn);
    const Real ux = unit.ux, uy = unit.uy, uz = unit.uz;
    const Real across = Real{1} - uz * uz;
    if (across < kUpright) {
      const Real sine = root(sine2);
      unit.ux = sine * angle.cosine;
      unit.uy = sine * angle.sine;
      unit.uz = uz > 0 ? cosine : -cosine;
      return;
    }
    const Real part = root(sine2 / across);
    const Real along = part * angle.cosine;
    const Real aside = part * angle.sine;
    unit.ux = (along * uz + cosine) * ux - aside * uy;
    unit.uy = (along * uz + cosine) * uy + aside * ux;
    unit.uz = uz * cosine - along * across;
  }

  /// At the edge of a layer: reflected, or on to the next layer, or out.
  TESSERA_KERNEL UnitEnd cross(Unit& unit, Real u) const {
    const bool down = unit.uz > 0;
    const int next = unit.layer + (down ? 1 : -1);
    const bool leaves = next < 0 || next == count;
    const Real n1 = layers[unit.layer].index;
    const Real n2 = leaves ? outside : layers[next].index;
    const Real cos1 = down ? unit.uz : -unit.uz;
    const Real ratio = n1 / n2;
    const Real sin2 = ratio * ratio * (Real{1} - cos1 * cos1);
    Real reflects = 1;
    Real cos2 = 0;
    if (sin2 < 1) {
      cos2 = root(Real{1} - sin2);
      // Half the sum of the squares of Fresnel's two ratios, over one denominator.
      const Real over = (n1 * cos1 + n2 * cos2) * (n1 * cos2 + n2 * cos1);
      const Real s = (n1 * cos1 - n2 * cos2) * (n1 * cos2 + n2 * cos1);
      const Real p = (n1 * cos2 - n2 * cos1) * (n1 * cos1 + n2 * cos2);
      reflects = n1 == n2 ? Real{0} : Real{0.5} * (s * s + p * p) / (over * over);
    }
    if (u < reflects) {
      unit.uz = -unit.uz;
      return UnitEnd::GoOn;
    }
    if (leaves) {
      const PhotonTally out =
          unit.band == 0 ? (down ? kTransmitted : kDiffuse) : (down ? kBottomGlow : kTopGlow);
      note(out, unit, unit.weight);
      return end(unit);
    }
    unit.ux *= ratio;
    unit.uy *= ratio;
    unit.uz = down ? cos2 : -cos2;
    unit.layer = static_cast<std::int16_t>(next);
    return UnitEnd::GoOn;
  }

  /// Of 1 - uz^2: below it, the direction counts as upright.
  static constexpr Real kUpright = sizeof(Real) == sizeof(float) ? Real(1e-6) : Real(1e-10);
};

const JobKernels& photonKernels();
const JobKernels& floatPhotonKernels();

}  // namespace tessera::jobs
