#pragma once

#include <memory>
#include <vector>

#include "core/lock_free/submissions.hpp"
#include "datawarehouse/description.hpp"
#include "datawarehouse/task_frame.hpp"
#include "taskgraph/begun_work.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Tasks whose bodies begin work that goes on elsewhere (TaskBody::begins): what each of them sees stays
/// until its work has ended. Any thread begins (`slotOf`, `submit`), one at a time looks after what was begun
/// (`poll`).
class BegunTasks {
 public:
  /// Of one task on one patch. `work` is null where the step is refused: it has ended then.
  struct Slot {
    NodeId node;
    TaskFrame frame;
    std::vector<TaskAccess> accesses;
    AlignedMemory scratch;
    std::unique_ptr<BegunWork> work;
    bool isOpen = false;  ///< by who polls
  };

  explicit BegunTasks(const CompiledGraph& graph);

  bool isEmpty() const { return slots_.empty(); }
  /// Of node `number` of the block.
  Slot& slotOf(const NodeBlock& block, std::int32_t number) { return slots_[placeOf(block, number)]; }
  /// The slot is whole: who polls has it from now on.
  void submit(const NodeBlock& block, std::int32_t number) {
    submitted_.push(static_cast<std::int32_t>(placeOf(block, number)));
  }

  /// Goes on with all work; calls `end(slot)` for what has ended.
  template <class End>
  void poll(const End& end) {
    takeSubmitted();
    for (std::size_t n = 0; n < open_.size();) {
      Slot& slot = slots_[open_[n]];
      if (slot.work != nullptr && !slot.work->proceed()) {
        ++n;
        continue;
      }
      end(slot);
      close(slot);
      open_[n] = open_.back();
      open_.pop_back();
    }
  }
  /// While nobody is inside `poll` or submits.
  void appendBegun(std::vector<NodeId>& nodes);
  /// What the node waits for; empty where it is none of these, or has not begun.
  std::string waitsFor(const NodeBlock& block, std::int32_t number) const;
  /// Where a step has failed: waits until no work touches the variables any more.
  void giveUp();

 private:
  std::size_t placeOf(const NodeBlock& block, std::int32_t number) const {
    return static_cast<std::size_t>(firstOfBlock_[static_cast<std::size_t>(&block - blocks_)] + number);
  }
  void takeSubmitted();
  static void close(Slot& slot) {
    slot.work.reset();
    slot.isOpen = false;
  }

  const NodeBlock* blocks_;
  std::vector<std::int64_t> firstOfBlock_;  ///< of slots, by block
  std::vector<Slot> slots_;
  Submissions<> submitted_;
  std::vector<std::size_t> open_;
};

}  // namespace tessera::detail
