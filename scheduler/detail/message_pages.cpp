#include "scheduler/detail/message_pages.hpp"

#include <cstring>
#include <unistd.h>

namespace tessera::detail {

MessagePages::MessagePages(const CompiledGraph& graph) {
  std::int64_t bytes = 0;
  for (const auto* messages : {&graph.sends, &graph.receives}) {
    for (const MessagePlan& message : *messages) bytes += paddedBytes(message.bytes);
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  pages_ = AlignedMemory(paddedBytes(bytes, page), page);
  memory_ = {pages_.data(), static_cast<std::size_t>(paddedBytes(bytes, page))};
  std::memset(memory_.data(), 0, memory_.size());
  std::size_t at = 0;
  const auto add = [&](const MessagePlan& message, auto& buffers) {
    buffers.push_back(memory_.subspan(at, static_cast<std::size_t>(message.bytes)));
    at += static_cast<std::size_t>(paddedBytes(message.bytes));
  };
  for (const MessagePlan& message : graph.sends) add(message, sends_);
  for (const MessagePlan& message : graph.receives) add(message, receives_);
}

}  // namespace tessera::detail
