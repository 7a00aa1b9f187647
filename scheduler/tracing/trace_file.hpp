#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// Whose trace it is, and how much of it.
struct TraceFileOptions {
  int rank = 0;
  int workers = 1;
  bool edges = false;  ///< also an arrow for each edge of the graph: several for each node
};

/// One rank's part of a trace as Chrome trace events, compressed: what `joinTraces` makes a file of. The rank
/// is a process with a thread for each worker, lanes for messages, reductions and the streams of devices, and
/// a counter of memory; an arrow leads from each send to its receive. docs/user/tracing.md describes the
/// events. One thread at a time.
class TraceFile {
 public:
  /// Makes the file; it must not be there. Throws OutputError.
  TraceFile(const std::filesystem::path& part, const TraceFileOptions& options);
  ~TraceFile();

  /// Appends `records` of runs of `graphs`. Throws OutputError.
  void write(const TraceRecords& records, const CompiledGraphs& graphs);
  /// Nothing can be written afterwards. Throws OutputError where the disk is full.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Joins the parts of all ranks to one gzip file in the Chrome trace-event format, which takes the place of
/// `file` as a whole, and removes them. Throws OutputError.
void joinTraces(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& file);

}  // namespace tessera
