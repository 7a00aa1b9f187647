#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// Ranges for the profilers that listen to NVTX, the annotations of NVIDIA's tools.
///
/// Active only where this build found the headers of NVTX 3 and a tool is attached, which says so in the
/// environment (Nsight Systems does, and so can any library that takes NVTX calls):
///
///   nsys profile --trace=nvtx tessera run deck.toml
///   NVTX_INJECTION64_PATH=libmy_tool.so tessera run deck.toml
///
/// Otherwise the scheduler is not given the object and spends nothing. All ranges are in the domain
/// "Tessera". One object a run, which outlives whoever uses it. Thread rule: `name` by one thread at a time,
/// all else from any thread; a range that was pushed is popped by the same thread, innermost first, one that
/// was started may be ended by another.
class NvtxAnnotations {
 public:
  /// A name that the tool knows already; lives as long as the object.
  using Name = const void*;

  NvtxAnnotations();
  ~NvtxAnnotations();
  NvtxAnnotations(const NvtxAnnotations&) = delete;
  NvtxAnnotations& operator=(const NvtxAnnotations&) = delete;

  /// Whether a tool listens.
  bool active() const { return domain_ != nullptr; }
  /// A sentence for the log when the environment asks for a tool that cannot listen, else empty.
  const std::string& notice() const { return notice_; }

  // While active only.

  Name name(const std::string& text);
  /// Opens a range of the calling thread; tools show `payload` beside its name.
  void push(Name name, std::int64_t payload);
  void pop();
  /// Opens a range of the process; the number returned closes it.
  std::uint64_t start(Name name, std::int64_t payload);
  void end(std::uint64_t range);

 private:
  void* domain_ = nullptr;
  std::string notice_;
};

/// A range of the calling thread for the lifetime of the object, where there is somebody to tell:
///
///   const NvtxScope scope(nvtx, names[node], patch);
class NvtxScope {
 public:
  /// `ranges` may be null.
  NvtxScope(NvtxAnnotations* ranges, NvtxAnnotations::Name name, std::int64_t payload) : ranges_(ranges) {
    if (ranges_ != nullptr) ranges_->push(name, payload);
  }
  ~NvtxScope() {
    if (ranges_ != nullptr) ranges_->pop();
  }
  NvtxScope(const NvtxScope&) = delete;
  NvtxScope& operator=(const NvtxScope&) = delete;

 private:
  NvtxAnnotations* ranges_;
};

}  // namespace tessera
