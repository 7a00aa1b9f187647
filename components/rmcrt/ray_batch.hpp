#pragma once

#include <cstdint>

#include "components/rmcrt/ray_tracer.hpp"
#include "core/exec/exec.hpp"
#include "core/exec/wide_vectors.hpp"
#include "datawarehouse/field.hpp"

namespace tessera {

/// The medium of a level as the host's vectors read it: numbers at distances from the first cell.
template <class Medium>
struct FlatMedium {
  using Real = typename MediumTraits<Medium>::Real;

  const Real* numbers = nullptr;  ///< those of a cell side by side
  Index first;                    ///< the cell that `numbers` points to
  std::int64_t strideI = MediumTraits<Medium>::kNumbers;
  std::int64_t strideJ = 0;
  std::int64_t strideK = 0;

  FlatMedium() = default;
  FlatMedium(const Field<const Medium>& field, const Box& cells) : first(cells.lo) {
    const auto numberAt = [&](Index x) { return &field(x).value[0]; };
    numbers = numberAt(first);
    if (cells.hi.j - first.j > 1) strideJ = numberAt(first + ey) - numbers;
    if (cells.hi.k - first.k > 1) strideK = numberAt(first + ez) - numbers;
  }
  /// Where the numbers of a cell are, counted from the first one.
  std::int64_t placeOf(Index x) const {
    const Index from = x - first;
    return from.i * strideI + from.j * strideJ + from.k * strideK;
  }
};

/// Rays that the host follows together, a step of all of them at a time, each in a lane of its vectors. Rays
/// that have ended make place for the last ones, so no lane is idle.
///
/// A ray is computed as `RayTracer::follow` does it, and the rays of a cell are added in their order, so the
/// bits are those of one ray after the other.
template <class Medium>
class RayBatch {
 public:
  using Tracer = RayTracer<Field<const Medium>>;

  explicit RayBatch(const Tracer& tracer) : tracer_(tracer) {
    for (std::int32_t n = 0; n < tracer.count; ++n)
      media_[n] = FlatMedium<Medium>(tracer.layers[n].medium, tracer.layers[n].region.cells);
  }

  /// Whether no further ray fits before `follow`.
  bool isFull() const { return count_ == kSize; }
  /// Rays that were added since the last `follow`.
  int count() const { return count_; }
  /// Takes a ray that starts in the cell which holds `start`.
  void add(const Ray& ray, const Real3& start) {
    rays_[count_] = ray;
    starts_[count_] = start;
    ++count_;
  }
  /// Follows all rays that were added, and forgets them; their sums are there until the next one is added.
  void follow() {
    withWideVectors([this] { followAll(); });
  }
  /// What `RayTracer::follow` gives for the n-th ray of the last `follow`.
  double sumOf(int ray) const { return rays_[ray].sum; }

  /// Rays that go together: what fits into the nearest cache.
  static constexpr int kSize = 128;

 private:
  using Real = typename MediumTraits<Medium>::Real;
  static constexpr bool kScatters = MediumTraits<Medium>::kScatters;

  /// First all rays through the first layer, then those that have left it through the next one, and so on.
  void followAll() {
    lanes_ = count_;
    for (int n = 0; n < count_; ++n) {
      RayWalk walk{};
      const Index x = enter(tracer_.near(), rays_[n], starts_[n], walk);
      put(n, n, walk, media_[0].placeOf(x), media_[0]);
    }
    onward_ = 0;
    for (std::int32_t layer = 0;; ++layer) {
      leaveIdle();
      march(layer);
      if (onward_ == 0) break;
      takeOnward(layer + 1);
    }
    count_ = 0;
  }
  /// Gives lanes to the rays that have come into another layer.
  void takeOnward(std::int32_t layer) {
    lanes_ = onward_;
    for (int n = 0; n < onward_; ++n)
      put(n, onwardRays_[n], onwardWalks_[n], onwardPlaces_[n], media_[layer]);
    onward_ = 0;
  }

  /// Gives lane `n` to a ray.
  void put(int n, int ray, const RayWalk& walk, std::int64_t place, const FlatMedium<Medium>& medium) {
    ray_[n] = ray;
    const Ray& of = rays_[ray];
    own_[n] = of.own;
    forwardX_[n] = of.goesUp(0) ? medium.strideI : -medium.strideI;
    forwardY_[n] = of.goesUp(1) ? medium.strideJ : -medium.strideJ;
    forwardZ_[n] = of.goesUp(2) ? medium.strideK : -medium.strideK;
    set(n, walk, place);
  }
  /// Makes the last lanes of a vector stand still that have no ray.
  void leaveIdle() {
    for (int n = lanes_; n % kWidth != 0; ++n) {
      set(n, RayWalk{}, 0);
      halt(n);
    }
  }
  void halt(int n) {
    end_[n] = -1.0;
    toScatter_[n] = 1.0;
  }
  void set(int n, const RayWalk& walk, std::int64_t place) {
    nextX_[n] = walk.nextX;
    nextY_[n] = walk.nextY;
    nextZ_[n] = walk.nextZ;
    stepX_[n] = walk.stepX;
    stepY_[n] = walk.stepY;
    stepZ_[n] = walk.stepZ;
    end_[n] = walk.end;
    at_[n] = walk.at;
    transmitted_[n] = walk.transmitted;
    sum_[n] = walk.sum;
    toScatter_[n] = walk.toScatter;
    place_[n] = place;
  }
  RayWalk walkOf(int n) const {
    return {nextX_[n], nextY_[n], nextZ_[n],       stepX_[n], stepY_[n],    stepZ_[n],
            end_[n],   at_[n],    transmitted_[n], sum_[n],   toScatter_[n]};
  }
  /// Gives the ray of one lane to another one.
  void move(int from, int to) {
    ray_[to] = ray_[from];
    own_[to] = own_[from];
    forwardX_[to] = forwardX_[from];
    forwardY_[to] = forwardY_[from];
    forwardZ_[to] = forwardZ_[from];
    set(to, walkOf(from), place_[from]);
  }

  using Reals = double __attribute__((vector_size(32)));
  using Wholes = std::int64_t __attribute__((vector_size(32)));
  static constexpr int kWidth = 4;

  /// Numbers of the lanes from `n` on as a vector.
  template <class Vector, class Number>
  static Vector& at(Number* numbers, int n) {
    return reinterpret_cast<Vector*>(numbers)[n / kWidth];
  }

  /// Follows the rays of all lanes until the last one has ended or gone on.
  void march(std::int32_t layer) {
    const FlatMedium<Medium>& medium = media_[layer];
    while (lanes_ > 0) {
      stopped_ = 0;
      for (int n = 0; n < lanes_; n += kWidth) step(medium.numbers, n);
      for (int s = stopped_ - 1; s >= 0; --s) settle(medium, layer, stoppedAt_[s]);
    }
  }

  /// Takes each of some lanes through its cell and into the next one, unless it stops.
  void step(const Real* medium, int n) {
    const std::int64_t* const p = place_ + n;
    const Reals absorption = {medium[p[0]], medium[p[1]], medium[p[2]], medium[p[3]]};
    const Reals intensity = {medium[p[0] + 1], medium[p[1] + 1], medium[p[2] + 1], medium[p[3] + 1]};
    RayWalkOf<Reals> walk{at<Reals>(nextX_, n), at<Reals>(nextY_, n),    at<Reals>(nextZ_, n),
                          at<Reals>(stepX_, n), at<Reals>(stepY_, n),    at<Reals>(stepZ_, n),
                          at<Reals>(end_, n),   at<Reals>(at_, n),       at<Reals>(transmitted_, n),
                          at<Reals>(sum_, n),   at<Reals>(toScatter_, n)};
    const Wholes solid = absorption < 0.0;
    const Reals before = walk.at;
    Wholes scattered{};
    if constexpr (kScatters) {
      const Reals scattering = {medium[p[0] + 2], medium[p[1] + 2], medium[p[2] + 2], medium[p[3] + 2]};
      walk.pass(solid ? Reals{} : absorption, intensity, scattering, at<Reals>(own_, n));
      at<Reals>(toScatter_, n) = walk.toScatter;
      scattered = walk.toScatter <= 0.0;
    } else {
      walk.pass(solid ? Reals{} : absorption, intensity, at<Reals>(own_, n));
    }
    walk.at = solid ? before : walk.at;
    const Wholes stops =
        solid | (walk.transmitted < tracer_.surfaces.threshold) | (walk.at >= walk.end) | scattered;
    const Wholes xFirst = (walk.nextX <= walk.nextY) & (walk.nextX <= walk.nextZ);
    const Wholes yBeforeZ = walk.nextY <= walk.nextZ;
    const Wholes alongX = xFirst & ~stops;
    const Wholes alongY = ~xFirst & yBeforeZ & ~stops;
    const Wholes alongZ = ~xFirst & ~yBeforeZ & ~stops;
    at<Reals>(nextX_, n) = alongX ? walk.nextX + walk.stepX : walk.nextX;
    at<Reals>(nextY_, n) = alongY ? walk.nextY + walk.stepY : walk.nextY;
    at<Reals>(nextZ_, n) = alongZ ? walk.nextZ + walk.stepZ : walk.nextZ;
    at<Reals>(at_, n) = walk.at;
    at<Reals>(transmitted_, n) = walk.transmitted;
    at<Reals>(sum_, n) = walk.sum;
    at<Wholes>(place_, n) += (alongX & at<Wholes>(forwardX_, n)) + (alongY & at<Wholes>(forwardY_, n)) +
                             (alongZ & at<Wholes>(forwardZ_, n));
    at<Wholes>(stops_, n) = stops;
    if ((stops[0] | stops[1] | stops[2] | stops[3]) != 0) stoppedAt_[stopped_++] = n;
  }

  /// Lets go of those of some lanes that have stopped, or sends them on.
  void settle(const FlatMedium<Medium>& medium, std::int32_t layer, int first) {
    for (int n = first + kWidth - 1; n >= first; --n) {
      if (n >= lanes_ || stops_[n] == 0) continue;
      Ray& ray = rays_[ray_[n]];
      RayWalk walk = walkOf(n);
      Index x;
      const double absorption = medium.numbers[place_[n]];
      const double intensity = medium.numbers[place_[n] + 1];
      const bool goesOn = tracer_.goesOn(ray, walk, absorption, intensity, x);
      if (goesOn && ray.layer == layer) {
        put(n, ray_[n], walk, medium.placeOf(x), medium);
        continue;
      }
      if (goesOn) {
        onwardRays_[onward_] = ray_[n];
        onwardWalks_[onward_] = walk;
        onwardPlaces_[onward_++] = media_[ray.layer].placeOf(x);
      }
      move(--lanes_, n);
      halt(lanes_);
    }
  }

  Tracer tracer_;
  FlatMedium<Medium> media_[Tracer::kMostLayers];  ///< of the layers
  int count_ = 0;
  int lanes_ = 0;
  int onward_ = 0;
  // The lanes: of each number of a RayWalk those of all rays side by side.
  alignas(64) double nextX_[kSize];
  alignas(64) double nextY_[kSize];
  alignas(64) double nextZ_[kSize];
  alignas(64) double stepX_[kSize];
  alignas(64) double stepY_[kSize];
  alignas(64) double stepZ_[kSize];
  alignas(64) double end_[kSize];
  alignas(64) double at_[kSize];
  alignas(64) double transmitted_[kSize];
  alignas(64) double sum_[kSize];
  alignas(64) double toScatter_[kSize];
  alignas(64) double own_[kSize];
  alignas(64) std::int64_t place_[kSize];
  alignas(64) std::int64_t forwardX_[kSize];
  alignas(64) std::int64_t forwardY_[kSize];
  alignas(64) std::int64_t forwardZ_[kSize];
  alignas(64) std::int64_t stops_[kSize];
  int ray_[kSize];
  int stopped_ = 0;
  int stoppedAt_[kSize / 4];
  int onwardRays_[kSize];
  std::int64_t onwardPlaces_[kSize];
  RayWalk onwardWalks_[kSize];
  Ray rays_[kSize];
  Real3 starts_[kSize];
};

/// Adds the sums of rays in their order, part by part, and tells when those of an index are complete.
class RaySums {
 public:
  RaySums(std::uint32_t rays, RayParts parts) : rays_(rays), parts_(parts) { begin(); }

  /// Takes the next ray; true where it is the last one of its index.
  bool add(double ray) {
    ofPart_ += ray;
    if (++done_ < end_) return false;
    sum_ += ofPart_;
    ofPart_ = 0.0;
    nextPart();
    return part_ == parts_.last;
  }
  /// What they come to; the next ray is the first one of another index.
  double take() {
    const double result = parts_.result(sum_, rays_);
    begin();
    return result;
  }

 private:
  void begin() {
    part_ = parts_.first - 1;
    sum_ = ofPart_ = 0.0;
    done_ = end_ = RayParts::begin(parts_.first, rays_);
    nextPart();
  }
  /// The next part that has rays.
  void nextPart() {
    do {
      if (++part_ == parts_.last) return;
      end_ = RayParts::begin(part_ + 1, rays_);
    } while (end_ == done_);
  }

  std::uint32_t rays_;
  RayParts parts_;
  int part_ = 0;
  std::uint32_t done_ = 0;
  std::uint32_t end_ = 0;  ///< of the part
  double sum_ = 0.0;
  double ofPart_ = 0.0;
};

/// `target.finish(x, mean)` for each index of a box, where `mean` is that of the rays which `source` sends
/// from there, or the sum of some of their parts, or 0 where the target wants none.
template <class Medium, class Source, class Target>
void followFromBox(const RayTracer<Field<const Medium>>& tracer, const Source& source, const Target& target,
                   const Box& box, RayParts parts = {}) {
  const std::uint32_t first = RayParts::begin(parts.first, source.law.rays);
  const std::uint32_t end = RayParts::begin(parts.last, source.law.rays);
  RayBatch<Medium> batch(tracer);
  Index from[RayBatch<Medium>::kSize];
  RaySums sums(source.law.rays, parts);
  const auto follow = [&] {
    const int count = batch.count();
    batch.follow();
    for (int n = 0; n < count; ++n) {
      if (sums.add(batch.sumOf(n))) target.finish(from[n], sums.take());
    }
  };
  detail::forEachInOrder(box, [&](Index x) {
    if (first == end || !target.wants(x)) return target.finish(x, 0.0);
    for (std::uint32_t n = first; n < end; ++n) {
      from[batch.count()] = x;
      batch.add(source.ray(x, n, target.own(x)), source.start(x));
      if (batch.isFull()) follow();
    }
  });
  follow();
}

}  // namespace tessera
