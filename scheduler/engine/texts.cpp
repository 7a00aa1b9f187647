#include "core/text/error.hpp"
#include "scheduler/engine/program.hpp"
#include "scheduler/engine/queues/slab.hpp"

namespace tessera::engine {

const char* statusText(TaskStatus status) {
  switch (status) {
    case TaskStatus::Done:
      return "done";
    case TaskStatus::Failed:
      return "failed";
    case TaskStatus::Late:
      return "late";
    case TaskStatus::Cancelled:
      return "cancelled";
    case TaskStatus::Skipped:
      return "skipped";
    case TaskStatus::UnknownKind:
      return "of an unknown kind";
  }
  return "unknown";
}

const char* faultText(MemoryFault fault) {
  switch (fault) {
    case MemoryFault::None:
      return "no fault";
    case MemoryFault::Exhausted:
      return "the memory for data of tasks is used up";
    case MemoryFault::Foreign:
      return "the address is not the start of a block of this engine's memory";
    case MemoryFault::FreedTwice:
      return "the block was given back already";
  }
  return "unknown";
}

std::uint16_t Program::numberOf(const std::string& kind) const {
  std::string list;
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    if (kind == kinds[n].name) return static_cast<std::uint16_t>(n);
    list += (n == 0 ? "" : ", ") + std::string(kinds[n].name);
  }
  throw UsageError("the program " + name + " has no tasks of the kind \"" + kind + "\"; it has " + list);
}

}  // namespace tessera::engine
