#include "tools/bench/taskbench/sweep.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "tools/bench/taskbench/pattern_graph.hpp"

namespace tessera::bench {
namespace {

// A point is the best of several batches of replays, as long as these are short: one that was interrupted
// says nothing. A batch is long enough for the clock of CPU time, which some machines advance in ticks.
constexpr int kBatches = 4;
constexpr double kBatchSeconds = 0.002;
constexpr double kPointSeconds = 0.02;

/// All systems on one graph, and what they have been measured to do.
class Sweeps {
 public:
  Sweeps(const SweepRequest& request, PeerMaker makePeersOf)
      : request_(request), graph_(graphOf(request.pattern)), body_(graph_, request.kernel, request.check) {
    systems_.push_back(makeTessera(graph_, body_.call(), request.threads));
    if (request.peers) {
      for (auto& peer : makePeersOf(graph_, body_.call(), request.threads))
        systems_.push_back(std::move(peer));
    }
    times_.resize(systems_.size());
    points_.resize(systems_.size());
  }

  void runOne() {
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      times_[s].emplace_back();
      points_[s].emplace_back();
    }
    for (const std::int64_t length : request_.lengths) {
      body_.setIterations(length);
      for (std::size_t s = 0; s < systems_.size(); ++s) {
        const ReplayTime time = measure(*systems_[s]);
        times_[s].back().push_back(time);
        points_[s].back().push_back(
            {time.wall * request_.threads / static_cast<double>(graph_.tasks()), body_.work() / time.wall});
      }
    }
  }

  std::vector<SweepResult> results() const {
    std::vector<SweepResult> all;
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      SweepResult result;
      result.system = systems_[s]->name();
      result.tasks = graph_.tasks();
      result.edges = std::ssize(graph_.successors.numbers);
      for (std::size_t l = 0; l < request_.lengths.size(); ++l) {
        std::vector<double> wall;
        std::vector<double> cpu;
        for (const auto& sweep : times_[s]) {
          wall.push_back(sweep[l].wall);
          cpu.push_back(sweep[l].cpu);
        }
        std::sort(wall.begin(), wall.end());
        std::sort(cpu.begin(), cpu.end());
        result.best.push_back({wall.front(), cpu.front()});
        result.median.push_back({wall[wall.size() / 2], cpu[cpu.size() / 2]});
        if (request_.lengths[l] == 0) result.empty = result.best.back();
      }
      result.sweeps = points_[s];
      all.push_back(std::move(result));
    }
    return all;
  }

 private:
  ReplayTime measure(ReplaySystem& system) {
    if (systems_.size() > 1) letOthersRest();
    ReplayTime best = replay(system);
    const int batch = request_.check ? 1 : 1 + static_cast<int>(kBatchSeconds / best.wall);
    double spent = best.wall;
    if (batch > 1) best = {1e30, 1e30};
    for (int n = 0; n < kBatches && spent < kPointSeconds; ++n) {
      ReplayTime sum;
      for (int k = 0; k < batch; ++k) {
        const ReplayTime time = replay(system);
        sum = {sum.wall + time.wall, sum.cpu + time.cpu};
      }
      spent += sum.wall;
      best = {std::min(best.wall, sum.wall / batch), std::min(best.cpu, sum.cpu / batch)};
    }
    return best;
  }

  ReplayTime replay(ReplaySystem& system) {
    if (request_.check) body_.reset();
    const ReplayTime time = timeReplay(system);
    const std::string fault = body_.fault();
    if (fault.empty()) return time;
    throw InternalError(system.name() + ", " + std::string(nameOf(request_.pattern.kind)) + ": " + fault);
  }

  const SweepRequest& request_;
  const ReplayGraph graph_;
  TaskBody body_;
  std::vector<std::unique_ptr<ReplaySystem>> systems_;
  std::vector<std::vector<std::vector<ReplayTime>>> times_;   ///< by system, sweep and length
  std::vector<std::vector<std::vector<SweepPoint>>> points_;  ///< likewise
};

}  // namespace

std::vector<std::int64_t> halvedDownFrom(std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = longest; length > 0; length /= 2) lengths.push_back(length);
  lengths.push_back(0);
  return lengths;
}

double peakOf(std::span<const SweepResult> results) {
  double peak = 0.0;
  for (const SweepResult& result : results) {
    for (const auto& sweep : result.sweeps) {
      for (const SweepPoint& point : sweep) peak = std::max(peak, point.rate);
    }
  }
  return peak;
}

MetgSpread metgOf(const SweepResult& result, double peak) {
  std::vector<Metg> metgs;
  for (const auto& sweep : result.sweeps) metgs.push_back(metgOf(sweep, peak));
  return spreadOf(std::move(metgs));
}

std::vector<SweepResult> runSweeps(const SweepRequest& request, PeerMaker makePeersOf) {
  expectValid(request.pattern);
  expectValid(request.kernel);
  Sweeps sweeps(request, makePeersOf);
  for (int n = 0; n < request.sweeps; ++n) sweeps.runOne();
  return sweeps.results();
}

}  // namespace tessera::bench
