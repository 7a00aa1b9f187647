#include "scheduler/step/task_prefetches.hpp"

#include <algorithm>

#include "datawarehouse/task_frame.hpp"

namespace tessera::detail {

TaskPrefetches::TaskPrefetches(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
                               const HostMoves& moves, int workers)
    : graph_(graphs.plans[plan]),
      data_(data),
      moves_(moves),
      gathers_(graph_.units.size(), false),
      workers_(static_cast<std::size_t>(workers)) {
  std::size_t most = 0;
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task || block.count == 0) continue;
    const std::size_t needed = entries(block);
    gathers_[static_cast<std::size_t>(block.item)] = needed > 0;
    most = std::max(most, needed);
  }
  for (Worker& worker : workers_) worker.lines.reserve(most);
}

std::size_t TaskPrefetches::entries(const NodeBlock& block) const {
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  std::size_t most = 0;
  bool gathers = false;
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
    if (!graph_.isScratch(access)) {
      ++most;
      continue;
    }
    gathers = true;
    std::size_t ofRow = 0;
    for (std::int32_t row = 0; row < block.count; ++row)
      ofRow = std::max(ofRow, moves_.fetchEntries(access.fill, row));
    most += ofRow;
  }
  return gathers ? most : 0;
}

Prefetcher* TaskPrefetches::during(const NodeBlock& block, std::int32_t number, const Patch* patch,
                                   int worker) {
  if (!gathers_[static_cast<std::size_t>(block.item)]) return nullptr;
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  const std::int32_t node = block.firstNode + number;
  if (node == own.last + 1) own.step = 1;
  if (node == own.last - 1) own.step = -1;
  own.last = node;
  const std::int32_t next = number + own.step;
  if (next < 0 || next >= block.count) return nullptr;
  own.lines.clear();
  list(block, next, own);
  const Extent cells = patch->cells.extent();
  own.ahead.begin(own.lines, cells.j * cells.k);
  return &own.ahead;
}

void TaskPrefetches::list(const NodeBlock& block, std::int32_t number, Worker& worker) const {
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  const std::int32_t local = block.firstLocal + number;
  const auto own = static_cast<std::size_t>(local);
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
    if (graph_.isScratch(access)) {
      moves_.listPrefetches(access.fill, number, local, worker.step, worker.lines);
      continue;
    }
    if (access.reach != Reach::Patch || data_.isShared(access.label, own)) continue;
    const bool readsOld = static_cast<AccessMode>(access.mode) == AccessMode::ReadOld;
    const std::int64_t bytes =
        data_.layout(access.label, own).elements() * data_.labels().info(access.label).type.bytes();
    worker.lines.push_back({data_.data(readsOld ? Generation::Old : Generation::New, access.label, own),
                            PrefetchList::kLine, (bytes + PrefetchList::kLine - 1) / PrefetchList::kLine});
  }
}

}  // namespace tessera::detail
