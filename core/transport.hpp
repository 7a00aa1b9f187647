#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/step_aside.hpp"

namespace tessera {

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

  /// Blocking collectives for start-up and output, never inside a step.
  virtual void barrier() = 0;
  virtual void broadcast(std::string& bytes, int root) = 0;
  /// Rank `root` gets every rank's bytes in rank order; the others get an empty list.
  virtual std::vector<std::string> gather(std::string_view bytes, int root) = 0;

  /// Ends the whole job at once with `exitCode`; nothing is unwound.
  [[noreturn]] virtual void abort(int exitCode) = 0;

  /// Polls `test` until done.
  void wait(Request request);

 protected:
  /// `wait` cannot go on yet.
  virtual void stepAside() { stepAside_(); }

 private:
  StepAside stepAside_;
};

}  // namespace tessera
