#pragma once

#include <cstdint>

#include "components/component.hpp"

namespace tessera::test {

/// The built-in components, each with its step cut into a program of several plans: before its second task,
/// third and so on where `lines` has bit 0, 1 and so on. New values are carried from plan to plan, so that
/// what a run computes stays the same, bit for bit.
ComponentRegistry cutComponents(std::uint64_t lines);

}  // namespace tessera::test
