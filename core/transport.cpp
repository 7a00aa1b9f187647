#include "core/transport.hpp"

#include "core/contracts.hpp"

namespace tessera {
namespace {

/// A request of its own at each start.
class PlainMessages final : public PreparedMessages {
 public:
  PlainMessages(Transport& transport, std::span<const PreparedMessage> messages)
      : transport_(transport), messages_(messages.begin(), messages.end()), underWay_(messages.size(), 0) {
    started_.reserve(messages_.size());
    done_.reserve(messages_.size());
    for (const PreparedMessage& m : messages) memory_.emplace_back(static_cast<std::size_t>(m.bytes));
  }

  std::span<std::byte> memory(std::int32_t n) override { return memory_[static_cast<std::size_t>(n)]; }

  void start(std::int32_t first, std::int32_t count) override {
    for (std::int32_t n = first; n < first + count; ++n) {
      const PreparedMessage& message = messages_.at(static_cast<std::size_t>(n));
      TESSERA_EXPECT(underWay_[static_cast<std::size_t>(n)] == 0,
                     "start a message again once it is complete");
      const Transport::Request request = message.way == PreparedMessage::Way::Send
                                             ? transport_.send(message.peer, message.tag, memory(n))
                                             : transport_.receive(message.peer, message.tag, memory(n));
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
  std::vector<std::vector<std::byte>> memory_;  ///< by message
  std::vector<char> underWay_;                  ///< by message
  std::vector<Started> started_;
  std::vector<std::int32_t> done_;
};

}  // namespace

std::unique_ptr<PreparedMessages> Transport::prepare(std::span<const PreparedMessage> messages) {
  return std::make_unique<PlainMessages>(*this, messages);
}

}  // namespace tessera
