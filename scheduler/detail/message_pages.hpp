#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datawarehouse/description.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Buffers for all messages of a graph in whole pages, so that nothing else lies in one that a device has
/// pinned. They stay where they are, unlike those of the transport.
class MessagePages {
 public:
  explicit MessagePages(const CompiledGraph& graph);

  std::span<std::byte> send(std::int32_t n) const { return sends_[static_cast<std::size_t>(n)]; }
  std::span<std::byte> receive(std::int32_t n) const { return receives_[static_cast<std::size_t>(n)]; }
  std::span<std::byte> memory() const { return memory_; }

 private:
  AlignedMemory pages_;
  std::span<std::byte> memory_;
  std::vector<std::span<std::byte>> sends_;
  std::vector<std::span<std::byte>> receives_;
};

}  // namespace tessera::detail
