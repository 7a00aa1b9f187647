#pragma once

#include <cstdint>

#include "scheduler/engine/engine.hpp"

namespace tessera::engine {

/// Seconds from the hand-in of a task to its result, one at a time; the median of `count`.
double roundTrip(Engine& engine, const char* kind, int count);

/// Seconds for `count` adders from one thread, which also fetches the results; each result is checked by the
/// sum of all. Throws InternalError where the sum is wrong.
double hostFed(Engine& engine, const char* kind, std::uint64_t count);

/// Seconds for `chains` chains of `length` tasks, each of which makes the next: made and run by the workers
/// alone.
double workerMade(Engine& engine, const char* kind, std::uint64_t chains, std::uint64_t length);

/// Share of the workers' time that is work, for `count` tasks of so many nanoseconds on `workers` workers.
double efficiency(Engine& engine, std::uint64_t nanos, std::uint64_t count, int workers);

/// The same where workers are fed by tasks: two chains for each worker, of `length` tasks.
double efficiencyOfChains(Engine& engine, std::uint64_t nanos, std::uint64_t length, int workers);

/// Tasks per second of a kind with the same arguments each time, `count` of them.
double tasksPerSecond(Engine& engine, const Task& task, std::uint64_t count);

}  // namespace tessera::engine
