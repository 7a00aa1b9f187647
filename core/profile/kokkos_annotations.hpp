#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace tessera {

/// Tells the profilers of the Kokkos tools family which task runs when, under the names that the deck's user
/// knows.
///
/// Active only when this build has Kokkos and the environment names a tool:
///
///   KOKKOS_TOOLS_LIBS=libkp_kernel_timer.so tessera run deck.toml
///
/// Otherwise every call is a test of one flag, and the scheduler is not even given the object. A run makes
/// one object, before the first task, and it outlives the last; it loads the tool when made and unloads it,
/// so that it writes its report, when destroyed. Thread rule: `begin` and `end` from any thread; tools are
/// not thread-safe, so calls into them are serialised. A tool with a single stack of timers is exact with one
/// worker thread only. Kokkos itself is one per process: so is an active object.
class KokkosAnnotations {
 public:
  KokkosAnnotations();
  ~KokkosAnnotations();
  KokkosAnnotations(const KokkosAnnotations&) = delete;
  KokkosAnnotations& operator=(const KokkosAnnotations&) = delete;

  /// Whether a tool listens.
  bool active() const { return active_; }
  /// A sentence for the log when the environment asks for a tool that cannot listen, else empty: silence
  /// would look like a tool that found nothing.
  const std::string& notice() const { return notice_; }
  /// Opens the kernel `name` on worker `worker`; the number returned closes it. 0 when not active.
  std::uint64_t begin(const std::string& name, std::uint32_t worker);
  /// Closes what `begin` opened.
  void end(std::uint64_t id);

 private:
  bool active_ = false;
  bool ownsKokkos_ = false;
  std::string notice_;
  std::mutex toolMutex_;
};

/// Opens a kernel for the lifetime of the object:
///
///   const NamedKernel named(regions, "Diffusion::advance", worker);
class NamedKernel {
 public:
  NamedKernel(KokkosAnnotations& regions, const std::string& name, std::uint32_t worker)
      : regions_(regions), id_(regions.active() ? regions.begin(name, worker) : 0) {}
  ~NamedKernel() {
    if (regions_.active()) regions_.end(id_);
  }
  NamedKernel(const NamedKernel&) = delete;
  NamedKernel& operator=(const NamedKernel&) = delete;

 private:
  KokkosAnnotations& regions_;
  std::uint64_t id_;
};

}  // namespace tessera
