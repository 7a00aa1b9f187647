#pragma once

#include <span>
#include <string>

#include "scheduler/engine/group.hpp"
#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

class DeviceProgram;

/// Runs one task on the calling host thread and says how it ended in `completion`.
using HostRun = void (*)(const EngineState&, const Task&, TaskMemory::Hints&, std::uint32_t seed,
                         void* (*workspace)(std::uint64_t), Completion& completion);

/// The kinds of task that an engine can run: compiled together, so that the super-kernel can call each of
/// them. Kinds that need very different numbers of registers are better in different programs, each with an
/// engine of its own: all warps of a kernel get as many registers as the greediest kind of it.
struct Program {
  std::string name;
  std::span<const KindInfo> kinds;
  HostRun runOnHost = nullptr;
  const DeviceProgram* device = nullptr;  ///< nullptr: made without nvcc

  /// The number of a kind; throws UsageError naming the kinds that there are.
  std::uint16_t numberOf(const std::string& kind) const;
  /// The same by type.
  template <TaskKind Kind>
  std::uint16_t numberOf() const {
    for (std::size_t n = 0; n < kinds.size(); ++n) {
      if (kinds[n].identity == &kIdentity<Kind>) return static_cast<std::uint16_t>(n);
    }
    return numberOf(Kind::name);
  }
};

template <class Kinds>
void runOnHost(const EngineState& state, const Task& task, TaskMemory::Hints& hints, std::uint32_t seed,
               void* (*workspace)(std::uint64_t), Completion& completion) {
  HostGroup<Kinds> group(state, task, hints, seed, workspace);
  if (!Kinds::runAny(task, group, completion)) {
    completion.status = TaskStatus::UnknownKind;
    return;
  }
  completion.status = group.status();
  completion.code = group.code();
}

template <TaskKind... Kinds>
std::span<const KindInfo> infosOf(KindList<Kinds...>) {
  static const KindInfo infos[] = {{Kinds::name, Kinds::width, sizeof(typename Kinds::Arguments),
                                    sizeof(typename Kinds::Result), &kIdentity<Kinds>}...};
  return infos;
}

}  // namespace tessera::engine
