// Other runtimes on the same graph, where the build found them. Own code, only for comparison.
#include <algorithm>
#include <atomic>

#include "tools/bench/replay/stencil_case.hpp"

#if defined(TESSERA_HAVE_TBB)
#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif
#if defined(TESSERA_HAVE_OPENMP)
#include <omp.h>
#endif

namespace tessera::bench {
namespace {

#if defined(TESSERA_HAVE_TBB)
/// A graph of nodes that is made once and replayed.
class TbbFlowGraph : public StencilSystem {
  using Message = tbb::flow::continue_msg;
  using Node = tbb::flow::continue_node<Message>;

 public:
  TbbFlowGraph(const StencilCase& shape, StencilBody& body) : arena_(shape.threads) {
    arena_.execute([&] {
      graph_ = std::make_unique<tbb::flow::graph>();
      start_ = std::make_unique<tbb::flow::broadcast_node<Message>>(*graph_);
      for (int t = 0; t < shape.steps; ++t) {
        for (int i = 0; i < shape.width; ++i) {
          nodes_.push_back(std::make_unique<Node>(*graph_, [&body, t, i](const Message&) { body(t, i); }));
          if (t == 0) tbb::flow::make_edge(*start_, *nodes_.back());
          for (int j = std::max(0, i - 1); t > 0 && j <= std::min(shape.width - 1, i + 1); ++j) {
            tbb::flow::make_edge(*nodes_[static_cast<std::size_t>((t - 1) * shape.width + j)],
                                 *nodes_.back());
          }
        }
      }
    });
  }
  std::string name() const override { return "oneTBB flow graph"; }
  void replay() override {
    arena_.execute([&] {
      start_->try_put(Message());
      graph_->wait_for_all();
    });
  }

 private:
  tbb::task_arena arena_;
  std::unique_ptr<tbb::flow::graph> graph_;
  std::unique_ptr<tbb::flow::broadcast_node<Message>> start_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// Counters by hand, ready tasks given to a task group.
class TbbCounters : public StencilSystem {
 public:
  TbbCounters(const StencilCase& shape, StencilBody& body)
      : shape_(shape), body_(body), arena_(shape.threads), counts_(static_cast<std::size_t>(shape.tasks())) {}
  std::string name() const override { return "oneTBB task group, counters"; }
  void replay() override {
    arena_.execute([&] {
      for (int t = 0; t < shape_.steps; ++t) {
        for (int i = 0; i < shape_.width; ++i)
          count(t, i).store(1 + last(i) - first(i), std::memory_order_relaxed);
      }
      for (int i = 0; i < shape_.width; ++i) group_.run([this, i] { execute(0, i); });
      group_.wait();
    });
  }

 private:
  int first(int i) const { return std::max(0, i - 1); }
  int last(int i) const { return std::min(shape_.width - 1, i + 1); }
  std::atomic<int>& count(int t, int i) { return counts_[static_cast<std::size_t>(t * shape_.width + i)]; }
  void execute(int t, int i) {
    while (true) {
      body_(t, i);
      if (++t == shape_.steps) return;
      int next = -1;
      for (int j = first(i); j <= last(i); ++j) {
        if (count(t, j).fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (next < 0) {
          next = j;
        } else {
          group_.run([this, t, j] { execute(t, j); });
        }
      }
      if (next < 0) return;
      i = next;
    }
  }

  const StencilCase shape_;
  StencilBody& body_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  std::vector<std::atomic<int>> counts_;
};
#endif

#if defined(TESSERA_HAVE_OPENMP)
/// Tasks with dependences, made anew in each replay by one thread: OpenMP 4.5 keeps no graph.
class OpenMpDepend : public StencilSystem {
 public:
  OpenMpDepend(const StencilCase& shape, StencilBody& body) : shape_(shape), body_(body) {
    for (auto& row : marks_) row.assign(static_cast<std::size_t>(shape.width) + 2, 0);
  }
  std::string name() const override { return "OpenMP task depend"; }
  void replay() override {
    StencilBody& body = body_;
#pragma omp parallel num_threads(shape_.threads)
#pragma omp single
    for (int t = 0; t < shape_.steps; ++t) {
      [[maybe_unused]] char* out = marks_[t % 2].data() + 1;
      [[maybe_unused]] char* in = marks_[(t + 1) % 2].data() + 1;
      for (int i = 0; i < shape_.width; ++i) {
#pragma omp task firstprivate(t, i) shared(body) depend(in : in[i - 1], in[i], in[i + 1]) depend(out : out[i])
        body(t, i);
      }
    }
  }

 private:
  const StencilCase shape_;
  StencilBody& body_;
  std::vector<char> marks_[2];
};
#endif

}  // namespace

std::vector<std::unique_ptr<StencilSystem>> makePeers([[maybe_unused]] const StencilCase& shape,
                                                      [[maybe_unused]] StencilBody& body) {
  std::vector<std::unique_ptr<StencilSystem>> peers;
#if defined(TESSERA_HAVE_TBB)
  peers.push_back(std::make_unique<TbbFlowGraph>(shape, body));
  peers.push_back(std::make_unique<TbbCounters>(shape, body));
#endif
#if defined(TESSERA_HAVE_OPENMP)
  // With one thread libgomp takes seconds for more unfinished tasks than this.
  if (shape.threads > 1 || shape.steps <= 400) peers.push_back(std::make_unique<OpenMpDepend>(shape, body));
#endif
  return peers;
}

}  // namespace tessera::bench
