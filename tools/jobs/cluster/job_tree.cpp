#include "tools/jobs/cluster/job_tree.hpp"

#include <algorithm>
#include <utility>

#include "tools/jobs/cluster/octree.hpp"

namespace tessera::jobs {
namespace {

constexpr const char* kPassNames[] = {"tree_keys", "tree_merge", "tree_gather", "tree_count",
                                      "tree_scan", "tree_cells", "tree_moments"};

}  // namespace

JobTree::JobTree(std::int64_t points, std::int32_t leaf, Run run)
    : StarTree(points),
      count_(points),
      run_(std::move(run)),
      list_("list", {points, 1, 1}),
      keysA_("keys", {points, 1, 1}),
      keysB_("keys beside", {points, 1, 1}),
      countsA_("counts", {points, 1, 1}),
      countsB_("counts beside", {points, 1, 1}) {
  body_.leaf = leaf;
  body_.pointCount = points;
}

void JobTree::run(TreePass pass, DomainBase& written,
                  const std::function<void(TreeBuildBody&, const TaskData&)>& bind,
                  std::initializer_list<const DomainBase*> read) {
  body_.pass = pass;
  Job job(kPassNames[static_cast<std::size_t>(pass)], written.box().extent());
  for (const DomainBase* domain : read) job.reads(*domain);
  pass == TreePass::Moments ? job.readsAndWrites(written) : job.writes(written);
  // The units of other tasks read what lies behind a cell: the pass is one task.
  const std::int64_t units = written.box().hi.i;
  job.cutAlong(0, pass == TreePass::Moments ? units : std::max<std::int64_t>(1, units / 64));
  job.form(pass == TreePass::Moments ? JobForm::Consumer : JobForm::Regular);
  job.runs<TreeBuildBody>(treeBuildKernels(), [&](const TaskData& task) {
    TreeBuildBody body = body_;
    bind(body, task);
    return body;
  });
  run_(job);
}

void JobTree::sort() {
  run(TreePass::Keys, *keys_,
      [this](TreeBuildBody& body, const TaskData& task) {
        body.points = task.read(list_);
        body.newKeys = task.write(*keys_);
      },
      {&list_});
  for (body_.distance = 1; body_.distance < count_; body_.distance *= 2) {
    run(TreePass::Merge, *otherKeys_,
        [this](TreeBuildBody& body, const TaskData& task) {
          body.keys = task.read(*keys_);
          body.newKeys = task.write(*otherKeys_);
        },
        {keys_});
    std::swap(keys_, otherKeys_);
  }
  run(TreePass::Gather, points(),
      [this](TreeBuildBody& body, const TaskData& task) {
        body.points = task.read(list_);
        body.keys = task.read(*keys_);
        body.newPoints = task.write(points());
      },
      {&list_, keys_});
}

void JobTree::countCells() {
  run(TreePass::Count, *counts_,
      [this](TreeBuildBody& body, const TaskData& task) {
        body.keys = task.read(*keys_);
        body.newCounts = task.write(*counts_);
      },
      {keys_});
  for (body_.distance = 1; body_.distance < count_; body_.distance *= 2) {
    run(TreePass::Scan, *otherCounts_,
        [this](TreeBuildBody& body, const TaskData& task) {
          body.counts = task.read(*counts_);
          body.newCounts = task.write(*otherCounts_);
        },
        {counts_});
    std::swap(counts_, otherCounts_);
  }
  body_.cellCount = (*counts_)({count_ - 1, 0, 0});
  setCellCount(body_.cellCount);
}

void JobTree::build(std::span<const MassPoint> list) {
  std::ranges::copy(list, list_.change().begin());
  body_.root = rootOf(list);
  sort();
  countCells();
  run(TreePass::Cells, cells(),
      [this](TreeBuildBody& body, const TaskData& task) {
        body.keys = task.read(*keys_);
        body.counts = task.read(*counts_);
        body.cells = task.write(cells());
      },
      {keys_, counts_});
  run(TreePass::Moments, cells(),
      [this](TreeBuildBody& body, const TaskData& task) {
        body.points = task.read(points());
        body.cells = task.write(cells());
      },
      {&points()});
}

}  // namespace tessera::jobs
