#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/transport/step_aside.hpp"
#include "scheduler/executor/worker_pool.hpp"

namespace tessera::detail {

/// One thread's part in replays: runs ready nodes, and decrements the counters of its home nodes.
///
/// The rule that makes plain counters right: the counter of a node is touched by its home worker alone.
/// A worker that has run a node, at home or as a thief, decrements those successors that are at home with
/// itself and sends the numbers of the others through its rings to their homes. So a thief needs nothing but
/// the node's number.
///
/// What the node's predecessors wrote is seen by the worker that runs it: each predecessor's worker handed
/// the arrival to the home (by a ring, or being the home itself), and the home handed the node to a thief by
/// its deque.
class Worker {
 public:
  Worker(WorkerPool& pool, int number);

  /// One replay of `pool.state()`, until all its nodes have completed or one has failed.
  void replay();

  /// Seconds without a node to run, since it was made.
  double waitSeconds() const { return std::chrono::duration<double>(waited_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int32_t kNone = -1;

  void begin();
  void loop();
  std::int32_t next();
  std::int32_t takeNext();
  void complete(std::int32_t node);
  void arrive(std::int32_t node);
  void makeReady(std::int32_t node);
  void send(std::int32_t node, std::uint16_t home);
  void publish();
  void drain();
  void offer();
  bool poll();
  void pollNowAndThen();

  // Without a node to run.
  std::int32_t idle();
  std::int32_t look(int round);
  std::int32_t steal();
  void sleep();
  bool somethingToDo();
  void startWatching();
  void stopWatching();

  WorkerPool& pool_;
  WorkerSlot& slot_;
  const int me_;
  const std::int64_t stealableWanted_;  ///< how many nodes lie ready for thieves, where there are enough

  // State of the running replay.
  NodeSource* source_ = nullptr;
  ReadyLanes* lanes_ = nullptr;
  ReplayState::Node* nodes_ = nullptr;
  std::int32_t base_ = 0;      ///< of the counters in this replay
  std::int32_t nextBase_ = 0;  ///< and in the next one
  std::int32_t next_ = kNone;  ///< the node to run next
  std::int64_t completed_ = 0;
  bool hasMessages_ = false;
  Clock::time_point nextPoll_;

  std::vector<std::uint16_t> unpublished_;  ///< homes whose ring holds what they cannot see yet
  std::vector<std::uint8_t> isUnpublished_;
  bool watching_ = false;
  int victim_ = 0;
  StepAside stepAside_;
  std::chrono::microseconds nap_{0};
  Clock::duration waited_{0};
};

}  // namespace tessera::detail
