#pragma once

#include <cstdint>

#include "grid/generation.hpp"

namespace tessera {

/// What a task may do with one variable.
enum class AccessMode : std::uint8_t {
  ReadOld,
  ReadNew,
  Write,   ///< all that it owns, without looking at it
  Modify,  ///< what is there already, in place
};

constexpr bool isOutput(AccessMode mode) { return mode == AccessMode::Write || mode == AccessMode::Modify; }

/// The generation that a task with such an access touches.
constexpr Generation generationOf(AccessMode mode) {
  return mode == AccessMode::ReadOld ? Generation::Old : Generation::New;
}

}  // namespace tessera
