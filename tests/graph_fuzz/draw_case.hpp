#pragma once

#include <cstdint>

#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// Case `number` of a seed: the same on every machine. Most of them compile; some are refused.
FuzzCase drawCase(std::uint64_t seed, std::int64_t number);

}  // namespace tessera::fuzz
