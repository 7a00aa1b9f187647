#include "scheduler/engine/engine.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "core/text/error.hpp"
#include "scheduler/engine/detail/engine_side.hpp"
#include "scheduler/engine/detail/result_slots.hpp"

namespace tessera::engine {
namespace {

/// A wait for slots while no task is under way: other threads may be about to fetch results. Over when none
/// did for so long that nobody will.
class WaitForFetching {
 public:
  bool isOver(const ResultSlots& slots) {
    if (!slots.allDone()) {
      since_ = 0;
      return false;
    }
    const std::uint64_t now = nowNanos();
    if (since_ == 0) since_ = now;
    return now - since_ > kNanos;
  }

 private:
  static constexpr std::uint64_t kNanos = 300'000'000;
  std::uint64_t since_ = 0;
};

/// Refuses what cannot be, and chooses what is left open.
EngineOptions checked(EngineOptions options, const Program& program) {
  const auto refuse = [](const std::string& text) { throw UsageError(text); };
  if (program.kinds.empty())
    refuse("the program of an engine has no kinds of tasks; give makeProgram at least one");
  if (program.kinds.size() > sizeof(EngineState::widths)) {
    refuse("a program has at most 64 kinds of tasks; spread them over two engines");
  }
  if (options.capacity < 2 || !std::has_single_bit(static_cast<std::uint64_t>(options.capacity)) ||
      options.capacity > 1 << 24) {
    refuse("the capacity of an engine is a power of two from 2 to 16777216, not " +
           std::to_string(options.capacity));
  }
  if (options.memoryBytes < 0 || options.memoryBytes > std::int64_t{1} << 40) {
    refuse("the memory of an engine is 0 to 2^40 bytes, not " + std::to_string(options.memoryBytes));
  }
  if (options.threads < 0 || options.threads > 4096) {
    refuse("an engine has 0 to 4096 threads, not " + std::to_string(options.threads));
  }
  if (options.multiprocessors < 0) {
    refuse("an engine fills 0 (all) or more multiprocessors, not " + std::to_string(options.multiprocessors));
  }
  const auto page = std::int64_t{SlabClasses::kPageBytes};
  options.memoryBytes = std::max(page, (options.memoryBytes + page - 1) / page * page);
  if (options.form == EngineForm::Stepped) options.threads = 0;
  if (options.form == EngineForm::Threads && options.threads == 0) {
    options.threads = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  }
  return options;
}

std::uint16_t cancelWordOf(std::uint32_t generation) {
  return static_cast<std::uint16_t>(generation % 0xffff + 1);
}

std::unique_ptr<EngineSide> makeSide(const Program& program, const EngineOptions& options) {
  return options.form == EngineForm::Cuda ? makeCudaSide(program, options) : makeHostSide(program, options);
}

}  // namespace

/// What the host keeps: the workers' side, and a slot for each task under way.
class Engine::Parts {
 public:
  Parts(const Program& theProgram, const EngineOptions& theOptions)
      : program(theProgram),
        side(makeSide(theProgram, checked(theOptions, theProgram))),
        slots(*side, side->options().capacity) {}

  /// One look while something is waited for: empties the outbox, runs a task where that is the form's way.
  void look(int& looks) {
    if (slots.collect() > 0 || side->turn()) {
      looks = 0;
      return;
    }
    if (++looks < 256) return;
    if (looks % 1024 == 0) side->checkAlive();
    if (looks < 4096 || side->options().form == EngineForm::Cuda) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  const Program& program;
  std::unique_ptr<EngineSide> side;
  ResultSlots slots;
  std::mutex watching;  ///< of `running`
  struct Seen {
    std::uint64_t serial = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::int32_t, Seen> seen;
};

Engine::Engine(const Program& program, const EngineOptions& options)
    : parts_(std::make_unique<Parts>(program, options)) {}
Engine::~Engine() = default;

const Program& Engine::program() const { return parts_->program; }
const EngineOptions& Engine::options() const { return parts_->side->options(); }
std::int32_t Engine::workers() const { return parts_->side->workers(); }

void Engine::submitTasks(std::span<const Task> tasks, std::span<Ticket<void>> tickets) {
  std::size_t done = 0;
  int looks = 0;
  WaitForFetching patience;
  while (done < tasks.size()) {
    const std::int64_t taken = offer(tasks.subspan(done), tickets.subspan(done));
    done += static_cast<std::size_t>(taken);
    if (taken > 0) {
      patience = {};
      continue;
    }
    if (options().mode == EngineMode::RunThenExit || patience.isOver(parts_->slots)) {
      throw UsageError("the engine is full of " + std::to_string(options().capacity) +
                       " tasks whose results nobody has fetched; wait for some tickets, poll, or give "
                       "EngineOptions::capacity a larger power of two");
    }
    parts_->look(looks);
  }
}

std::int64_t Engine::offer(std::span<const Task> tasks, std::span<Ticket<void>> tickets) {
  const auto ids = parts_->slots.open(std::ssize(tasks));
  std::vector<Task> marked(tasks.begin(), tasks.begin() + std::ssize(ids));
  for (std::size_t n = 0; n < ids.size(); ++n) {
    tickets[n] = {ids[n], parts_->slots.keep(ids[n])};
    marked[n].ticket = ids[n];
    marked[n].cancelWord = cancelWordOf(tickets[n].generation);
  }
  int looks = 0;
  for (std::span<const Task> part = marked; !part.empty();) {
    part = part.subspan(static_cast<std::size_t>(parts_->side->deliver(part)));
    if (!part.empty()) parts_->look(looks);
  }
  return std::ssize(ids);
}

bool Engine::fetch(Ticket<void> ticket, Finished& finished) {
  parts_->slots.expect(ticket.slot, ticket.generation);
  if (!parts_->slots.isDone(ticket.slot)) return false;
  finished = parts_->slots.fetch(ticket.slot);
  return true;
}

bool Engine::lookAround() {
  if (parts_->slots.collect() > 0 || parts_->side->turn()) return true;
  if (parts_->slots.countEmptyPoll()) parts_->side->checkAlive();
  return false;
}

Finished Engine::waitFor(Ticket<void> ticket) {
  int looks = 0;
  parts_->slots.expect(ticket.slot, ticket.generation);
  while (!parts_->slots.isDone(ticket.slot)) {
    if (options().mode == EngineMode::RunThenExit && looks > 4096) {
      throw UsageError("the task has not run; an engine that runs and then exits needs `runQueue` first");
    }
    parts_->look(looks);
  }
  return parts_->slots.fetch(ticket.slot);
}

bool Engine::isDone(Ticket<void> ticket) {
  parts_->slots.expect(ticket.slot, ticket.generation);
  parts_->slots.collect();
  return parts_->slots.isDone(ticket.slot);
}

void Engine::cancelSlot(std::uint32_t slot, std::uint32_t generation) {
  parts_->slots.expect(slot, generation);
  parts_->side->cancelWords()[slot].store(cancelWordOf(generation), std::memory_order_relaxed);
}

std::int64_t Engine::push(std::span<const Task> tasks, std::span<const std::uint64_t> tags) {
  if (tags.size() != tasks.size()) throw UsageError("push needs one tag for each task");
  Task part[64];
  std::int64_t done = 0;
  while (done < std::ssize(tasks)) {
    std::uint32_t ids[64];
    const std::int64_t count =
        parts_->slots.open({ids, std::min<std::size_t>(64, tasks.size() - static_cast<std::size_t>(done))});
    for (std::int64_t n = 0; n < count; ++n) {
      part[n] = tasks[static_cast<std::size_t>(done + n)];
      part[n].ticket = ids[n];
      parts_->slots.tag(ids[n], tags[static_cast<std::size_t>(done + n)]);
    }
    const std::int64_t taken =
        count == 0 ? 0 : parts_->side->deliver({part, static_cast<std::size_t>(count)});
    parts_->slots.giveBack({ids + taken, static_cast<std::size_t>(count - taken)});
    done += taken;
    if (taken == 0) break;
  }
  return done;
}

std::int64_t Engine::poll(std::span<Finished> finished) {
  const std::int64_t count = parts_->slots.poll(finished);
  if (count > 0 || finished.empty()) return count;
  if (!parts_->side->turn()) {
    if (parts_->slots.countEmptyPoll()) parts_->side->checkAlive();
    return 0;
  }
  return parts_->slots.poll(finished);
}

GraphRun Engine::submit(const TaskGraph& graph) {
  graph.check();
  GraphRun run;
  if (graph.size() > options().capacity) {
    throw UsageError("the graph has " + std::to_string(graph.size()) +
                     " tasks, but the engine has room for " + std::to_string(options().capacity) +
                     "; give EngineOptions::capacity a larger power of two");
  }
  if (graph.size() == 0) return run;
  const auto count = static_cast<std::size_t>(graph.size());
  const std::size_t nodeBytes = count * sizeof(GraphNode);
  std::vector<std::uint32_t> edges(graph.edges().size());
  std::vector<std::uint32_t> first(count + 1, 0);
  for (const auto& [before, after] : graph.edges()) ++first[static_cast<std::size_t>(before) + 1];
  for (std::size_t n = 0; n < count; ++n) first[n + 1] += first[n];
  auto next = first;
  for (const auto& [before, after] : graph.edges()) {
    edges[next[static_cast<std::size_t>(before)]++] = static_cast<std::uint32_t>(after);
  }
  run.memory = allocate(static_cast<std::int64_t>(nodeBytes + edges.size() * sizeof(std::uint32_t)));
  const auto base = reinterpret_cast<std::uint64_t>(run.memory);
  int looks = 0;
  WaitForFetching patience;
  std::vector<std::uint32_t> ids;
  // All slots or none: two graphs that each held some would wait for the other's.
  while ((ids = parts_->slots.open(static_cast<std::int64_t>(count))).size() < count) {
    parts_->slots.giveBack(ids);
    if (options().mode == EngineMode::RunThenExit || patience.isOver(parts_->slots)) {
      release(run.memory);
      throw UsageError("the graph does not fit beside results that nobody has fetched; fetch them first");
    }
    parts_->look(looks);
  }
  std::unique_ptr<GraphNode[]> nodes(new GraphNode[count]);
  std::vector<Task> roots;
  for (std::size_t n = 0; n < count; ++n) {
    nodes[n].task = graph.tasks()[n];
    nodes[n].task.ticket = ids[n];
    nodes[n].task.node = base + n * sizeof(GraphNode);
    nodes[n].successors = first[n + 1] - first[n];
    nodes[n].nodes = base;
    nodes[n].edges = base + nodeBytes + first[n] * sizeof(std::uint32_t);
    run.tickets.push_back({ids[n], parts_->slots.keep(ids[n])});
  }
  for (const std::uint32_t after : edges) nodes[after].waits.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t n = 0; n < count; ++n) {
    if (nodes[n].waits.load(std::memory_order_relaxed) == 0) roots.push_back(nodes[n].task);
  }
  copyIn(run.memory, nodes.get(), static_cast<std::int64_t>(nodeBytes));
  if (!edges.empty()) {
    copyIn(static_cast<std::byte*>(run.memory) + nodeBytes, edges.data(),
           static_cast<std::int64_t>(edges.size() * sizeof(std::uint32_t)));
  }
  for (std::span<const Task> part = roots; !part.empty();) {
    part = part.subspan(static_cast<std::size_t>(parts_->side->deliver(part)));
    if (!part.empty()) parts_->look(looks);
  }
  return run;
}

void Engine::wait(GraphRun& run) {
  for (const Ticket<void>& ticket : run.tickets) run.finished.push_back(waitFor(ticket));
  run.tickets.clear();
  if (run.memory != nullptr) release(run.memory);
  run.memory = nullptr;
}

void* Engine::allocate(std::int64_t bytes) {
  if (bytes <= 0)
    throw UsageError("an allocation of an engine needs at least one byte, not " + std::to_string(bytes));
  const TaskMemory::Answer answer = parts_->side->allocate(static_cast<std::uint64_t>(bytes));
  if (answer.fault == MemoryFault::None) return reinterpret_cast<void*>(answer.address);
  throw InternalError(
      Message(faultText(answer.fault))
          .line("asked for ", bytes, " bytes; in use are ", bytesInUse(), " of ", options().memoryBytes)
          .line("fix       release blocks, or give EngineOptions::memoryBytes more")
          .text());
}

void Engine::release(void* block) {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  MemoryFault fault = MemoryFault::None;
  if (parts_->side->isOfTasks(address)) {
    Task task;
    task.kind = kReleaseKind;
    std::memcpy(task.arguments, &address, sizeof(address));
    Ticket<void> ticket;
    submitTasks({&task, 1}, {&ticket, 1});
    fault = static_cast<MemoryFault>(waitFor(ticket).code);
  } else {
    fault = parts_->side->release(address);
  }
  if (fault != MemoryFault::None)
    throw UsageError(std::string(faultText(fault)) + "; release each block once");
}

void Engine::copyIn(void* to, const void* from, std::int64_t bytes) { parts_->side->copyIn(to, from, bytes); }
void Engine::copyOut(void* to, const void* from, std::int64_t bytes) {
  parts_->side->copyOut(to, from, bytes);
}
std::int64_t Engine::bytesInUse() const { return parts_->side->bytesInUse(); }

void Engine::drain() {
  if (options().mode == EngineMode::RunThenExit) return runQueue();
  int looks = 0;
  while (!parts_->slots.allDone() || parts_->side->openTasks() != 0) parts_->look(looks);
}

void Engine::runQueue() {
  if (options().mode != EngineMode::RunThenExit) {
    throw UsageError("`runQueue` is for engines of the mode RunThenExit; use `drain`");
  }
  parts_->side->runQueue(parts_->slots.opened());
  parts_->slots.collect();
}

bool Engine::turn() { return parts_->side->turn(); }
std::int64_t Engine::underWay() const { return parts_->slots.underWay(); }

std::vector<RunningTask> Engine::running() {
  const auto now = std::chrono::steady_clock::now();
  const std::vector<NoteCopy> notes = parts_->side->notes();
  const std::lock_guard<std::mutex> lock(parts_->watching);
  std::vector<RunningTask> list;
  for (std::int32_t worker = 0; worker < static_cast<std::int32_t>(notes.size()); ++worker) {
    const NoteCopy& note = notes[static_cast<std::size_t>(worker)];
    if (note.serial % 2 == 0) {
      parts_->seen.erase(worker);
      continue;
    }
    auto& seen = parts_->seen[worker];
    if (seen.serial != note.serial) seen = {note.serial, now};
    const auto kind = static_cast<std::size_t>(note.task & 0xffff);
    const auto ticket = static_cast<std::uint32_t>(note.task >> 32);
    list.push_back({worker, kind < program().kinds.size() ? program().kinds[kind].name : "unknown",
                    ticket == kNobody ? 0 : parts_->slots.tagOf(ticket), note.argument,
                    std::chrono::duration<double>(now - seen.since).count()});
  }
  return list;
}

}  // namespace tessera::engine
