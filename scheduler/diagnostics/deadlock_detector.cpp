#include "scheduler/diagnostics/deadlock_detector.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

namespace tessera::detail {
namespace {

constexpr std::int64_t kBytes = 2048;

/// "1 a message of ...", a line each, as many as fit; zeros follow.
void write(const std::vector<RankWait>& waits, std::span<std::byte> to) {
  std::string text;
  for (const RankWait& wait : waits) {
    const std::string line = std::to_string(wait.waitsFor) + " " + wait.what + "\n";
    if (text.size() + line.size() < to.size()) text += line;
  }
  std::fill(to.begin(), to.end(), std::byte{0});
  std::memcpy(to.data(), text.data(), text.size());
}

void read(int rank, std::span<const std::byte> from, std::vector<RankWait>& waits) {
  const auto* text = reinterpret_cast<const char*>(from.data());
  std::istringstream in(std::string(text, std::find(text, text + from.size(), '\0')));
  RankWait wait;
  wait.rank = rank;
  while (in >> wait.waitsFor && in.ignore() && std::getline(in, wait.what)) waits.push_back(wait);
}

}  // namespace

std::unique_ptr<DeadlockDetector> DeadlockDetector::between(Transport& transport) {
  if (transport.size() < 2 || transport.size() > kMostRanks) return nullptr;
  return std::unique_ptr<DeadlockDetector>(new DeadlockDetector(transport));
}

DeadlockDetector::DeadlockDetector(Transport& transport) : transport_(transport) {
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (rank != transport.rank()) peers_.push_back(rank);
  }
  std::vector<PreparedMessage> wanted;
  for (const auto direction : {PreparedMessage::Direction::Send, PreparedMessage::Direction::Receive}) {
    // Graphs number their tags from 0.
    for (const int peer : peers_) wanted.push_back({direction, peer, transport.tagBound(), kBytes});
  }
  messages_ = transport.prepare(wanted);
}

void DeadlockDetector::say(const std::vector<RankWait>& mine) {
  const auto peers = static_cast<std::int32_t>(peers_.size());
  messages_->start(peers, peers);
  for (std::int32_t n = 0; n < peers; ++n) {
    write(mine, messages_->memory(n));
    messages_->start(n);
  }
}

std::string DeadlockDetector::tell(const std::vector<RankWait>& mine, std::chrono::duration<double> limit) {
  if (std::exchange(hasTalked_, true)) return {};
  const auto peers = static_cast<std::int32_t>(peers_.size());
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<RankWait> waits = mine;
  std::vector<int> silent = peers_;
  std::string cycle;
  say(mine);
  transport_.waitUntil([&] {
    for (const std::int32_t n : messages_->testSome()) {
      if (n < peers) continue;
      const int peer = peers_[static_cast<std::size_t>(n - peers)];
      read(peer, messages_->memory(n), waits);
      std::erase(silent, peer);
      cycle = rankCycle(waits);
    }
    return !cycle.empty() || silent.empty() || std::chrono::steady_clock::now() > end;
  });
  if (!cycle.empty()) return "\n  " + cycle;
  std::ostringstream line;
  for (const int peer : silent) line << (peer == silent.front() ? "\n  no answer from rank " : ", ") << peer;
  if (!silent.empty()) line << ": it is still working, or blocked elsewhere";
  return line.str();
}

}  // namespace tessera::detail
