#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "datawarehouse/archive/field_writer.hpp"
#include "tools/simulation/job_totals.hpp"
#include "tools/simulation/output/analysis_rows.hpp"
#include "tools/simulation/output/plane_files.hpp"
#include "tools/simulation/progress.hpp"
#include "tools/simulation/run_folder/history.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/simulation/run_folder/run_log.hpp"
#include "tools/simulation/run_folder/run_result.hpp"
#include "tools/simulation/simulation.hpp"
#include "tools/simulation/watch/stop_requests.hpp"

namespace tessera {

/// Where and how to record.
struct RecorderOptions {
  std::filesystem::path runFolder;    ///< the same on every rank
  const RunFolder* folder = nullptr;  ///< on rank 0 only; outlives the recorder
  ScreenMode screen = ScreenMode::Text;
  std::string deckSha256;
  Trace* trace = nullptr;              ///< also records when something is written
  std::vector<std::string> devices{};  ///< of all ranks, each as a JSON object, for the result
  /// Of the process that wrote the checkpoint, on a restart: what was due then belongs to the run.
  std::optional<RunSettings> earlier{};
};

/// Writes what a run leaves: history, fields, checkpoints, log, the lines on the screen, and in the end
/// result.json; and stops it when asked to. Fields or log lines that cannot be written are a warning, the run
/// goes on; a checkpoint that cannot be written is one as well, unless the deck says on_failure = "stop". One
/// object a rank.
class Recorder final : public RunListener {
 public:
  Recorder(const Simulation& simulation, StopRequests& stops, RecorderOptions options);

  /// The first line on the screen, and the first event of the log.
  void announce(const std::string& text, std::initializer_list<LogField> fields);

  /// On the screen, in the log and in the result.
  void warn(const std::string& text);

  std::vector<double> control() override;
  bool began(Simulation& simulation, bool restored, std::span<const double> control) override;
  bool stepped(Simulation& simulation, std::span<const double> control) override;
  void warned(const std::string& text) override;
  void retaken(const StepRetry& retry) override;
  void finished(Simulation& simulation) override;
  void regridded(Simulation& simulation, double seconds) override;
  void rebalanced(Simulation& simulation, const BalanceLook& look, double seconds) override;
  void stoppedByMesh(Simulation& simulation, const std::string& cause) override;
  void brokenOff(Simulation& simulation) override { finishHistory(simulation); }

  /// Something else that the run should have left could not be written, `what` of it for `why`: a warning,
  /// and exit code 5 in the end. Before `close`.
  void lost(const std::string& what, const std::string& why);
  /// After the run: the summary on the screen and result.json. Returns the exit code, the same on every rank.
  int close(Simulation& simulation);

 private:
  using Clock = std::chrono::steady_clock;

  void openHistory(const Simulation& simulation);
  /// Cuts off what an earlier process wrote after the checkpoint, so that the run reads as if unbroken.
  void takeUpAgain(const Simulation& simulation);
  static bool fieldsDue(const OutputSettings& output, const TimeControl& clock);
  /// Writes what is due at this state; `always`: also what is not, as at the start and at the end.
  void recordState(Simulation& simulation, bool always);
  /// Begins the line of this state; its numbers may come while the next steps are taken.
  void recordHistory(Simulation& simulation);
  /// Writes the line that was begun, if any; waits for its numbers.
  void finishHistory(Simulation& simulation);
  /// Keeps what the screen shows of a line of the history.
  void watch(const Simulation& simulation, std::span<const double> values);
  void recordFields(Simulation& simulation);
  void recordPlanes(Simulation& simulation, bool always);
  bool recordCheckpoint(Simulation& simulation);
  /// What the files of the run are now, for whoever looks later whether they still are.
  void recordSums();
  /// Ends the run where a number of [analysis] has passed its limit, as at the deck's own end.
  bool endAtLimit(Simulation& simulation);
  bool stopIfAsked(Simulation& simulation, StopReason reason);
  bool checkpointDue(const Simulation& simulation, std::span<const double> control) const;
  StopReason agreedStop(const Simulation& simulation);
  /// A fixed step that the components call unstable: said once.
  void warnOfLongStep(const Simulation& simulation);
  void warnOfLostLines();
  void event(std::string_view name, std::initializer_list<LogField> fields);
  /// All ranks call both.
  ProgressSample sample(const Simulation& simulation) const;
  RunResult resultOf(Simulation& simulation);
  void judge();
  void printSummary(const RunResult& result);

  RecorderOptions options_;
  FolderHandle place_;  ///< the run folder, wherever it is moved
  StopRequests& stops_;
  std::vector<LabelId> fields_;
  CheckpointWriter checkpoints_;
  FieldWriter fieldFiles_;
  PlaneFiles planes_;
  Progress progress_;
  std::optional<RunLog> log_;         ///< rank 0
  std::optional<History> history_;    ///< rank 0
  std::optional<AnalysisRows> rows_;  ///< rank 0, where [analysis] writes a file of its own
  std::size_t rowColumns_ = 0;        ///< of a line, the last ones, which go there
  std::optional<History> costs_;      ///< rank 0: statistics.csv
  /// A line of both, of which reductions may be under way.
  struct Line {
    std::int64_t step = 0;
    double time = 0.0;
    double dt = 0.0;
    double wallSeconds = 0.0;  ///< since the line before
    RunningSums sums;
  };
  Line line_;
  bool lineBegun_ = false;
  JobTotals costsBefore_;  ///< at the last line of it
  Clock::time_point costsAt_;
  double outputSeconds_ = 0.0;
  RunOutcome outcome_;
  std::string endKey_;        ///< of the deck, that ended the run
  std::string limitReached_;  ///< why [analysis] ends the run
  std::vector<WatchedNumber> watched_;
  std::vector<std::string> warnings_;
  std::vector<std::string> lost_;  ///< of what `lost` was told
  std::string newestCheckpoint_;
  std::int64_t firstStep_ = 0;
  bool longStepSaid_ = false;
  bool untouched_ = false;       ///< restored, and no step taken since
  bool firstFieldsDue_ = true;   ///< whether the checkpoint's state is one that is written for viewing
  bool firstHistoryDue_ = true;  ///< and one that has a line of the history
  std::int64_t lastHistory_ = -1;
  std::int64_t lastFields_ = -1;
  std::int64_t lastCheckpoint_ = -1;
  std::int64_t fieldsWritten_ = 0;
  std::int64_t fieldsFailed_ = 0;
  bool checkpointFailed_ = false;  ///< the last attempt
  std::int64_t checkpointsWritten_ = 0;
  Clock::time_point start_;
  Clock::time_point lastStepEnd_;
  Clock::time_point lastCheckpointEnd_;
};

}  // namespace tessera
