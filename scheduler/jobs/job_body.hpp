#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera::jobs {

/// What one call of a body leaves of a unit.
enum class UnitEnd : std::uint8_t {
  Done,
  GoOn,  ///< it is to be called again, now or later, by this thread or by another one
};

/// How the units of a task are run. The body and its results are the same for all of them, bit by bit.
enum class JobForm : std::uint8_t {
  Regular,           ///< a thread for each unit, from its beginning to its end
  Consumer,          ///< threads that stay and take the next unit when they have ended one
  ConsumerProducer,  ///< as Consumer, but a unit that goes on, or is new, may go to another thread by a queue
  Wavefront,         ///< all units are called once, then all that go on, and so on
};
inline constexpr int kForms = 4;

/// "regular", "consumer", "consumer-producer", "wavefront".
const char* formText(JobForm form);

/// What a type has to be to be the body of a job: a plain value with views of domains, and
///
///   struct Walk {
///     static constexpr int kPushes = 0;              // units that one call of `advance` adds, at most
///     struct Unit { std::int64_t x; int steps; };    // all that a unit needs to go on; trivially copyable
///     Array<std::int64_t> ends;
///     TESSERA_KERNEL Unit first(Index at) const { return {at.i, 0}; }
///     template <class Units>
///     TESSERA_KERNEL UnitEnd advance(Unit& unit, Units& units) const {
///       ...                                          // units.push(Unit{...}) adds a unit
///       return unit.steps < 10 ? UnitEnd::GoOn : UnitEnd::Done;
///     }
///   };
///
/// `first` makes the unit of an index of the execution space. Units write to elements of their own, or add to
/// sums; random numbers come from a counter that is kept in the unit (core/philox.hpp). Then results have
/// the same bits in every form, on every device and in every order.
template <class Body>
concept JobBody = requires(const Body& body, Index at) {
  typename Body::Unit;
  requires std::is_trivially_copyable_v<Body>;
  requires std::is_trivially_copyable_v<typename Body::Unit>;
  requires std::is_default_constructible_v<typename Body::Unit>;
  { Body::kPushes } -> std::convertible_to<int>;
  { body.first(at) } -> std::same_as<typename Body::Unit>;
};

/// The least of `value` among the lanes of a warp that ask side by side; on the host `value`. For the pace of
/// lanes alone, never for results: a lane that is ahead of others does nothing until they have come as far,
/// so that all read from one place.
///
///   if (unit.cell == leastOfLanes(unit.cell)) visit(unit);
TESSERA_KERNEL inline std::int32_t leastOfLanes(std::int32_t value) {
#if defined(__CUDA_ARCH__)
  return __reduce_min_sync(__activemask(), value);
#else
  return value;
#endif
}

}  // namespace tessera::jobs
