#include "scheduler/detail/message_pages.hpp"

#include <cstring>
#include <new>
#include <unistd.h>

namespace tessera::detail {
namespace {

constexpr std::size_t kLine = 64;

std::align_val_t pageSize() { return static_cast<std::align_val_t>(sysconf(_SC_PAGESIZE)); }

std::size_t paddedTo(std::size_t grain, std::int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + grain - 1) / grain * grain;
}

}  // namespace

void MessagePages::FreePages::operator()(std::byte* pages) const { ::operator delete[](pages, pageSize()); }

MessagePages::MessagePages(const CompiledGraph& graph) {
  std::size_t bytes = 0;
  for (const auto* messages : {&graph.sends, &graph.receives}) {
    for (const MessagePlan& message : *messages) bytes += paddedTo(kLine, message.bytes);
  }
  bytes = paddedTo(static_cast<std::size_t>(pageSize()), static_cast<std::int64_t>(bytes));
  pages_.reset(static_cast<std::byte*>(::operator new[](bytes, pageSize())));
  std::memset(pages_.get(), 0, bytes);
  memory_ = {pages_.get(), bytes};
  std::size_t at = 0;
  const auto add = [&](const MessagePlan& message, auto& buffers) {
    buffers.push_back(memory_.subspan(at, static_cast<std::size_t>(message.bytes)));
    at += paddedTo(kLine, message.bytes);
  };
  for (const MessagePlan& message : graph.sends) add(message, sends_);
  for (const MessagePlan& message : graph.receives) add(message, receives_);
}

}  // namespace tessera::detail
