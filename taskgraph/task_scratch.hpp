#pragma once

#include <cstdint>

#include "grid/level.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// The indices that a task has of a scratch field on a patch: those of all cells of the patch and of `grow`
/// cells around it, with both borders of nodes and faces.
Box scratchBox(const Level& level, const Patch& patch, Centering centering, const Halo& grow);

/// Calls `visit(label, box, offset)` for each scratch field of a task on a patch; returns the bytes of all.
/// They lie one behind the other, each from a multiple of kScratchPiece on.
template <class Visit>
std::int64_t forEachScratch(const TaskDeclaration& task, const LabelTable& labels, const Level& level,
                            const Patch& patch, Visit&& visit) {
  constexpr std::int64_t kScratchPiece = 256;
  std::int64_t at = 0;
  for (const ScratchDeclaration& scratch : task.scratch) {
    const LabelInfo& info = labels.info(scratch.label);
    const Box box = scratchBox(level, patch, info.centering, scratch.grow);
    visit(scratch.label, box, at);
    at += (box.volume() * info.type.bytes() + kScratchPiece - 1) / kScratchPiece * kScratchPiece;
  }
  return at;
}

inline std::int64_t scratchBytes(const TaskDeclaration& task, const LabelTable& labels, const Level& level,
                                 const Patch& patch) {
  return forEachScratch(task, labels, level, patch, [](LabelId, const Box&, std::int64_t) {});
}

}  // namespace tessera
