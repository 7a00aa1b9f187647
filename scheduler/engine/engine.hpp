#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/engine/engine_options.hpp"
#include "scheduler/engine/program.hpp"
#include "scheduler/engine/task_graph.hpp"

namespace tessera::engine {

/// What a task has left, as the host sees it.
struct Finished {
  std::uint64_t tag = 0;  ///< the caller's, of `push`
  TaskStatus status = TaskStatus::Done;
  std::uint16_t kind = 0;
  std::uint32_t code = 0;
  std::uint64_t result[Completion::kResultBytes / 8] = {};
};

/// Names a task whose result is still to be fetched by `Engine::wait`.
template <class Kind>
struct Ticket {
  std::uint32_t slot = kNobody;
  std::uint32_t generation = 0;
};

/// How a task ended; `result` means something where `status` is Done.
template <class Kind>
struct Outcome {
  TaskStatus status = TaskStatus::Done;
  std::uint32_t code = 0;
  typename Kind::Result result{};
};

/// A task that runs at this moment.
struct RunningTask {
  std::int32_t worker = 0;
  std::string kind;
  std::uint64_t tag = 0;
  std::uint64_t firstArgument = 0;
  double seconds = 0;  ///< since `running` first saw it
};

/// A graph under way. Made by Engine::submit, waited for by Engine::wait.
class GraphRun {
 public:
  template <TaskKind Kind>
  Outcome<Kind> outcome(TaskGraph::Node node) const {
    const Finished& end = finished.at(static_cast<std::size_t>(node));
    Outcome<Kind> outcome{end.status, end.code, {}};
    memcpy(&outcome.result, end.result, sizeof(outcome.result));
    return outcome;
  }

  std::vector<Ticket<void>> tickets;
  std::vector<Finished> finished;  ///< by node, after `wait`
  void* memory = nullptr;          ///< of the engine
};

/// Runs many small tasks: workers stay where they are and take tasks from queues, so a task costs far less
/// than the launch of a kernel or the start of a thread.
///
///   Engine engine(myProgram(), {.form = EngineForm::Cuda});
///   const Ticket<Dot> ticket = engine.submit<Dot>({x, y, n});
///   const double d = engine.wait(ticket).result.value;
///
/// A full engine answers by back-pressure: `submit` waits, `push` takes fewer tasks; nothing is ever lost.
/// What a task finds wrong is a value in its outcome; the others go on. Any thread may call any function at
/// any time, but for the constructor and the destructor. While an engine of the form Cuda lives, calls of
/// CUDA that wait for a device to be idle wait for its end: docs/engine.md has the measured list.
class Engine {
 public:
  /// `program` outlives the engine. Throws UsageError for options that do not fit, InternalError where the
  /// GPU is not there or has no room.
  Engine(const Program& program, const EngineOptions& options);
  /// Tells the workers to end after the tasks that they are at, and waits for them. What is queued is
  /// dropped.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Program& program() const;
  const EngineOptions& options() const;  ///< with nothing left open
  std::int32_t workers() const;

  /// One task; waits for room. `deadlineMicros` as of Task.
  template <TaskKind Kind>
  Ticket<Kind> submit(const typename Kind::Arguments& arguments, std::uint32_t deadlineMicros = 0) {
    Task task = taskOf<Kind>(program().template numberOf<Kind>(), arguments);
    task.deadlineMicros = deadlineMicros;
    Ticket<void> ticket;
    submitTasks({&task, 1}, {&ticket, 1});
    return {ticket.slot, ticket.generation};
  }
  /// Many tasks of one kind, in one go.
  template <TaskKind Kind>
  std::vector<Ticket<Kind>> submitAll(std::span<const typename Kind::Arguments> arguments) {
    std::vector<Task> tasks;
    tasks.reserve(arguments.size());
    for (const auto& each : arguments)
      tasks.push_back(taskOf<Kind>(program().template numberOf<Kind>(), each));
    std::vector<Ticket<void>> tickets(tasks.size());
    submitTasks(tasks, tickets);
    std::vector<Ticket<Kind>> typed;
    typed.reserve(tickets.size());
    for (const auto& ticket : tickets) typed.push_back({ticket.slot, ticket.generation});
    return typed;
  }
  /// The outcome, once: the ticket is spent then.
  template <TaskKind Kind>
  Outcome<Kind> wait(const Ticket<Kind>& ticket) {
    const Finished end = waitFor(Ticket<void>{ticket.slot, ticket.generation});
    Outcome<Kind> outcome{end.status, end.code, {}};
    memcpy(&outcome.result, end.result, sizeof(outcome.result));
    return outcome;
  }
  /// Whether `wait` would return at once.
  template <class Kind>
  bool isDone(const Ticket<Kind>& ticket) {
    return isDone(Ticket<void>{ticket.slot, ticket.generation});
  }
  /// Takes a task back: it ends as Cancelled if it has not begun, or if its body asks Group::stopAsked. Only
  /// tasks made by submit or offer.
  template <class Kind>
  void cancel(const Ticket<Kind>& ticket) {
    cancelSlot(ticket.slot, ticket.generation);
  }

  GraphRun submit(const TaskGraph& graph);
  void wait(GraphRun& run);

  /// The untyped face: takes as many tasks from the front of the list as there is room for and returns how
  /// many. `tags` come back with the results, which `poll` hands out in the order of their ends, how many
  /// there are.
  std::int64_t push(std::span<const Task> tasks, std::span<const std::uint64_t> tags);
  std::int64_t poll(std::span<Finished> finished);

  /// As `submit`, for tasks of any kinds, but takes as many from the front of the list as there is room for
  /// and returns how many, without waiting.
  std::int64_t offer(std::span<const Task> tasks, std::span<Ticket<void>> tickets);
  /// As `wait`, without waiting: false where the task has not ended.
  bool fetch(Ticket<void> ticket, Finished& finished);
  /// For who waits by `fetch`: takes what has arrived, or runs a task where that is the form's way; looks now
  /// and then whether the workers are still there, and throws InternalError where they are not. True:
  /// something got on.
  bool lookAround();

  /// Memory of tasks, where the workers are: addresses for arguments. Throws InternalError where it is used
  /// up; `release` throws UsageError for what is not the start of a block in use. Neither waits for the
  /// device, but that a block which a task on a GPU has allocated is given back by a task.
  void* allocate(std::int64_t bytes);
  void release(void* block);
  void copyIn(void* to, const void* from, std::int64_t bytes);
  void copyOut(void* to, const void* from, std::int64_t bytes);
  std::int64_t bytesInUse() const;

  /// Waits until nothing is under way, spawned tasks included. Results stay to be fetched.
  void drain();
  /// Mode RunThenExit: runs all that was pushed, and what it spawns; returns when the workers have ended.
  void runQueue();
  /// Form Stepped: runs one task; false: there is none.
  bool turn();
  /// Tasks handed in whose outcome is not known yet.
  std::int64_t underWay() const;
  /// What the workers are at, for a watchdog: kind, argument and age of a task that does not end.
  std::vector<RunningTask> running();

 private:
  class Parts;
  void submitTasks(std::span<const Task> tasks, std::span<Ticket<void>> tickets);
  Finished waitFor(Ticket<void> ticket);
  bool isDone(Ticket<void> ticket);
  void cancelSlot(std::uint32_t slot, std::uint32_t generation);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera::engine
