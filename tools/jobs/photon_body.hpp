#pragma once

#include <cmath>

#include "core/elementary.hpp"
#include "core/philox.hpp"
#include "scheduler/engine/kinds/plain_math.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// Light of one band in a layer: coefficients of absorption and scattering, and the mean cosine of
/// scattering.
struct LayerOptics {
  double absorbs = 0.0;
  double scatters = 0.0;
  double cosine = 0.0;
  // From these, so that a step divides no more than it has to.
  double attenuates = 0.0;  ///< absorbs + scatters
  double path = 0.0;        ///< mean free path, 1 / attenuates
  double absorbed = 0.0;    ///< parts of a weight at the end of a path
  double scattered = 0.0;
  double sum = 1.0;         ///< 1 + g^2, where g is the mean cosine
  double difference = 1.0;  ///< 1 - g^2
  double half = 0.0;        ///< 1 / 2 g

  LayerOptics() = default;
  LayerOptics(double theAbsorbs, double theScatters, double g)
      : absorbs(theAbsorbs),
        scatters(theScatters),
        cosine(g),
        attenuates(theAbsorbs + theScatters),
        path(attenuates > 0.0 ? 1.0 / attenuates : 0.0),
        absorbed(absorbs * path),
        scattered(scatters * path),
        sum(1.0 + g * g),
        difference(1.0 - g * g),
        half(g != 0.0 ? 0.5 / g : 0.0) {}
};

/// A layer of tissue, of infinite width. Lengths in cm, coefficients in 1/cm.
struct TissueLayer {
  double top = 0.0;
  double bottom = 0.0;
  double index = 1.0;
  LayerOptics optics[2];    ///< of the band that comes in, and of fluorescence
  double fluoresces = 0.0;  ///< the part of the absorption coefficient that is re-emitted
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
/// its weight. Random numbers are by photon, generation and number of the step.
struct PhotonBody {
  static constexpr int kPushes = 1;
  static constexpr int kMostLayers = 8;
  static constexpr std::int64_t kBatches = 64;
  struct Unit {
    std::int64_t photon = 0;
    std::uint32_t birth = 0;  ///< 0, or 1 + the step at which its parent pushed it
    std::uint32_t step = 0;
    std::int16_t layer = 0;
    std::int16_t band = 0;
    double x = 0.0, y = 0.0, z = 0.0;
    double ux = 0.0, uy = 0.0, uz = 1.0;
    double weight = 1.0;
    double left = 0.0;          ///< of the step, in mean free paths
    std::int64_t absorbed = 0;  ///< of its weight so far, as SumArray::whole
  };

  TissueLayer layers[kMostLayers];
  int count = 0;
  double outside = 1.0;  ///< index of refraction above and below
  double specular = 0.0;
  std::uint32_t seed = 1;
  SumArray tallies;     ///< by tally and batch
  SumArray absorption;  ///< by radius and depth
  double ringsPerLength = 0.0;
  double binsPerLength = 0.0;
  std::int64_t rings = 1;
  std::int64_t bins = 1;

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.photon = at.i;
    unit.weight = 1.0 - specular;
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units& units) const {
    const PhiloxWords random = draw(unit, 0);
    const TissueLayer& layer = layers[unit.layer];
    const LayerOptics& optics = layer.optics[unit.band];
    if (unit.left <= 0.0) unit.left = -engine::plainLog(unitReal(random.x));
    const double toEdge =
        unit.uz == 0.0 ? 1e300 : ((unit.uz > 0.0 ? layer.bottom : layer.top) - unit.z) / unit.uz;
    if (toEdge * optics.attenuates < unit.left) {
      unit.left -= toEdge * optics.attenuates;
      unit.x += toEdge * unit.ux;
      unit.y += toEdge * unit.uy;
      unit.z = unit.uz > 0.0 ? layer.bottom : layer.top;
      ++unit.step;
      return cross(unit, unitReal(random.y));
    }
    const double length = unit.left * optics.path;
    unit.left = 0.0;
    unit.x += length * unit.ux;
    unit.y += length * unit.uy;
    unit.z += length * unit.uz;
    absorb(unit, unit.weight * optics.absorbed, layer, units);
    unit.weight *= optics.scattered;
    ++unit.step;
    if (unit.weight < 1e-4) {
      if (unit.weight <= 0.0 || unitReal(random.w) > 0.1) return end(unit);
      unit.weight *= 10.0;
    }
    scatter(unit, optics, unitReal(random.y), unitReal(random.z));
    return UnitEnd::GoOn;
  }

  TESSERA_KERNEL void note(PhotonTally tally, const Unit& unit, double weight) const {
    tallies.add({tally, unit.photon % kBatches, 0}, weight);
  }

 private:
  TESSERA_KERNEL UnitEnd end(const Unit& unit) const {
    tallies.addWhole({unit.band == 0 ? kAbsorbed : kReabsorbed, unit.photon % kBatches, 0}, unit.absorbed);
    return UnitEnd::Done;
  }
  TESSERA_KERNEL PhiloxWords draw(const Unit& unit, std::uint32_t more) const {
    return philox({static_cast<std::uint32_t>(unit.photon), static_cast<std::uint32_t>(unit.photon >> 32),
                   unit.step, more},
                  {seed, unit.birth});
  }

  template <class Units>
  TESSERA_KERNEL void absorb(Unit& unit, double weight, const TissueLayer& layer, Units& units) const {
    unit.absorbed += tallies.whole(weight);
    if (unit.band == 0) {
      const auto ring = static_cast<std::int64_t>(sqrt(unit.x * unit.x + unit.y * unit.y) * ringsPerLength);
      const auto bin = static_cast<std::int64_t>(unit.z * binsPerLength);
      absorption.add({ring < rings ? ring : rings - 1, bin < bins ? bin : bins - 1, 0}, weight);
    }
    if (unit.band != 0 || layer.fluoresces <= 0.0) return;
    const PhiloxWords random = draw(unit, 1);
    if (unitReal(random.x) > weight * layer.fluoresces / layer.optics[0].absorbs) return;
    Unit child = unit;
    child.birth = 1 + unit.step;
    child.step = 0;
    child.band = 1;
    child.weight = 1.0;
    child.left = 0.0;
    child.absorbed = 0;
    child.uz = 2.0 * unitReal(random.y) - 1.0;
    const double sine = sqrt(1.0 - child.uz * child.uz);
    const SineCosine angle = plainSineCosine(unitReal(random.z));
    child.ux = sine * angle.cosine;
    child.uy = sine * angle.sine;
    note(kCreated, unit, 1.0);
    units.push(child);
  }

  /// The direction turns by an angle of Henyey and Greenstein.
  TESSERA_KERNEL static void scatter(Unit& unit, const LayerOptics& optics, double u, double turn) {
    const double g = optics.cosine;
    double cosine = 2.0 * u - 1.0;
    if (g != 0.0) {
      const double q = optics.difference / (1.0 - g + 2.0 * g * u);
      cosine = (optics.sum - q * q) * optics.half;
    }
    const double rest = 1.0 - cosine * cosine;
    const double sine = sqrt(rest > 0.0 ? rest : 0.0);
    const SineCosine angle = plainSineCosine(turn);
    const double ux = unit.ux, uy = unit.uy, uz = unit.uz;
    const double across = 1.0 - uz * uz;
    if (across < 1e-10) {
      unit.ux = sine * angle.cosine;
      unit.uy = sine * angle.sine;
      unit.uz = uz > 0.0 ? cosine : -cosine;
      return;
    }
    const double root = sqrt(across);
    const double part = sine / root;
    unit.ux = part * (ux * uz * angle.cosine - uy * angle.sine) + ux * cosine;
    unit.uy = part * (uy * uz * angle.cosine + ux * angle.sine) + uy * cosine;
    unit.uz = -sine * angle.cosine * root + uz * cosine;
  }

  /// At the edge of a layer: reflected, or on to the next layer, or out.
  TESSERA_KERNEL UnitEnd cross(Unit& unit, double u) const {
    const bool down = unit.uz > 0.0;
    const int next = unit.layer + (down ? 1 : -1);
    const bool leaves = next < 0 || next == count;
    const double n1 = layers[unit.layer].index;
    const double n2 = leaves ? outside : layers[next].index;
    const double cos1 = down ? unit.uz : -unit.uz;
    const double ratio = n1 / n2;
    const double sin2 = ratio * ratio * (1.0 - cos1 * cos1);
    double reflects = 1.0;
    double cos2 = 0.0;
    if (sin2 < 1.0) {
      cos2 = sqrt(1.0 - sin2);
      const double s = (n1 * cos1 - n2 * cos2) / (n1 * cos1 + n2 * cos2);
      const double p = (n1 * cos2 - n2 * cos1) / (n1 * cos2 + n2 * cos1);
      reflects = n1 == n2 ? 0.0 : 0.5 * (s * s + p * p);
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
};

const JobKernels& photonKernels();

}  // namespace tessera::jobs
