#include "tools/simulation/mesh/carry_over.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera {

std::vector<LevelLabel> keptOn(const CompiledGraphs& graphs, const std::vector<LabelId>& persistent) {
  std::vector<LevelLabel> kept;
  for (const LevelStorage& storage : graphs.storage) {
    if (std::binary_search(persistent.begin(), persistent.end(), storage.label))
      kept.push_back({storage.label, storage.level});
  }
  return kept;
}

void expectSameCells(const Hierarchy& before, const Hierarchy& after) {
  bool same = before.geometry() == after.geometry() && before.levels().size() == after.levels().size();
  for (std::size_t level = 0; same && level < before.levels().size(); ++level) {
    const Level& a = before.levels()[level];
    const Level& b = after.levels()[level];
    same = a.ratioToCoarser() == b.ratioToCoarser() && a.cellCount() == b.cellCount();
  }
  TESSERA_EXPECT(same, "adopt a mesh of the same cells on each level");
}

void expectBlock(const CheckpointReader& checkpoint, const BlockDescription& wanted) {
  const BlockDescription* found = checkpoint.find(wanted.label, wanted.level, wanted.patch);
  if (found == nullptr || *found == wanted) return;
  throw InputError(Message("a block of the checkpoint does not fit its mesh")
                       .line("file   ", checkpoint.path().string())
                       .line("block  ", asText(wanted))
                       .line("mesh   ", asText(wanted.box))
                       .line("block  ", asText(found->box))
                       .line("fix    go on from another checkpoint with --from, or start the run again")
                       .text());
}

}  // namespace tessera
