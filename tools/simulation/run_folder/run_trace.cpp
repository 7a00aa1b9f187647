#include "tools/simulation/run_folder/run_trace.hpp"

#include <cstdio>
#include <sstream>

#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"

namespace tessera {
namespace {

/// Ranks of one machine have one monotonic clock.
Trace::Clock::time_point commonOrigin(Transport& transport) {
  transport.barrier();
  const Trace::Clock::time_point mine = Trace::Clock::now();
  std::string first = hostName() + " " + std::to_string(mine.time_since_epoch().count());
  transport.broadcast(first, 0);
  std::istringstream in(first);
  std::string host;
  Trace::Clock::rep count = 0;
  in >> host >> count;
  return host == hostName() ? Trace::Clock::time_point(Trace::Clock::duration(count)) : mine;
}

std::filesystem::path traceName(const std::filesystem::path& runFolder, int number) {
  char name[32] = "trace.json.gz";
  if (number > 0) std::snprintf(name, sizeof(name), "trace.%03d.json.gz", number);
  return runFolder / name;
}

}  // namespace

std::filesystem::path freeTraceName(const std::filesystem::path& runFolder) {
  int number = 0;
  while (std::filesystem::exists(std::filesystem::symlink_status(traceName(runFolder, number)))) ++number;
  return traceName(runFolder, number);
}

std::filesystem::path newestTrace(const std::filesystem::path& runFolder) {
  int number = 0;
  while (std::filesystem::exists(traceName(runFolder, number + 1))) ++number;
  return traceName(runFolder, number);
}

RunTrace::RunTrace(Transport& transport, int workers, bool edges)
    : transport_(transport),
      options_{transport.rank(), workers, edges},
      trace_(commonOrigin(transport), Trace::kUsualBudget,
             [this](const TraceRecords& records) { write(records); }) {}

std::filesystem::path RunTrace::partOf(int rank) const {
  return path_.string() + ".part-" + std::to_string(rank);
}

void RunTrace::open(const std::filesystem::path& file, const Simulation& simulation) {
  simulation_ = &simulation;
  path_ = file;
  together(transport_, [&] {
    std::error_code error;
    std::filesystem::remove(partOf(options_.rank), error);  // of a run that was killed
    file_.emplace(partOf(options_.rank), options_);
  });
}

void RunTrace::write(const TraceRecords& records) {
  if (!failure_.empty()) return;
  try {
    file_->write(records, simulation_->graphs());
  } catch (const OutputError& error) {
    failure_ = error.message();
  }
}

std::string RunTrace::finish() {
  trace_.flush();
  try {
    file_->close();
  } catch (const OutputError& error) {
    if (failure_.empty()) failure_ = error.message();
  }
  std::vector<std::filesystem::path> parts;
  std::string why;
  for (const std::string& failure : transport_.gather(failure_, 0)) {
    if (why.empty()) why = failure;
    parts.push_back(partOf(static_cast<int>(parts.size())));
  }
  if (options_.rank != 0 || !why.empty()) return why;
  try {
    joinTraces(parts, path_);
  } catch (const Error& error) {
    why = error.message();
  }
  return why;
}

}  // namespace tessera
