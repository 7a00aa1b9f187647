#include "scheduler/jobs/detail/device_parts.hpp"

#include <algorithm>

namespace tessera::jobs::detail {
namespace {

constexpr auto kPage = static_cast<std::int64_t>(engine::SlabClasses::kPageBytes);

}  // namespace

DeviceParts::DeviceParts(DeviceBackend& device, std::int64_t bytes)
    : device_(device),
      piece_(static_cast<std::byte*>(device.allocate(DeviceSpace::Device, std::max(bytes, kPage)))),
      pages_(static_cast<std::uint32_t>(std::max(bytes, kPage) / kPage)),
      records_(reinterpret_cast<std::uint64_t>(piece_), pages_) {}

DeviceParts::~DeviceParts() { device_.release(DeviceSpace::Device, piece_); }

DeviceParts::Part* DeviceParts::find(const DomainBase& domain, std::uint64_t version, const Box& box) {
  for (auto part = parts_.begin(); part != parts_.end(); ++part) {
    if (part->domain != &domain || part->version != version || part->box != box) continue;
    parts_.splice(parts_.end(), parts_, part);
    ++part->users;
    return &parts_.back();
  }
  return nullptr;
}

DeviceParts::Part* DeviceParts::make(const DomainBase& domain, std::uint64_t version, const Box& box) {
  std::byte* memory = allocate(box.volume() * domain.elementBytes());
  if (memory == nullptr) return nullptr;
  DeviceEvent ready;
  if (spare_.empty()) {
    ready = device_.makeEvent();
  } else {
    ready = spare_.back();
    spare_.pop_back();
  }
  return &parts_.emplace_back(Part{&domain, version, box, memory, ready, 1});
}

std::byte* DeviceParts::allocate(std::int64_t bytes) {
  for (;;) {
    const auto answer = records_.view().allocate(static_cast<std::uint64_t>(bytes), hints_, 0);
    if (answer.fault == engine::MemoryFault::None) return reinterpret_cast<std::byte*>(answer.address);
    const auto unused = std::ranges::find_if(parts_, [](const Part& part) { return part.users == 0; });
    if (unused == parts_.end()) return nullptr;
    drop(unused);
  }
}

void DeviceParts::forget(const DomainBase& domain) {
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto each = part++;
    if (each->domain == &domain) drop(each);
  }
}

void DeviceParts::drop(std::list<Part>::iterator part) {
  release(part->memory);
  spare_.push_back(part->ready);
  parts_.erase(part);
}

void DeviceParts::release(std::byte* memory) {
  static_cast<void>(records_.view().release(reinterpret_cast<std::uint64_t>(memory)));
}

std::int64_t copyPart(DeviceBackend& device, DeviceStream stream, CopyDirection direction, DomainBase& domain,
                      const Box& box, std::byte* memory) {
  const Extent whole = domain.box().extent();
  const Extent n = box.extent();
  // As many rows in one copy as lie one behind the other on the host.
  const bool rows = n.i == whole.i;
  const bool planes = rows && n.j == whole.j;
  const std::int64_t bytes = (planes ? box.volume() : rows ? n.i * n.j : n.i) * domain.elementBytes();
  std::int64_t copies = 0;
  for (std::int64_t k = box.lo.k; k < (planes ? box.lo.k + 1 : box.hi.k); ++k) {
    for (std::int64_t j = box.lo.j; j < (rows ? box.lo.j + 1 : box.hi.j); ++j) {
      std::byte* host = domain.at({box.lo.i, j, k});
      std::byte* there = memory + copies * bytes;
      const bool in = direction == CopyDirection::HostToDevice;
      device.copy(stream, direction, in ? there : host, in ? host : there, bytes);
      ++copies;
    }
  }
  return copies;
}

}  // namespace tessera::jobs::detail
