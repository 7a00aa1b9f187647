#include "core/transport/detail/loopback_mail.hpp"

#include <sstream>
#include <tuple>

namespace tessera::detail {

bool LoopbackMail::Before::operator()(const MessageRoute& a, const MessageRoute& b) const {
  return std::tie(a.from, a.to, a.tag) < std::tie(b.from, b.to, b.tag);
}

std::shared_ptr<Letter> LoopbackMail::send(const MessageRoute& route, std::span<const std::byte> bytes) {
  Channel& channel = channels_[route];
  auto letter = std::make_shared<Letter>();
  letter->route = route;
  letter->number = channel.sent++;
  letter->bytes.assign(bytes.begin(), bytes.end());
  ++undelivered_;
  if (channel.posted.empty()) {
    channel.letters.push_back(letter);
  } else {
    letter->matched = true;
    channel.posted.front()->letter = letter;
    channel.posted.pop_front();
  }
  return letter;
}

std::shared_ptr<Posted> LoopbackMail::receive(const MessageRoute& route, std::int64_t expectedBytes) {
  Channel& channel = channels_[route];
  auto posted = std::make_shared<Posted>();
  posted->route = route;
  posted->number = channel.asked++;
  posted->expectedBytes = expectedBytes;
  if (channel.letters.empty()) {
    channel.posted.push_back(posted);
  } else {
    channel.letters.front()->matched = true;
    posted->letter = channel.letters.front();
    channel.letters.pop_front();
  }
  return posted;
}

std::string LoopbackMail::describeUnmatched() const {
  std::ostringstream text;
  const auto line = [&text](const MessageRoute& route, std::int64_t bytes, const char* what) {
    text << "from rank " << route.from << " to rank " << route.to << ", tag " << route.tag << ", " << bytes
         << " bytes: " << what << '\n';
  };
  for (const auto& [route, channel] : channels_) {
    for (const auto& letter : channel.letters) line(route, std::ssize(letter->bytes), "sent, never received");
    for (const auto& posted : channel.posted)
      line(route, posted->expectedBytes, "to be received, never sent");
  }
  return text.str();
}

}  // namespace tessera::detail
