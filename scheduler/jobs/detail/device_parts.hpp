#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/engine/queues/host_memory.hpp"
#include "scheduler/jobs/job_device.hpp"

namespace tessera::jobs::detail {

/// What lies on one device of domains: parts, each with the version of its domain that it has. Memory is cut
/// by the engine's allocator out of one piece. Parts that no task uses are kept until their memory is needed.
class DeviceParts {
 public:
  struct Part {
    const DomainBase* domain = nullptr;
    std::uint64_t version = 0;
    Box box;
    std::byte* memory = nullptr;
    DeviceEvent ready;  ///< to be recorded when it is there
    int users = 0;
  };

  DeviceParts(DeviceBackend& device, std::int64_t bytes);
  ~DeviceParts();

  /// The part, or nullptr: it is not here. Counts as a use.
  Part* find(const DomainBase& domain, std::uint64_t version, const Box& box);
  /// Room for a part; parts without users make way. nullptr: none is left.
  Part* make(const DomainBase& domain, std::uint64_t version, const Box& box);
  /// Room for something else; nullptr: none is left.
  std::byte* allocate(std::int64_t bytes);
  void release(std::byte* memory);
  /// Gives the room of all parts of a domain away; none of them is used.
  void forget(const DomainBase& domain);
  /// Ends a use.
  void leave(Part& part) { --part.users; }

 private:
  using Atomics = engine::ScopedAtomics<engine::Scope::Device>;

  void drop(std::list<Part>::iterator part);

  DeviceBackend& device_;
  std::byte* piece_;
  std::uint32_t pages_;
  engine::SlabRecords<Atomics> records_;
  engine::Slab<Atomics>::Hints hints_{};
  std::vector<DeviceEvent> spare_;  ///< of parts that made way
  std::list<Part> parts_;           ///< the one that was used last is at the end
};

/// Copies a part between its domain and packed memory of the device; returns how many copies it took.
std::int64_t copyPart(DeviceBackend& device, DeviceStream stream, CopyDirection direction, DomainBase& domain,
                      const Box& box, std::byte* memory);

}  // namespace tessera::jobs::detail
