#pragma once

#include <compare>
#include <cstdint>

#include "core/geometry/box.hpp"
#include "grid/label.hpp"
#include "grid/patch.hpp"

namespace tessera::detail {

/// A piece of memory of one rank that nodes share.
struct Memory {
  enum class Kind : std::uint8_t {
    Entry,         ///< (label, buffer, own patch `number`), halo included
    Gather,        ///< buffer `number` of the plan
    Scratch,       ///< what a worker holds of `label` around own patch `number` while a task reads it
    Received,      ///< message `number`; boxes count bytes along the first axis
    Sent,          ///< message `number` on its way out; boxes count bytes. Only where nodes have places
    Contribution,  ///< number `number` of the rank, given to reduction `label`
  };
  Kind kind = Kind::Entry;
  Rank rank = 0;
  LabelId label = -1;
  std::int32_t buffer = 0;  ///< of Entry: 0 Old, 1 New; 0 for both where only one is kept
  std::int64_t number = 0;
  friend auto operator<=>(const Memory&, const Memory&) = default;
};

/// What a node does with a memory.
enum class TouchKind : std::uint8_t {
  Write,
  Read,    ///< every index of the box has to be there, in the version
  Depend,  ///< a read of indices that other nodes guarantee to be there
};

/// One access of one node.
struct Touch {
  Memory memory;
  Box box;
  std::int64_t node = 0;      ///< of the union graph; -1: before the step begins
  std::int32_t version = -1;  ///< read, or left behind
  TouchKind kind = TouchKind::Read;
  bool writes() const { return kind == TouchKind::Write; }
};

/// `count` bytes from `first`, as a box.
constexpr Box bytesBox(std::int64_t first, std::int64_t count) {
  return {{first, 0, 0}, {first + count, 1, 1}};
}

}  // namespace tessera::detail
