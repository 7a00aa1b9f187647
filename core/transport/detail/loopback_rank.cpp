#include "core/transport/detail/loopback_rank.hpp"

#include <algorithm>
#include <utility>

#include "core/transport/detail/message_check.hpp"

namespace tessera::detail {

using Kind = LoopbackOperation::Kind;

namespace {

constexpr std::byte kNotYetReceived{0xff};

bool sameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

[[noreturn]] void bufferTouched(std::string_view what, const MessageRoute& route) {
  throw InternalError(Message(what)
                          .line("way  from rank ", route.from, " to rank ", route.to, ", tag ", route.tag)
                          .line("fix  leave the buffer alone until `test` has returned true for the request")
                          .text());
}

[[noreturn]] void waitsForEnded(std::string_view what, int rank, int ended) {
  throw InternalError(Message("a rank waits for another that has ended")
                          .line("rank ", rank, " waits in ", what, ", but rank ", ended, " has ended")
                          .line("fix  call the same operations in the same order on every rank")
                          .text());
}

}  // namespace

void LoopbackState::checkFailure() const {
  if (failedRank < 0) return;
  throw PeerFailed(Message("another rank has failed")
                       .line("rank ", failedRank, ": ", failedWhy)
                       .line("fix  see the error of that rank")
                       .text());
}

void LoopbackState::markFailed(int rank, std::string_view why) {
  if (failedRank >= 0) return;
  failedRank = rank;
  failedWhy = why.substr(0, why.find('\n'));
  changed.notify_all();
}

int LoopbackState::absentee(const RoundSequence& rounds, std::int64_t round) const {
  for (int rank = 0; rank < size; ++rank) {
    if (hasEnded(rank) && !rounds.hasJoined(rank, round)) return rank;
  }
  return -1;
}

Transport::Request LoopbackRank::send(int peer, std::int64_t tag, std::span<const std::byte> bytes) {
  checkAddress(peer, tag, state_.size, state_.options.tagBound);
  const SingleThreadGate::Pass pass(gate_, rank_);
  const Lock lock(state_.mutex);
  state_.checkFailure();
  ++statistics_.messages;
  statistics_.bytes += std::ssize(bytes);
  statistics_.mostSendsAtOnce = std::max(statistics_.mostSendsAtOnce, ++openSends_);
  const MessageRoute route{rank_, peer, tag};
  auto letter = state_.mail.send(route, bytes);
  const int delay = state_.delays.ofSend(route, letter->number);
  return add({.kind = Kind::Send, .delay = delay, .letter = std::move(letter), .sending = bytes});
}

Transport::Request LoopbackRank::receive(int peer, std::int64_t tag, std::span<std::byte> bytes) {
  checkAddress(peer, tag, state_.size, state_.options.tagBound);
  const SingleThreadGate::Pass pass(gate_, rank_);
  const Lock lock(state_.mutex);
  state_.checkFailure();
  std::fill(bytes.begin(), bytes.end(), kNotYetReceived);
  const MessageRoute route{peer, rank_, tag};
  auto posted = state_.mail.receive(route, std::ssize(bytes));
  const int delay = state_.delays.ofReceive(route, posted->number);
  return add({.kind = Kind::Receive, .delay = delay, .posted = std::move(posted), .receiving = bytes});
}

Transport::Request LoopbackRank::allReduceMin(std::span<double> values) {
  return reduce(Reduction::Min, std::as_writable_bytes(values), values.size());
}

Transport::Request LoopbackRank::allReduceMax(std::span<double> values) {
  return reduce(Reduction::Max, std::as_writable_bytes(values), values.size());
}

Transport::Request LoopbackRank::allReduceSum(std::span<std::int64_t> values) {
  return reduce(Reduction::Sum, std::as_writable_bytes(values), values.size());
}

Transport::Request LoopbackRank::reduce(Reduction reduction, std::span<std::byte> values, std::size_t count) {
  const SingleThreadGate::Pass pass(gate_, rank_);
  const Lock lock(state_.mutex);
  state_.checkFailure();
  ++statistics_.reductions;
  const std::int64_t round = state_.reductions.join(rank_, describe(reduction, count), packed(values));
  return add({.kind = Kind::Reduce,
              .delay = state_.delays.ofReduction(rank_, round),
              .receiving = values,
              .reduction = reduction,
              .round = round});
}

Transport::Request LoopbackRank::add(LoopbackOperation operation) {
  const Request request = requests_.add();
  requests_.at(request) = std::move(operation);
  return request;
}

void LoopbackRank::stepAside() {
  if (state_.options.whenBlocked) {
    state_.options.whenBlocked();
  } else {
    Transport::stepAside();
  }
}

bool LoopbackRank::test(Request request) {
  const SingleThreadGate::Pass pass(gate_, rank_);
  const Lock lock(state_.mutex);
  state_.checkFailure();
  LoopbackOperation& op = requests_.at(request);
  if (!canComplete(op)) return false;
  if (op.delay-- > 0) return false;
  const LoopbackOperation done = std::exchange(op, {});
  if (done.kind == Kind::Send) --openSends_;
  requests_.remove(request);
  complete(done);
  return true;
}

bool LoopbackRank::canComplete(const LoopbackOperation& op) const {
  switch (op.kind) {
    case Kind::Send:
      if (!state_.options.synchronous || op.letter->matched) return true;
      if (state_.hasEnded(op.letter->route.to)) waitsForEnded("a send", rank_, op.letter->route.to);
      return false;
    case Kind::Receive:
      if (op.posted->letter) return true;
      if (state_.hasEnded(op.posted->route.from)) waitsForEnded("a receive", rank_, op.posted->route.from);
      return false;
    case Kind::Reduce:
      if (state_.reductions.complete(op.round)) return true;
      if (const int absent = state_.absentee(state_.reductions, op.round); absent >= 0) {
        waitsForEnded("a reduction", rank_, absent);
      }
      return false;
  }
  return false;
}

void LoopbackRank::complete(const LoopbackOperation& op) {
  switch (op.kind) {
    case Kind::Send:
      if (!sameBytes(op.sending, op.letter->bytes)) {
        bufferTouched("the bytes of a message changed before its send was complete", op.letter->route);
      }
      break;
    case Kind::Receive:
      takeLetter(op);
      break;
    case Kind::Reduce:
      combine(op.reduction, state_.reductions.at(op.round).parts, op.receiving);
      state_.reductions.leave(op.round);
      break;
  }
}

void LoopbackRank::takeLetter(const LoopbackOperation& op) {
  const Letter& letter = *op.posted->letter;
  state_.mail.delivered();
  if (std::ssize(letter.bytes) != op.posted->expectedBytes) {
    sizesDiffer(letter.route, std::ssize(letter.bytes), op.posted->expectedBytes);
  }
  const bool untouched = std::all_of(op.receiving.begin(), op.receiving.end(),
                                     [](std::byte value) { return value == kNotYetReceived; });
  if (!untouched) {
    bufferTouched("the buffer of a receive was written to before the message was there", letter.route);
  }
  std::copy(letter.bytes.begin(), letter.bytes.end(), op.receiving.begin());
}

template <class Take>
void LoopbackRank::exchange(const std::string& what, std::string part, const Take& take) {
  const SingleThreadGate::Pass pass(gate_, rank_);
  Lock lock(state_.mutex);
  state_.checkFailure();
  const std::int64_t round = state_.collectives.join(rank_, what, std::move(part));
  state_.changed.notify_all();
  while (!state_.collectives.complete(round)) {
    state_.checkFailure();
    if (const int absent = state_.absentee(state_.collectives, round); absent >= 0) {
      waitsForEnded(what, rank_, absent);
    }
    if (!state_.options.whenBlocked) {
      state_.changed.wait(lock);
      continue;
    }
    lock.unlock();
    state_.options.whenBlocked();
    lock.lock();
  }
  take(state_.collectives.at(round));
  state_.collectives.leave(round);
}

void LoopbackRank::barrier() {
  exchange("a barrier", {}, [](const Round&) {});
}

void LoopbackRank::broadcast(std::string& bytes, int root) {
  checkRoot(root, state_.size);
  exchange("a broadcast from rank " + std::to_string(root), rank_ == root ? bytes : std::string(),
           [&](const Round& round) { bytes = round.parts[static_cast<std::size_t>(root)]; });
}

std::vector<std::string> LoopbackRank::gather(std::string_view bytes, int root) {
  checkRoot(root, state_.size);
  std::vector<std::string> all;
  exchange("a gather at rank " + std::to_string(root), std::string(bytes), [&](const Round& round) {
    if (rank_ == root) all = round.parts;
  });
  return all;
}

void LoopbackRank::abort(int exitCode) {
  const std::string text = "rank " + std::to_string(rank_) + " aborted the job with exit code " +
                           std::to_string(exitCode) + "; see the error before it";
  {
    const Lock lock(state_.mutex);
    state_.markFailed(rank_, text);
  }
  throw RankAborted(text, exitCode);
}

}  // namespace tessera::detail
