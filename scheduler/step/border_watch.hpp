#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "datawarehouse/task_frame.hpp"

namespace tessera::detail {

/// Compares what the tasks of two patches have computed on the nodes and faces between them, in checked mode.
/// A patch is compared with those of its rank that the same task has run for before, in the same replay, so
/// each pair once. Any thread.
class BorderWatch {
 public:
  /// What a task on a patch has just written; `unit` and `replay` tell tasks and replays apart. Throws
  /// UndeclaredAccess, which names task, label, index and both patches, where a bit differs.
  void compare(const TaskFrame& frame, const void* unit, std::int64_t replay);

 private:
  struct Kept {
    std::int64_t replay = -1;
    std::vector<std::byte> values;  ///< of the closed box, x fastest, plane by plane
  };
  using Table = std::map<std::pair<LabelId, PatchId>, Kept>;

  std::mutex mutex_;
  std::map<const void*, Table> tables_;
};

}  // namespace tessera::detail
