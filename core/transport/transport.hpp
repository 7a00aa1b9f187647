#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/transport/step_aside.hpp"
#include "core/transport/wait_record.hpp"

namespace tessera {

/// One message that goes the same way again and again. The other side has prepared it as well.
struct PreparedMessage {
  enum class Direction { Send, Receive };
  Direction direction = Direction::Send;
  int peer = 0;
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
};

/// Messages that were made ready once and are started any number of times ("persistent requests"): those of a
/// compiled graph. What belongs to them is made by `Transport::prepare` and freed with this object, also when
/// an exception is under way. After the first use of each message nothing is allocated on our side.
///
///   const auto messages = transport.prepare(all);    // the receives last, say
///   messages->start(firstReceive, receives);         // before anything is sent
///   pack(messages->memory(send));                    // by any thread
///   messages->start(send);                           // each send when its bytes are there
///   for (const std::int32_t n : messages->testSome()) ...
///
/// Thread rule: that of the transport; but any thread may use `memory`, also while another is inside. Ends
/// with nothing under way, unless an exception is: then receives are taken back.
class PreparedMessages {
 public:
  virtual ~PreparedMessages() = default;
  /// Where message `n` lies. Of a send: for its next start, from the moment when `testSome` has named the
  /// last one, and not any more once it is started. Of a receive: what has come, once `testSome` has named
  /// it, until it is started again. It may be another place after each start.
  virtual std::span<std::byte> memory(std::int32_t n) = 0;
  /// Where message `n` lies when it is started for the `start`-th time, counted from 1. There are two places
  /// at most, which alternate and never move: that of start + 2 is that of `start`. A caller that prepares
  /// work on the bytes therefore needs it twice, not for each step.
  virtual std::span<std::byte> place(std::int32_t n, std::int64_t start) = 0;
  /// The memory in which all of them lie, in whole pages with nothing of anybody else's: to be locked in
  /// place for devices.
  virtual std::vector<std::span<std::byte>> pages() = 0;
  /// Starts the messages with the numbers first..first + count - 1 of the list given to `prepare`; none of
  /// them is under way. Those of one way, peer and tag are started in the order of the list, on both sides.
  virtual void start(std::int32_t first, std::int32_t count = 1) = 0;
  /// The numbers of those that have become complete since the last call, in any order; valid until the next
  /// call. They may be started again.
  virtual std::span<const std::int32_t> testSome() = 0;
};

/// The way between ranks: messages, reductions and the few collectives of start-up and output.
///
/// `MpiTransport` is the product; `LoopbackTransport` joins 1-8 ranks inside one process for tests.
/// Thread rule: at most one thread of a rank is inside a transport at a time (MPI_THREAD_SERIALIZED);
/// the scheduler's message pump sees to it. Errors: InternalError (exit 6) naming peer and tag.
class Transport {
 public:
  /// A pending operation; valid until `test` has returned true for it.
  using Request = std::int64_t;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The largest tag that `send` and `receive` accept (MPI_TAG_UB).
  virtual std::int64_t tagBound() const = 0;

  /// Non-blocking; `bytes` must stay alive and unchanged (send) or untouched (receive) until done.
  virtual Request send(int peer, std::int64_t tag, std::span<const std::byte> bytes) = 0;
  virtual Request receive(int peer, std::int64_t tag, std::span<std::byte> bytes) = 0;
  /// Non-blocking reductions over all ranks, in place; every rank calls them in the same order.
  /// Integer sums are exact, so they are the same for any number of ranks.
  virtual Request allReduceMin(std::span<double> values) = 0;
  virtual Request allReduceMax(std::span<double> values) = 0;
  virtual Request allReduceSum(std::span<std::int64_t> values) = 0;
  /// True once the operation is complete; the request is gone afterwards.
  virtual bool test(Request request) = 0;

  /// Makes messages ready that are started again and again; the transport outlives the result. The ranks
  /// between which they go do so in the same order. Without an implementation of its own a transport makes a
  /// request at each start.
  virtual std::unique_ptr<PreparedMessages> prepare(std::span<const PreparedMessage> messages);

  /// Blocking collectives for start-up and output, never inside a step.
  virtual void barrier() = 0;
  virtual void broadcast(std::string& bytes, int root) = 0;
  /// Rank `root` gets every rank's bytes in rank order; the others get an empty list.
  virtual std::vector<std::string> gather(std::string_view bytes, int root) = 0;

  /// Ends the whole job at once with `exitCode`; nothing is unwound.
  [[noreturn]] virtual void abort(int exitCode) = 0;

  /// How long this rank has been waiting for others inside a blocking call, or inside `wait`; 0 where it does
  /// not. Any thread may ask.
  double waitSeconds() const { return waits_.seconds(); }

  /// Polls `test` until done.
  void wait(Request request) {
    waitUntil([this, request] { return test(request); });
  }
  /// Asks `done()`, which looks after operations of this transport, until it says true; lets others run
  /// meanwhile.
  template <class Done>
  void waitUntil(const Done& done) {
    const WaitRecord::Scope scope(waits_);
    for (int looks = 1; !done(); ++looks) {
      if (looks % kLooksBetweenSteps == 0) stepAside();
    }
  }

 protected:
  WaitRecord waits_;

  /// A wait cannot go on yet.
  virtual void stepAside() { stepAside_(); }

 private:
  static constexpr int kLooksBetweenSteps = 16;

  StepAside stepAside_;
};

}  // namespace tessera
