#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/engine/detail/engine_state.hpp"
#include "scheduler/engine/engine_options.hpp"
#include "scheduler/engine/program.hpp"

namespace tessera::engine {

/// The words of a WorkerNote, read one after another.
struct NoteCopy {
  std::uint64_t serial = 0;
  std::uint64_t task = 0;
  std::uint64_t argument = 0;
  std::uint64_t reserved = 0;
};

/// Where the workers are, and the memory that they share with the host. Functions may be called by any
/// thread.
class EngineSide {
 public:
  /// Ends the workers after the tasks that they are at.
  virtual ~EngineSide() = default;

  /// The options with nothing left open.
  virtual const EngineOptions& options() const = 0;
  virtual std::int32_t workers() const = 0;
  /// Takes results that have arrived, in the order of their arrival; how many. One thread at a time.
  virtual std::int64_t fetch(std::span<Completion> completions) = 0;
  /// Hands tasks over, from the front of the list; how many there was room for.
  virtual std::int64_t deliver(std::span<const Task> tasks) = 0;
  /// Word n is the cancel word of the task with ticket n, once that is to be dropped.
  virtual ScopedAtomic<std::uint32_t, Scope::System>* cancelWords() = 0;
  /// Spawned tasks that have not ended.
  virtual std::int64_t openTasks() = 0;
  /// Runs what was delivered until `reports` results are there and nothing is open, then ends the workers.
  virtual void runQueue(std::uint64_t reports) = 0;
  /// Runs one task on this thread; false where that is not the form's way, or there is none.
  virtual bool turn() = 0;
  /// Throws InternalError where the workers have ended by themselves.
  virtual void checkAlive() = 0;

  virtual TaskMemory::Answer allocate(std::uint64_t bytes) = 0;
  /// Whether the address is of memory that only tasks can give back.
  virtual bool isOfTasks(std::uint64_t address) const = 0;
  virtual MemoryFault release(std::uint64_t address) = 0;
  virtual std::int64_t bytesInUse() const = 0;
  virtual void copyIn(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void copyOut(void* to, const void* from, std::int64_t bytes) = 0;
  /// What each worker is at: the words of its WorkerNote.
  virtual std::vector<NoteCopy> notes() = 0;
};

std::unique_ptr<EngineSide> makeHostSide(const Program& program, const EngineOptions& options);
/// Throws where the build or the machine has no GPU.
std::unique_ptr<EngineSide> makeCudaSide(const Program& program, const EngineOptions& options);

}  // namespace tessera::engine
