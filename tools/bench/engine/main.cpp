// What the task engine costs and saves, side by side with launches of kernels: tables of docs/engine.md.
//   tessera_engine_bench [threads|cuda] [SECTION...]   sections: trip feed made length memory physics count,
// or one of: hold (tasks for a minute), free (MiB of the GPU that are free)
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "scheduler/engine/kinds/matrix_product.hpp"
#include "scheduler/engine/kinds/molecular_dynamics.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "tools/bench/engine/allocation.hpp"
#include "tools/bench/engine/bench_program.hpp"
#include "tools/bench/engine/rates.hpp"

namespace tessera::engine {
namespace {

/// The forms that are measured, and which sections.
struct Bench {
  bool cuda = false;
  std::vector<std::string> sections;

  bool wants(const char* section) const {
    return sections.empty() || std::find(sections.begin(), sections.end(), section) != sections.end();
  }
  EngineOptions options(std::int64_t capacity = 65536) const {
    EngineOptions options{.form = cuda ? EngineForm::Cuda : EngineForm::Threads,
                          .capacity = capacity,
                          .memoryBytes = std::int64_t{256} << 20};
    if (!cuda) options.threads = 2;
    return options;
  }
};

void line(const char* what, double value, const char* unit) {
  std::printf("%-58s %12.3f %s\n", what, value, unit);
  std::fflush(stdout);
}

void trip(const Bench& bench) {
  if (bench.cuda) {
    line("launch and event, round trip", Launches::roundTripByEvent() * 1e6, "us");
    line("launch and stream wait, round trip", Launches::roundTripByStream() * 1e6, "us");
  }
  Engine engine(benchProgram(), bench.options());
  line("workers", engine.workers(), "");
  for (const char* kind : {"adder", "adder_warp"}) {
    roundTrip(engine, kind, 1000);
    line((std::string("engine, round trip of one ") + kind).c_str(), roundTrip(engine, kind, 20000) * 1e6,
         "us");
  }
}

void feed(const Bench& bench) {
  if (bench.cuda) {
    const std::int64_t count = 200'000;
    line("one launch a task, 1 stream", count / Launches::kernels(count, 1) * 1e-6, "M/s");
    line("one launch a task, 32 streams", count / Launches::kernels(count, 32) * 1e-6, "M/s");
    line("graphs of 1,000 independent nodes", count / Launches::graphs(count, 1000) * 1e-6, "M/s");
    line("one batched kernel, all tasks known before", 1e7 / Launches::batched(10'000'000) * 1e-6, "M/s");
  }
  for (const std::int64_t capacity : {1024, 4096, 65536}) {
    Engine engine(benchProgram(), bench.options(capacity));
    for (const char* kind : {"adder", "adder_warp"}) {
      const std::uint64_t count = bench.cuda ? 20'000'000 : 2'000'000;
      hostFed(engine, kind, count / 10);
      line((std::string("host-fed ") + kind + ", capacity " + std::to_string(capacity)).c_str(),
           static_cast<double>(count) / hostFed(engine, kind, count) * 1e-6, "M/s");
    }
  }
}

void made(const Bench& bench) {
  Engine engine(benchProgram(), bench.options());
  for (const char* kind : {"relay", "relay_warp"}) {
    for (const std::uint64_t chains : {4096, 32768}) {
      const std::uint64_t length = bench.cuda ? 4000 : 20;
      workerMade(engine, kind, chains, length / 10);
      line((std::string("made by tasks: ") + kind + ", " + std::to_string(chains) + " chains").c_str(),
           static_cast<double>(chains * length) / workerMade(engine, kind, chains, length) * 1e-6, "M/s");
    }
  }
}

void lengths(const Bench& bench) {
  for (const int warps : {2, 84, 1344, 0}) {
    EngineOptions options = bench.options();
    if (!bench.cuda && warps > 2) continue;
    if (bench.cuda && warps > 0) {
      options.blockThreads = warps == 2 ? 64 : 256;
      options.blocks[1] = warps == 2 ? 1 : (warps + 7) / 8;
    } else if (bench.cuda) {
      options.blocks[1] = 1;  // replaced below by all
      options.blocks[1] = Engine(benchProgram(), bench.options()).workers() / 8 - 8;
    }
    Engine engine(benchProgram(), options);
    const int workers = engine.workers();
    std::printf("%d workers, fed by a host thread:", workers);
    for (const std::uint64_t micros : {1, 2, 5, 10, 50, 200, 1000, 5000}) {
      const auto count = static_cast<std::uint64_t>(
          std::clamp(0.1 * workers / (static_cast<double>(micros) * 1e-6), 20.0 * workers, 2e6));
      std::printf("  %llu us %.1f %%", static_cast<unsigned long long>(micros),
                  100 * efficiency(engine, micros * 1000, count, workers));
      std::fflush(stdout);
    }
    std::printf("\n%d workers, fed by tasks:", workers);
    for (const std::uint64_t micros : {1, 2, 5, 10, 50, 200, 1000}) {
      const std::uint64_t length = std::clamp<std::uint64_t>(50'000 / micros, 10, 5000);
      std::printf("  %llu us %.1f %%", static_cast<unsigned long long>(micros),
                  100 * efficiencyOfChains(engine, micros * 1000, length, workers));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

void memory(const Bench& bench) {
  if (bench.cuda) line("cudaMalloc + cudaFree, 1 KiB", Launches::cudaMallocAndFree(1024) * 1e9, "ns");
  Engine engine(benchProgram(), bench.options());
  const auto begin = nowNanos();
  constexpr int kPairs = 1'000'000;
  void* held[16] = {};
  for (int n = 0; n < kPairs; ++n) {
    void*& block = held[n % 16];
    if (block != nullptr) engine.release(block);
    block = engine.allocate(1024);
  }
  line("host side, allocate + release, 1 KiB", static_cast<double>(nowNanos() - begin) / kPairs, "ns");
  for (void* block : held) engine.release(block);
  const std::uint64_t pairs = 200;
  for (const auto tasks : {1, engine.workers()}) {
    std::vector<AllocationLoop::Arguments> arguments(static_cast<std::size_t>(tasks), {pairs, 256});
    double nanos = 0.0;
    std::uint64_t faults = 0;
    for (const auto& ticket : engine.submitAll<AllocationLoop>(arguments)) {
      const auto outcome = engine.wait(ticket);
      nanos += static_cast<double>(outcome.result.nanos);
      faults += outcome.result.faults;
    }
    line(("by tasks, allocate + release, 256 B, " + std::to_string(tasks) + " tasks at once").c_str(),
         nanos / static_cast<double>(tasks) / static_cast<double>(pairs), "ns");
    if (faults != 0) line("  faults", static_cast<double>(faults), "");
  }
}

void physics(const Bench& bench) {
  EngineOptions options = bench.options();
  if (bench.cuda) options.workspaceBytes = 6 * 1024;
  Engine engine(shippedProgram(), options);
  for (const std::int64_t n : {32, 64, 128, 256}) {
    using Product = MatrixProduct<TaskWidth::Warp>;
    auto* block = static_cast<double*>(engine.allocate(3 * n * n * 8));
    std::vector<double> ones(static_cast<std::size_t>(2 * n * n), 0.5);
    engine.copyIn(block, ones.data(), 2 * n * n * 8);
    for (const char* kind : {"matrix_product", "matrix_product_block"}) {
      const Task task =
          taskOf<Product>(engine.program().numberOf(kind), {block, block + n * n, block + 2 * n * n, n});
      const auto count =
          static_cast<std::uint64_t>((bench.cuda ? 2e11 : 1e9) / static_cast<double>(2 * n * n * n));
      const double rate = tasksPerSecond(engine, task, std::clamp<std::uint64_t>(count, 50, 500'000));
      line((std::string(kind) + ", n = " + std::to_string(n)).c_str(), rate, "tasks/s");
    }
    engine.release(block);
  }
  using Md = MolecularDynamics<TaskWidth::Warp>;
  for (const char* kind : {"molecular_dynamics", "molecular_dynamics_block"}) {
    for (const std::uint32_t particles : {64, 500}) {
      const Task task = taskOf<Md>(engine.program().numberOf(kind), {nullptr, 1, particles, 100, 1e-4, 10.0});
      const double work = 1e2 * particles * particles;
      const auto count = static_cast<std::uint64_t>((bench.cuda ? 2e11 : 4e8) / work);
      line((std::string(kind) + ", " + std::to_string(particles) + " particles, 100 steps").c_str(),
           tasksPerSecond(engine, task, std::clamp<std::uint64_t>(count, 10, 100'000)), "tasks/s");
    }
  }
}

/// For tests of what becomes of an engine whose process is killed: tasks that go on for a minute.
void hold(const Bench& bench) {
  Engine engine(benchProgram(), bench.options());
  const std::vector<Spin::Arguments> minutes(8, {60'000'000'000, 0});
  for (const auto& ticket : engine.submitAll<Spin>(minutes)) engine.wait(ticket);
}

void freeMemory(const Bench&) { std::printf("%lld\n", static_cast<long long>(Launches::freeMiB())); }

void count(const Bench& bench) {
  Engine engine(benchProgram(), bench.options());
  const std::uint64_t tasks = bench.cuda || !bench.sections.empty() ? 100'000'000 : 1'000'000;
  line("tasks in one go, all results added up and right", static_cast<double>(tasks), "");
  line("  rate", static_cast<double>(tasks) / hostFed(engine, "adder", tasks) * 1e-6, "M/s");
}

int run(int argc, char** argv) {
  Bench bench;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "cuda") == 0) {
      bench.cuda = true;
    } else if (std::strcmp(argv[n], "threads") != 0) {
      bench.sections.emplace_back(argv[n]);
    }
  }
  const std::pair<const char*, void (*)(const Bench&)> onRequest[] = {{"hold", hold}, {"free", freeMemory}};
  for (const auto& [name, section] : onRequest) {
    if (bench.sections == std::vector<std::string>{name}) return section(bench), 0;
  }
  const std::pair<const char*, void (*)(const Bench&)> all[] = {
      {"trip", trip},     {"feed", feed},       {"made", made},  {"length", lengths},
      {"memory", memory}, {"physics", physics}, {"count", count}};
  for (const auto& [name, section] : all) {
    if (!bench.wants(name)) continue;
    std::printf("-- %s, %s\n", name, bench.cuda ? "cuda" : "2 threads");
    section(bench);
  }
  return 0;
}

}  // namespace
}  // namespace tessera::engine

int main(int argc, char** argv) {
  try {
    return tessera::engine::run(argc, argv);
  } catch (const tessera::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exitCode();
  }
}
