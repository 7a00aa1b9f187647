#include "taskgraph/proof/touch_collector.hpp"

#include "core/text/error.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/scratch_halos.hpp"

namespace tessera::detail {

TouchCollector::TouchCollector(std::span<const CompiledGraphs> ranks, std::size_t plan, Rank rank,
                               const UnionGraph& nodes, const DeclaredVersions& versions,
                               const RaceMessages& messages, RaceFaults& faults)
    : own_(ranks[static_cast<std::size_t>(rank)]),
      graph_(own_.plans[plan]),
      plan_(plan),
      nodes_(nodes),
      versions_(versions),
      messages_(messages),
      faults_(faults),
      names_(ranks, plan, nodes) {
  for (const StorageNeed& need : storageNeeds(own_)) storage_[{need.label, need.patch}] = need;
}

void TouchCollector::collect(PackVersions& packs, std::vector<Touch>& touches) {
  packs_ = &packs;
  touches_ = &touches;
  startOfStep();
  for (const NodeBlock& block : graph_.blocks) {
    switch (block.kind) {
      case NodeKind::Task:
        task(block);
        break;
      case NodeKind::Fill:
        fill(block);
        break;
      case NodeKind::Send:
        break;
      case NodeKind::Receive:
        receive(block);
        break;
      case NodeKind::Reduce:
        reduce(block);
        break;
    }
  }
}

void TouchCollector::startOfStep() {
  for (std::size_t local = 0; local < own_.ownPatches.size(); ++local) {
    if (own_.ownPatches[local] < 0) continue;  // a spare slot
    const Patch& patch = ownPatch(static_cast<std::int64_t>(local));
    for (LabelId label = 0; label < own_.labels->count(); ++label) {
      const auto need = storage_.find({label, patch.id});
      // What shares its memory has not lasted from the step before.
      if (need == storage_.end() || need->second.slot >= 0) continue;
      add(entry(label, Generation::Old, static_cast<std::int64_t>(local)),
          level(patch.level).ownedBy(patch, centeringOf(label)), -1, -1, TouchKind::Write);
    }
  }
}

void TouchCollector::task(const NodeBlock& block) {
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  const TaskDeclaration& task = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
  for (std::int32_t row = 0; row < block.count; ++row) {
    const std::int64_t node = nodes_.node(own_.rank, block.firstNode + row);
    const std::int64_t local = unit.level < 0 ? -1 : block.firstLocal + row;
    taskReads(unit, local, node, row);
    if (local >= 0) taskWrites(unit, local, node);
    std::int64_t number = unit.contributions.begin + row * unit.contributions.size();
    for (const ContributionDeclaration& c : task.contributions) {
      add({Memory::Kind::Contribution, own_.rank, c.reduction, 0, number++}, bytesBox(0, 1), node, 0,
          TouchKind::Write);
    }
  }
}

void TouchCollector::taskReads(const TaskUnit& unit, std::int64_t local, std::int64_t node,
                               std::int32_t row) {
  const Patch* patch = local < 0 ? nullptr : &ownPatch(local);
  for (const ReadDeclaration& read : graph_.plan->tasks()[static_cast<std::size_t>(unit.task)].reads) {
    if (read.reach != Reach::Patch) {
      gatherRead(unit, read, patch, node, row);
    } else if (patch != nullptr) {
      const Box box = readBox(level(patch->level), *patch, centeringOf(read.label), read.halo);
      if (isScratch(own_, {read.label, unit.level}) && !read.halo.isZero()) {
        if (const FillPlan* fill = fillOf(unit, read, node)) scratchRead(*fill, box, local, node, row);
        continue;
      }
      add(entry(read.label, read.generation, local), box, node, versions_.ofRead(unit.task, unit.level, read),
          TouchKind::Read);
    }
  }
}

void TouchCollector::taskWrites(const TaskUnit& unit, std::int64_t local, std::int64_t node) {
  const Patch& patch = ownPatch(local);
  for (const WriteDeclaration& write : graph_.plan->tasks()[static_cast<std::size_t>(unit.task)].writes) {
    const Memory memory = entry(write.label, Generation::New, local);
    const Box owned = level(patch.level).ownedBy(patch, centeringOf(write.label));
    const std::int32_t version = versions_.ofWrite(unit.task, unit.level, write.label);
    if (write.modifies) add(memory, owned, node, version - 1, TouchKind::Read);
    add(memory, owned, node, version, TouchKind::Write);
  }
}

const FillPlan* TouchCollector::fillOf(const TaskUnit& unit, const ReadDeclaration& read, std::int64_t node) {
  const LevelId source = DeclaredVersions::levelRead(read, unit.level);
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
    const bool same = access.label == read.label && access.level == source && access.reach == read.reach &&
                      access.mode == (read.generation == Generation::Old ? 0 : 1) && access.fill >= 0;
    if (same) return &graph_.fills[static_cast<std::size_t>(access.fill)];
  }
  faults_.add(Message("a read has no fill")
                  .line("reader  ", names_.node(node))
                  .line("reads   ", own_.labels->info(read.label).name, " of level ", source)
                  .text());
  return nullptr;
}

void TouchCollector::gatherRead(const TaskUnit& unit, const ReadDeclaration& read, const Patch* patch,
                                std::int64_t node, std::int32_t row) {
  const LevelId source = DeclaredVersions::levelRead(read, unit.level);
  const FillPlan* fill = fillOf(unit, read, node);
  if (fill == nullptr) return;
  const Level& from = level(source);
  const Centering centering = centeringOf(read.label);
  const std::int32_t version = versions_.ofRead(unit.task, unit.level, read);
  Memory memory{Memory::Kind::Gather, own_.rank, read.label, 0, fill->firstGather};
  if (fill->shared.size() > 0) {  // the window of the patches itself
    for (const std::int32_t member : own_.shared[static_cast<std::size_t>(fill->shared.begin)].members) {
      add(entry(read.label, read.generation, member), from.ownedBy(ownPatch(member), centering), node,
          version, TouchKind::Read);
    }
    return;
  }
  if (read.reach == Reach::WholeLevel) {
    add(memory, from.domainOf(centering), node, version, TouchKind::Depend);
    return;
  }
  memory.number += row;
  const Box box = readBox(from, seenPatch(*own_.hierarchy, *patch, read.reach), centering, read.halo);
  if (read.reach == Reach::Coarser) {
    add(memory, box, node, version, TouchKind::Read);
    return;
  }
  for (const Patch& finer : from.patches()) {
    const Box there = intersect(box, from.ownedBy(finer, centering));
    if (!there.empty()) add(memory, there, node, version, TouchKind::Read);
  }
}

void TouchCollector::receive(const NodeBlock& block) {
  for (std::int32_t n = 0; n < block.count; ++n) {
    const std::int32_t number = block.item + n;
    add({Memory::Kind::Received, own_.rank, -1, 0, number},
        bytesBox(0, graph_.receives[static_cast<std::size_t>(number)].bytes),
        nodes_.node(own_.rank, block.firstNode + n), 0, TouchKind::Write);
  }
}

void TouchCollector::reduce(const NodeBlock& block) {
  for (std::int32_t n = 0; n < block.count; ++n) {
    const ReductionPlan& plan = graph_.reductions[static_cast<std::size_t>(block.item + n)];
    for (const std::int32_t from : plan.blocks) {
      const NodeBlock& given = graph_.blocks[static_cast<std::size_t>(from)];
      const TaskUnit& unit = graph_.units[static_cast<std::size_t>(given.item)];
      const auto& declared = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)].contributions;
      for (std::int32_t row = 0; row < given.count; ++row) {
        for (std::size_t c = 0; c < declared.size(); ++c) {
          if (declared[c].reduction != plan.reduction) continue;
          const std::int64_t number =
              unit.contributions.begin + row * unit.contributions.size() + static_cast<std::int64_t>(c);
          add({Memory::Kind::Contribution, own_.rank, plan.reduction, 0, number}, bytesBox(0, 1),
              nodes_.node(own_.rank, block.firstNode + n), 0, TouchKind::Read);
        }
      }
    }
  }
}

void TouchCollector::collectSends(const PackVersions& packs, std::vector<Touch>& touches) {
  touches_ = &touches;
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Send) continue;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int64_t node = nodes_.node(own_.rank, block.firstNode + n);
      const Range items = graph_.sends[static_cast<std::size_t>(block.item + n)].items;
      for (std::int64_t p = items.begin; p < items.end; ++p) {
        const PackItem& item = graph_.packItems[static_cast<std::size_t>(p)];
        if (item.source < 0) {
          add({Memory::Kind::Received, own_.rank, -1, 0, item.forward},
              bytesBox(item.forwardOffset, item.bytes), node, 0, TouchKind::Read);
          continue;
        }
        const std::int32_t version = packs[static_cast<std::size_t>(own_.rank)][static_cast<std::size_t>(p)];
        if (version == kUnclaimed) {
          faults_.add(Message("a packed piece is not taken by any fill of its receiver")
                          .line("packed  ", own_.labels->info(item.label).name, " ", asText(item.region),
                                " of ", asText(ownPatch(item.source)))
                          .line("by      ", names_.node(node))
                          .text());
          continue;
        }
        add(entry(item.label, item.generation, item.source), item.region, node, version, TouchKind::Read);
      }
    }
  }
}

void TouchCollector::add(const Memory& memory, const Box& box, std::int64_t node, std::int32_t version,
                         TouchKind kind) {
  if (box.empty()) return;
  const Box* window = windowOf(memory);
  Box bytes;
  if (memory.kind == Memory::Kind::Received) {
    bytes = bytesBox(0, graph_.receives[static_cast<std::size_t>(memory.number)].bytes);
    window = &bytes;
  }
  const bool inside =
      memory.kind == Memory::Kind::Contribution || (window != nullptr && window->contains(box));
  if (!inside) {
    faults_.add(Message("a node accesses memory outside of its window")
                    .line("node    ", names_.node(node))
                    .line("touches ", asText(box), " of ", names_.memory(memory))
                    .line("kept    ", window == nullptr ? std::string("nothing") : asText(*window))
                    .text());
  }
  touches_->push_back({memory, box, node, version, kind});
}

const SharedWindow* TouchCollector::sharedOf(LabelId label, std::int64_t local) const {
  const auto found = storage_.find({label, own_.ownPatches[static_cast<std::size_t>(local)]});
  if (found == storage_.end() || found->second.shared < 0) return nullptr;
  return &own_.shared[static_cast<std::size_t>(found->second.shared)];
}

Memory TouchCollector::entry(LabelId label, Generation generation, std::int64_t local) const {
  const auto found = storage_.find({label, own_.ownPatches[static_cast<std::size_t>(local)]});
  const bool two = found != storage_.end() && found->second.hasOld;
  const SharedWindow* shared = sharedOf(label, local);
  return {Memory::Kind::Entry, own_.rank, label, two && generation == Generation::New ? 1 : 0,
          shared == nullptr ? local : shared->members.front()};
}

const Box* TouchCollector::windowOf(const Memory& memory) const {
  if (memory.kind == Memory::Kind::Scratch) {
    const auto found = scratch_.find({memory.label, memory.number});
    return found == scratch_.end() ? nullptr : &found->second;
  }
  if (memory.kind == Memory::Kind::Gather) {
    const auto& gathers = own_.gathers[plan_];
    const auto at = static_cast<std::size_t>(memory.number);
    return memory.number >= 0 && at < gathers.size() ? &gathers[at].window : nullptr;
  }
  if (memory.kind != Memory::Kind::Entry) return nullptr;
  if (const SharedWindow* shared = sharedOf(memory.label, memory.number)) return &shared->window;
  const auto found = storage_.find({memory.label, own_.ownPatches[static_cast<std::size_t>(memory.number)]});
  return found == storage_.end() ? nullptr : &found->second.window;
}

}  // namespace tessera::detail
