#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/transport/transport.hpp"
#include "scheduler/trace.hpp"
#include "scheduler/tracing/trace_file.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {

/// The trace of a run: each rank writes its part beside the file, rank 0 joins them in the end. What cannot
/// be written ends the trace, not the run. One object a rank; it outlives the simulation.
class RunTrace {
 public:
  /// Agrees on a common clock: exact between ranks of one machine; between machines to the time that a
  /// barrier takes. All ranks call it.
  RunTrace(Transport& transport, int workers, bool edges);

  Trace& trace() { return trace_; }
  /// Begins `file` with its parts beside it; before the first step. All ranks call it. Throws AgreedError
  /// where a part cannot be made.
  void open(const std::filesystem::path& file, const Simulation& simulation);
  /// After the last step; all ranks call it. On rank 0 the reason where there is no trace, else empty.
  std::string finish();

 private:
  std::filesystem::path partOf(int rank) const;
  void write(const TraceRecords& records);

  Transport& transport_;
  TraceFileOptions options_;
  Trace trace_;
  const Simulation* simulation_ = nullptr;
  std::filesystem::path path_;
  std::optional<TraceFile> file_;
  std::string failure_;
};

/// RUN/trace.json.gz, or trace.001.json.gz ... where that is taken.
std::filesystem::path freeTraceName(const std::filesystem::path& runFolder);
/// The newest of them; the first name where there is none.
std::filesystem::path newestTrace(const std::filesystem::path& runFolder);

}  // namespace tessera
