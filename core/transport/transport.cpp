#include "core/transport/transport.hpp"

#include "core/memory/page_memory.hpp"
#include "core/text/contracts.hpp"

namespace tessera {
namespace {

/// A request of its own at each start. Each message has two buffers, as in shared memory, so that a caller
/// that takes the one for the other is found where ranks are joined inside one process.
class PlainMessages final : public PreparedMessages {
 public:
  PlainMessages(Transport& transport, std::span<const PreparedMessage> messages)
      : transport_(transport),
        messages_(messages.begin(), messages.end()),
        starts_(messages.size(), 0),
        underWay_(messages.size(), 0) {
    started_.reserve(messages_.size());
    done_.reserve(messages_.size());
    std::int64_t bytes = 0;
    for (const PreparedMessage& m : messages) {
      offsets_.push_back(bytes);
      bytes += 2 * detail::inCacheLines(m.bytes);
    }
    memory_ = detail::PageMemory(bytes);
  }

  std::span<std::byte> memory(std::int32_t n) override {
    const auto at = static_cast<std::size_t>(n);
    return place(n, starts_[at] + (messages_[at].direction == PreparedMessage::Direction::Send ? 1 : 0));
  }

  std::span<std::byte> place(std::int32_t n, std::int64_t start) override {
    const auto at = static_cast<std::size_t>(n);
    const std::int64_t bytes = messages_[at].bytes;
    return {memory_.data() + offsets_[at] + start % 2 * detail::inCacheLines(bytes),
            static_cast<std::size_t>(bytes)};
  }

  std::vector<std::span<std::byte>> pages() override { return {memory_.pages()}; }

  void start(std::int32_t first, std::int32_t count) override {
    for (std::int32_t n = first; n < first + count; ++n) {
      const PreparedMessage& message = messages_.at(static_cast<std::size_t>(n));
      TESSERA_EXPECT(underWay_[static_cast<std::size_t>(n)] == 0,
                     "start a message again once it is complete");
      const std::span<std::byte> bytes = place(n, ++starts_[static_cast<std::size_t>(n)]);
      const Transport::Request request = message.direction == PreparedMessage::Direction::Send
                                             ? transport_.send(message.peer, message.tag, bytes)
                                             : transport_.receive(message.peer, message.tag, bytes);
      underWay_[static_cast<std::size_t>(n)] = 1;
      started_.push_back({n, request});
    }
  }

  std::span<const std::int32_t> testSome() override {
    done_.clear();
    std::erase_if(started_, [this](const Started& s) {
      if (!transport_.test(s.request)) return false;
      underWay_[static_cast<std::size_t>(s.message)] = 0;
      done_.push_back(s.message);
      return true;
    });
    return done_;
  }

 private:
  struct Started {
    std::int32_t message = 0;
    Transport::Request request = 0;
  };
  Transport& transport_;
  std::vector<PreparedMessage> messages_;
  detail::PageMemory memory_;
  std::vector<std::int64_t> offsets_;  ///< by message, of its two places
  std::vector<std::int64_t> starts_;   ///< by message
  std::vector<char> underWay_;         ///< by message
  std::vector<Started> started_;
  std::vector<std::int32_t> done_;
};

}  // namespace

std::unique_ptr<PreparedMessages> Transport::prepare(std::span<const PreparedMessage> messages) {
  return std::make_unique<PlainMessages>(*this, messages);
}

}  // namespace tessera
