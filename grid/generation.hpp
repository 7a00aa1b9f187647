#pragma once

#include <cstdint>

namespace tessera {

/// Which end of the time step a value belongs to: `Old` is the end of the last step, `New` is being computed.
enum class Generation : std::uint8_t { Old, New };
inline constexpr Generation Old = Generation::Old;
inline constexpr Generation New = Generation::New;

}  // namespace tessera
