#include "tests/scheduler/engine/engine_rig.hpp"

#include <cstdlib>

namespace tessera::engine::testing {

std::vector<EngineOptions> forms() {
  std::vector<EngineOptions> list;
  for (const std::int32_t threads : {1, 3}) {
    list.push_back({.form = EngineForm::Threads, .threads = threads, .capacity = 64, .memoryBytes = 1 << 20});
  }
  list.push_back({.form = EngineForm::Stepped, .capacity = 64, .memoryBytes = 1 << 20});
  if (std::getenv("TESSERA_ENGINE_TEST_CUDA") != nullptr) {
    list.push_back({.form = EngineForm::Cuda, .capacity = 64, .memoryBytes = 1 << 22, .multiprocessors = 4});
  }
  return list;
}

std::vector<std::unique_ptr<Engine>> severalEngines() {
  std::vector<EngineOptions> list;
  for (int n = 0; n < 3; ++n)
    list.push_back({.form = EngineForm::Stepped, .capacity = 64, .memoryBytes = 1 << 20});
  for (int n = 0; n < 2; ++n)
    list.push_back({.form = EngineForm::Threads, .threads = 1, .capacity = 64, .memoryBytes = 1 << 20});
  const char* const gpus = std::getenv("TESSERA_ENGINE_TEST_CUDA");
  for (int n = 0; gpus != nullptr && n < 2 * std::atoi(gpus); ++n) {
    list.push_back({.form = EngineForm::Cuda,
                    .capacity = 64,
                    .memoryBytes = 1 << 22,
                    .device = n / 2,
                    .multiprocessors = 4});
  }
  std::vector<std::unique_ptr<Engine>> engines;
  for (const EngineOptions& options : list)
    engines.push_back(std::make_unique<Engine>(shippedProgram(), options));
  return engines;
}

std::string formName(const EngineOptions& options) {
  switch (options.form) {
    case EngineForm::Threads:
      return std::to_string(options.threads) + " threads";
    case EngineForm::Stepped:
      return "stepped";
    case EngineForm::Cuda:
      return "cuda";
  }
  return "";
}

bool addersComeBack(Engine& engine, std::uint16_t kind, std::uint64_t count) {
  std::vector<bool> seen(count, false);
  std::uint64_t pushed = 0;
  std::uint64_t polled = 0;
  Task tasks[100];
  std::uint64_t tags[100];
  Finished finished[70];
  while (polled < count) {
    const std::uint64_t part = std::min<std::uint64_t>(100, count - pushed);
    for (std::uint64_t n = 0; n < part; ++n) {
      tags[n] = pushed + n;
      tasks[n] = taskOf<LaneAdder>(kind, {static_cast<std::int64_t>(tags[n]), 1000});
    }
    pushed += static_cast<std::uint64_t>(engine.push({tasks, part}, {tags, part}));
    const std::int64_t got = engine.poll(finished);
    for (std::int64_t n = 0; n < got; ++n) {
      const Finished& end = finished[n];
      if (end.tag >= count || seen[end.tag] || end.status != TaskStatus::Done ||
          end.result[0] != end.tag + 1000)
        return false;
      seen[end.tag] = true;
    }
    polled += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace tessera::engine::testing
