#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace tessera::detail {

/// Keeps up to `kSlots` idle objects for whichever thread asks next, without a lock.
///
/// Invariant: an object is either in one slot or owned by one thread. Whoever takes one empties its slot by
/// an exchange and owns what that returned; whoever gives one back fills a slot by a compare-and-swap from
/// empty and owns it no longer where that succeeds. No thread reads an object that it does not own, so a
/// pointer that comes back to a slot deceives nobody.
///
/// Memory order. Giving back releases and taking acquires the same slot, so the taker sees all that the giver
/// did to the object. The loads before them only save the write: they decide nothing.
///
/// `Atomic` is a parameter so that the model test runs this very code.
template <class T, std::size_t kSlots, template <class> class Atomic = std::atomic>
class IdleSlots {
 public:
  IdleSlots() = default;
  ~IdleSlots() {
    while (take()) {
    }
  }
  IdleSlots(const IdleSlots&) = delete;
  IdleSlots& operator=(const IdleSlots&) = delete;

  /// Any thread. Null where every object is in use.
  std::unique_ptr<T> take() {
    for (auto& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* const mine = slot.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(mine);
    }
    return nullptr;
  }

  /// Any thread. Where all slots are full it is deleted.
  void giveBack(std::unique_ptr<T> object) {
    for (auto& slot : slots_) {
      T* expected = slot.load(std::memory_order_relaxed);
      if (expected != nullptr) continue;
      if (slot.compare_exchange_strong(expected, object.get(), std::memory_order_release)) {
        static_cast<void>(object.release());
        return;
      }
    }
  }

 private:
  std::array<Atomic<T*>, kSlots> slots_{};
};

}  // namespace tessera::detail
