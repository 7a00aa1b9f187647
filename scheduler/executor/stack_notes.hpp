#pragma once

// Both sanitizers follow one stack a thread; a fiber has a stack of its own, so they are told of each switch.
// Without a sanitizer everything here is empty.

#include <cstddef>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define TESSERA_STACK_NOTES_ADDRESS 1
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define TESSERA_STACK_NOTES_THREAD 1
#endif

namespace tessera::detail {

/// Tells the sanitizers which stack a fiber and its owner run on; nothing without them. A mark is what
/// AddressSanitizer wants back when a stack goes on.
class StackNotes {
 public:
#if defined(TESSERA_STACK_NOTES_THREAD)
  StackNotes() : fiber_(__tsan_create_fiber(0)) {}
  ~StackNotes() { __tsan_destroy_fiber(fiber_); }
#else
  StackNotes() = default;
#endif
  StackNotes(const StackNotes&) = delete;
  StackNotes& operator=(const StackNotes&) = delete;

  /// Owner, before it goes to the fiber's stack, and after it came back.
  void* enters([[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
    void* mark = nullptr;
#if defined(TESSERA_STACK_NOTES_ADDRESS)
    __sanitizer_start_switch_fiber(&mark, stack, bytes);
#endif
#if defined(TESSERA_STACK_NOTES_THREAD)
    owner_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_, 0);
#endif
    return mark;
  }
  void returned([[maybe_unused]] void* mark) {
#if defined(TESSERA_STACK_NOTES_ADDRESS)
    __sanitizer_finish_switch_fiber(mark, nullptr, nullptr);
#endif
  }

  /// Fiber, when it goes on (`mark` is null at its begin), and before it goes back to the owner.
  void arrived([[maybe_unused]] void* mark) {
#if defined(TESSERA_STACK_NOTES_ADDRESS)
    __sanitizer_finish_switch_fiber(mark, &ownerStack_, &ownerBytes_);
#endif
  }
  void* leaves() {
    void* mark = nullptr;
    leave(&mark);
    return mark;
  }
  void leavesForEver() { leave(nullptr); }

 private:
  void leave([[maybe_unused]] void** mark) {
#if defined(TESSERA_STACK_NOTES_ADDRESS)
    __sanitizer_start_switch_fiber(mark, ownerStack_, ownerBytes_);
#endif
#if defined(TESSERA_STACK_NOTES_THREAD)
    __tsan_switch_to_fiber(owner_, 0);
#endif
  }

  [[maybe_unused]] const void* ownerStack_ = nullptr;
  [[maybe_unused]] std::size_t ownerBytes_ = 0;
  [[maybe_unused]] void* fiber_ = nullptr;
  [[maybe_unused]] void* owner_ = nullptr;
};

}  // namespace tessera::detail
