// tessera_lane_bench: what a lane costs the host, on a device that does nothing. The dependence patterns of
// Task Bench, and a step of patches as simulations have it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/text/error.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "tools/bench/device/null_device.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/taskbench/pattern_graph.hpp"

namespace tessera::bench {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Nothing : LaneClient {
  void launch(std::int32_t, std::span<const std::int32_t>, std::span<const DeviceStream>) override {}
};

LanePlan planOf(const Pattern& pattern) {
  const ReplayGraph graph = graphOf(pattern);
  LanePlan plan;
  for (std::int32_t n = 0; n < graph.tasks(); ++n) {
    plan.tasks.push_back({graph.places[static_cast<std::size_t>(n)].step % 2, 1, false});
    for (const std::int32_t next : graph.successors.of(n)) plan.edges.emplace_back(n, next);
  }
  return plan;
}

/// A cube of patches, each with a fill that waits for its six neighbours' advance of the stage before, an
/// advance that waits for its fill, and a reduction of the last stage that the host waits for.
LanePlan patchesPlan(std::int32_t side, std::int32_t stages) {
  LanePlan plan;
  const std::int32_t count = side * side * side;
  const auto at = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    const auto wrap = [&](std::int32_t n) { return (n + side) % side; };
    return wrap(x) + side * (wrap(y) + side * wrap(z));
  };
  const auto addKind = [&](std::int32_t kind, bool reports) {
    for (std::int32_t n = 0; n < count; ++n) plan.tasks.push_back({kind, 1, reports});
    return static_cast<std::int32_t>(plan.tasks.size()) - count;
  };
  std::int32_t before = -1;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    const std::int32_t fills = addKind(2 * stage, false);
    const std::int32_t advances = addKind(2 * stage + 1, false);
    for (std::int32_t n = 0; n < count; ++n) {
      const std::int32_t x = n % side;
      const std::int32_t y = n / side % side;
      const std::int32_t z = n / side / side;
      const std::int32_t around[] = {n,
                                     at(x - 1, y, z),
                                     at(x + 1, y, z),
                                     at(x, y - 1, z),
                                     at(x, y + 1, z),
                                     at(x, y, z - 1),
                                     at(x, y, z + 1)};
      for (const std::int32_t other : around) {
        if (before >= 0) plan.edges.emplace_back(before + other, fills + n);
      }
      plan.edges.emplace_back(fills + n, advances + n);
    }
    before = advances;
  }
  const std::int32_t last = addKind(2 * stages, true);
  for (std::int32_t n = 0; n < count; ++n) plan.edges.emplace_back(before + n, last + n);
  return plan;
}

void measure(const std::string& name, const LanePlan& plan, const LaneOptions& options, int steps,
             const FigureLines& lines) {
  NullDevice device;
  Nothing client;
  DeviceLane lane(device, options);
  const auto work = lane.prepare(plan);
  const auto count = static_cast<std::int32_t>(plan.tasks.size());
  const auto reports =
      std::count_if(plan.tasks.begin(), plan.tasks.end(), [](const LaneTask& task) { return task.reports; });
  double best = 1e30;
  LaneCounts counts;
  for (int step = 0; step < steps; ++step) {
    const LaneCounts before = lane.counts();
    const double begin = seconds();
    lane.begin(*work, client);
    lane.submit(0, count);
    for (std::int64_t ended = 0; ended < reports || !lane.allLaunched();)
      lane.serve([&](std::int32_t) { ++ended; });
    best = std::min(best, seconds() - begin);
    counts = {count, lane.counts().launches - before.launches, lane.counts().records - before.records,
              lane.counts().waits - before.waits};
  }
  std::fprintf(lines.table(),
               "%-14s %8.1f ns a task, %9.1f us a step of %6d tasks: %lld launches, %lld "
               "records, %lld waits\n",
               name.c_str(), best / count * 1e9, best * 1e6, count, static_cast<long long>(counts.launches),
               static_cast<long long>(counts.records), static_cast<long long>(counts.waits));
  lines.add("lane_" + name, best / count * 1e9, "ns_a_task");
}

int run(int argc, char** argv) {
  std::vector<std::string> types{"trivial", "stencil_1d", "nearest",    "spread",
                                 "fft",     "tree",       "all_to_all", "patches"};
  Pattern pattern;
  pattern.width = 128;
  pattern.steps = 100;
  LaneOptions options;
  int steps = 60;
  bool asLines = false;
  CLI::App app{"What a lane costs the host"};
  app.add_option("--type", types, "patterns; patches: 8^3 of them, two stages")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--width", pattern.width, "tasks of a row")->capture_default_str();
  app.add_option("--steps", pattern.steps, "rows")->capture_default_str();
  app.add_option("--repeats", steps, "the best counts")->capture_default_str();
  app.add_option("--streams", options.streams, "of the lane")->capture_default_str();
  app.add_option("--batch", options.largestBatch, "tasks of a launch")->capture_default_str();
  app.add_flag("--lines", asLines, "one figure a line, for programs");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& type : types) {
    if (type == "patches") {
      measure(type, patchesPlan(8, 2), options, steps, FigureLines(asLines));
      continue;
    }
    pattern.kind = patternOf(type);
    expectValid(pattern);
    measure(type, planOf(pattern), options, steps, FigureLines(asLines));
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_lane_bench", tessera::bench::run, argc, argv);
}
