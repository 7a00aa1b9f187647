#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "core/deck/schema.hpp"
#include "datawarehouse/archive/compare.hpp"
#include "taskgraph/dump/graph_dump.hpp"
#include "tools/simulation/progress.hpp"
#include "tools/simulation/simulation.hpp"
#include "tools/simulation/watch/stop_requests.hpp"
#include "tools/tessera/device_choice.hpp"

namespace tessera {

/// The largest tag of a message that MPICH takes, for graphs that are compiled without starting MPI.
inline constexpr std::int64_t kTagBound = (std::int64_t{1} << 28) - 1;

// What the command line asks for, one struct a command. The functions print on standard output and return the
// exit code; errors are exceptions.

struct RunRequest {
  bool restart = false;
  std::filesystem::path target;        ///< the deck, or the run folder of a restart
  std::vector<std::string> overrides;  ///< of --set
  std::optional<std::filesystem::path> out;
  std::int64_t fromStep = -1;  ///< of a restart; -1: the newest checkpoint
  std::optional<int> ranks;    ///< of the virtual executor; else the launcher's
  int threads = 0;             ///< 0: all cores of this machine, shared by its ranks
  ExecutorKind executor = ExecutorKind::Threads;
  std::uint64_t seed = 0;  ///< of the virtual executor
  DeviceChoice devices;
  EmulatedOptions emulated;  ///< what emulated devices are like
  HaloKeeping halos = HaloKeeping::Auto;
  bool bind = true;  ///< workers to cores, where they fill all of them
  bool checked = false;
  double stallSeconds = 300.0;  ///< 0: no watchdog
  SendLimit sends{};            ///< messages and bytes on their way
  std::optional<double> wallSeconds;
  ScreenMode screen = ScreenMode::Text;
  bool trace = false;
  std::filesystem::path traceFile;  ///< empty: trace.json.gz in the run folder
  bool traceEdges = false;
  std::vector<std::string> commandLine;
};

/// How a command shows what it found.
enum class TableFormat { Text, Json };

struct CheckRequest {
  std::filesystem::path deck;
  std::vector<std::string> overrides;
  bool deep = false;
  int ranks = 1;
  TableFormat format = TableFormat::Text;
};

struct GraphRequest {
  std::filesystem::path deck;
  std::vector<std::string> overrides;
  std::filesystem::path mesh;  ///< a checkpoint of the run; empty: the mesh that the deck says
  std::string plan = "step";
  int ranks = 1;
  int rank = 0;
  GraphFormat format = GraphFormat::Text;
  bool unfolded = false;
  DeviceChoice devices;  ///< where it names some: also where the nodes would run
};

struct CompareRequest {
  std::filesystem::path a;
  std::filesystem::path b;
  CompareTolerance tolerance;
  std::vector<std::string> fields;  ///< empty: all
  TableFormat format = TableFormat::Text;
};

struct InfoRequest {
  std::filesystem::path target;
  bool verify = false;                     ///< read all that a run has left, and compare checksums
  TableFormat format = TableFormat::Text;  ///< Json only with `verify`
};

struct TraceRequest {
  std::filesystem::path target;  ///< a trace, or a run folder with one
  std::int64_t step = -1;        ///< only this step; -1: all
  TableFormat format = TableFormat::Text;
};

/// `tessera run` and `tessera restart`: starts MPI, and ends the job where a rank fails.
int runCommand(const RunRequest& request, const ComponentRegistry& registry);
/// Compiles from the point of view of one rank and prints one plan; needs no MPI.
int graphCommand(const GraphRequest& request, const ComponentRegistry& registry);
int checkCommand(const CheckRequest& request, const ComponentRegistry& registry);
int describeCommand(const std::string& component, DescribeFormat format, const ComponentRegistry& registry);
int listCommand(const ComponentRegistry& registry, TableFormat format);
int infoCommand(const InfoRequest& request);
int traceSummaryCommand(const TraceRequest& request);
/// 0 equal, 1 different.
int compareCommand(const CompareRequest& request);

/// "tessera: error: ..." on standard error. What is wrong with a deck has its place in front already, and
/// stays as it is: editors read it.
void printError(const Error& error);

/// Runs `mpiexec.mpich -n ranks` with the same command line, passes signals on to the ranks, and returns the
/// exit code of the job; 6, after saying so, where a rank was killed or crashed. Returns nothing where there
/// is nothing to do: one rank, or started by an mpiexec already. Throws UsageError where that mpiexec started
/// another number of ranks.
std::optional<int> launchRanks(int ranks, char** argv);
/// Whether some launcher, of whatever MPI or batch system, may have started this process as one of several.
bool startedByLauncher();
/// This rank's number as the launcher tells it, before MPI is started; 0 without a launcher.
int rankOfLauncher();

}  // namespace tessera
