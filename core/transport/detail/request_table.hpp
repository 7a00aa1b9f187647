#pragma once

#include <cstdint>
#include <vector>

#include "core/text/contracts.hpp"
#include "core/transport/transport.hpp"

namespace tessera::detail {

/// Pending operations in dense slots that are used again, so that a steady state allocates nothing.
/// A request carries the slot's generation: one that is tested after its end is an error, not another's
/// answer.
template <class Operation>
class RequestTable {
 public:
  using Request = Transport::Request;

  /// A request for a slot; its operation is as the last user left it, with its capacity.
  Request add() {
    if (free_.empty()) grow();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].used = true;
    return static_cast<Request>((std::uint64_t{slots_[index].generation} << 32) | index);
  }

  /// Valid until the next `add`.
  Operation& at(Request request) {
    const auto bits = static_cast<std::uint64_t>(request);
    const auto index = static_cast<std::uint32_t>(bits);
    const bool known = index < slots_.size() && slots_[index].used && slots_[index].generation == bits >> 32;
    TESSERA_EXPECT(known, "test a request of this transport, and not again once `test` has returned true");
    return slots_[index].operation;
  }

  void remove(Request request) {
    const auto index = static_cast<std::uint32_t>(static_cast<std::uint64_t>(request));
    slots_[index].used = false;
    slots_[index].generation = (slots_[index].generation + 1) & 0x7fffffffU;
    free_.push_back(index);
  }

  std::int64_t live() const { return static_cast<std::int64_t>(slots_.size() - free_.size()); }

 private:
  struct Slot {
    Operation operation;
    std::uint32_t generation = 0;
    bool used = false;
  };

  void grow() {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
    free_.reserve(slots_.capacity());
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tessera::detail
