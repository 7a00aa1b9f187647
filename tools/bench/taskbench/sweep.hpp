#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/replay/replay_system.hpp"
#include "tools/bench/taskbench/metg.hpp"
#include "tools/bench/taskbench/pattern.hpp"
#include "tools/bench/taskbench/task_body.hpp"

namespace tessera::bench {

/// What is measured: one pattern on one number of threads.
struct SweepRequest {
  Pattern pattern;
  Kernel kernel;
  /// Tasks of these iterations, one length after the other. With a 0 among them `SweepResult::empty` is told.
  std::vector<std::int64_t> lengths;
  int threads = 2;
  int sweeps = 5;      ///< how often all lengths are measured, in turn
  bool check = false;  ///< every task verifies its inputs
  bool peers = false;  ///< other runtimes take turns with Tessera
};

/// longest, longest / 2, ..., 1, 0
std::vector<std::int64_t> halvedDownFrom(std::int64_t longest);

/// Of one system.
struct SweepResult {
  std::string system;
  std::int64_t tasks = 0;
  std::int64_t edges = 0;
  std::vector<ReplayTime> best;    ///< by length: the least wall and the least CPU seconds of a replay
  std::vector<ReplayTime> median;  ///< by length, over the sweeps
  ReplayTime empty;                ///< best of the tasks without iterations
  std::vector<std::vector<SweepPoint>> sweeps;  ///< by sweep, then by length
};

/// The greatest rate of all points: what systems and patterns on as many threads are held against.
double peakOf(std::span<const SweepResult> results);
MetgSpread metgOf(const SweepResult& result, double peak);

/// Tessera first. Throws InternalError where a check finds a fault, UsageError where the request makes no
/// sense. `makePeersOf` as `makePeers`; a build without peers hands in one that makes none.
using PeerMaker = std::vector<std::unique_ptr<ReplaySystem>> (*)(const ReplayGraph&, TaskCall, int);
std::vector<SweepResult> runSweeps(const SweepRequest& request, PeerMaker makePeersOf);

}  // namespace tessera::bench
