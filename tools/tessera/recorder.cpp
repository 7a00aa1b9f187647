#include "tools/tessera/recorder.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "taskgraph/memory_plan.hpp"
#include "tools/tessera/agreement.hpp"
#include "tools/tessera/forced_end.hpp"
#include "tools/tessera/run_checkpoints.hpp"
#include "tools/tessera/run_fields.hpp"

namespace tessera {
namespace {

constexpr std::size_t kStop = 0;
constexpr std::size_t kSinceCheckpoint = 1;
constexpr int kExitStopped = 75;
constexpr int kExitCannotWrite = 5;

StopReason reasonOf(double number) { return static_cast<StopReason>(static_cast<int>(number)); }

FieldWriter::Options fieldOptions(const Simulation& simulation, const RecorderOptions& options) {
  FieldWriter::Options o;
  o.folder = options.runFolder / "out";
  o.precision = simulation.model().settings().output.doublePrecision ? FieldPrecision::Float64
                                                                     : FieldPrecision::Float32;
  return o;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Recorder::Recorder(const Simulation& simulation, StopRequests& stops, RecorderOptions options)
    : options_(std::move(options)),
      stops_(stops),
      fields_(simulation.model().outputLabels()),
      checkpoints_(simulation.transport(), {.folder = options_.runFolder / "checkpoints",
                                            .keep = simulation.model().settings().checkpoint.keep}),
      fieldFiles_(simulation.transport(), fieldOptions(simulation, options_)),
      progress_(options_.folder != nullptr ? options_.screen : ScreenMode::Quiet),
      start_(Clock::now()),
      lastStepEnd_(start_),
      lastCheckpointEnd_(start_) {
  if (options_.folder == nullptr) return;
  stops_.watch(options_.folder->files());
  log_.emplace(options_.folder->files());
}

void Recorder::announce(const std::string& text, std::initializer_list<LogField> fields) {
  progress_.note(text);
  event("start", fields);
}

std::vector<double> Recorder::control() {
  std::vector<double> control(2, 0.0);
  control[kStop] = static_cast<double>(stops_.look());
  if (options_.folder != nullptr) control[kSinceCheckpoint] = secondsSince(lastCheckpointEnd_);
  return control;
}

bool Recorder::checkpointDue(const Simulation& simulation, std::span<const double> control) const {
  const CheckpointSettings& settings = simulation.model().settings().checkpoint;
  if (simulation.clock().dueEverySteps(settings.everySteps)) return true;
  return settings.everySeconds > 0.0 && control[kSinceCheckpoint] >= settings.everySeconds;
}

StopReason Recorder::agreedStop(const Simulation& simulation) {
  return reasonOf(largestOf(simulation.transport(), static_cast<double>(stops_.look())));
}

bool Recorder::began(Simulation& simulation, bool restored, std::span<const double> control) {
  firstStep_ = simulation.clock().step();
  if (restored) {
    // Nothing is touched before a step is taken: a restart that takes none leaves all as it was.
    untouched_ = true;
    firstFieldsDue_ = fieldsDue(simulation);
    lastHistory_ = lastFields_ = lastCheckpoint_ = firstStep_;
    forcedEndGoesBackTo(firstStep_);
    return stopIfAsked(simulation, agreedStop(simulation));
  }
  openHistory(simulation);
  recordState(simulation, true);
  progress_.update(sample(simulation));
  return stopIfAsked(simulation, reasonOf(control[kStop]));
}

bool Recorder::stepped(Simulation& simulation, std::span<const double> control) {
  stops_.expect(secondsSince(lastStepEnd_), 0.0);
  if (untouched_) takeUpAgain(simulation);
  recordState(simulation, false);
  StopReason stop = reasonOf(control[kStop]);
  if (checkpointDue(simulation, control)) {
    if (!recordCheckpoint(simulation) && simulation.model().settings().checkpoint.stopOnFailure) return true;
    // A wish to stop that came while the checkpoint was written needs no second one.
    stop = std::max(stop, agreedStop(simulation));
  }
  progress_.update(sample(simulation));
  lastStepEnd_ = Clock::now();
  return stopIfAsked(simulation, stop);
}

void Recorder::finished(Simulation& simulation) {
  outcome_ = {"done", 0, simulation.clock().finishedBecause()};
  recordState(simulation, true);
  const std::int64_t step = simulation.clock().step();
  if (simulation.model().settings().checkpoint.atEnd && lastCheckpoint_ != step) recordCheckpoint(simulation);
}

bool Recorder::stopIfAsked(Simulation& simulation, StopReason reason) {
  if (reason == StopReason::None || simulation.clock().finished()) return false;
  const bool saved = lastCheckpoint_ == simulation.clock().step() || recordCheckpoint(simulation);
  stops_.answered();
  if (saved) {
    outcome_ = {"stopped", kExitStopped, asText(reason)};
  } else {
    outcome_ = {"stopped", kExitCannotWrite,
                asText(reason) + ", but no checkpoint of this step could be written"};
  }
  return true;
}

void Recorder::openHistory(const Simulation& simulation) {
  const std::int64_t every = simulation.model().settings().historyEverySteps;
  if (options_.folder == nullptr || every == 0) return;
  std::vector<std::string> columns;
  for (const Diagnostic& diagnostic : simulation.model().diagnostics()) columns.push_back(diagnostic.name);
  const FolderHandle& files = options_.folder->files();
  try {
    if (untouched_) {
      history_.emplace(files, columns, firstStep_, every);
    } else {
      history_.emplace(files, columns);
    }
  } catch (const OutputError& error) {
    warn(error.message());
  }
}

void Recorder::takeUpAgain(const Simulation& simulation) {
  openHistory(simulation);
  untouched_ = false;
  if (options_.folder == nullptr) return;
  try {
    dropFieldsAfter(FolderHandle::open(options_.folder->outputFolder()), firstStep_, firstFieldsDue_);
  } catch (const std::exception& error) {
    warn(std::string("files of the steps after the checkpoint could not be removed: ") + error.what());
  }
}

bool Recorder::fieldsDue(const Simulation& simulation) const {
  const OutputSettings& output = simulation.model().settings().output;
  const TimeControl& clock = simulation.clock();
  return clock.step() == 0 || (output.every && clock.dueEvery(*output.every)) ||
         (output.everySteps && clock.dueEverySteps(*output.everySteps));
}

void Recorder::recordState(Simulation& simulation, bool always) {
  const TimeControl& clock = simulation.clock();
  const std::int64_t every = simulation.model().settings().historyEverySteps;
  if (every > 0 && lastHistory_ != clock.step() && (always || clock.dueEverySteps(every)))
    recordHistory(simulation);
  if (!fields_.empty() && lastFields_ != clock.step() && (always || fieldsDue(simulation)))
    recordFields(simulation);
}

void Recorder::recordHistory(Simulation& simulation) {
  const TimeControl& clock = simulation.clock();
  const std::vector<double> values = simulation.diagnose();
  if (history_) history_->add(clock.step(), clock.time(), clock.dt(), values);
  lastHistory_ = clock.step();
}

void Recorder::recordFields(Simulation& simulation) {
  const FieldWriteResult result = writeFields(fieldFiles_, simulation, fields_, options_.deckSha256);
  lastFields_ = simulation.clock().step();
  for (const std::string& warning : result.warnings) warn(warning);
  if (result.written) {
    ++fieldsWritten_;
    event("fields",
          {{"step", lastFields_}, {"file", result.path.filename().string()}, {"bytes", result.bytes}});
  } else {
    ++fieldsFailed_;
    warn("the fields of step " + std::to_string(lastFields_) +
         " could not be written, the run goes on: " + result.failure);
  }
}

bool Recorder::recordCheckpoint(Simulation& simulation) {
  const auto start = Clock::now();
  const CheckpointResult result = writeCheckpoint(checkpoints_, simulation);
  const std::int64_t step = simulation.clock().step();
  stops_.expect(0.0, secondsSince(start));
  lastCheckpointEnd_ = Clock::now();
  for (const std::string& warning : result.warnings) warn(warning);
  checkpointFailed_ = !result.committed;
  if (result.committed) {
    lastCheckpoint_ = step;
    forcedEndGoesBackTo(step);
    ++checkpointsWritten_;
    newestCheckpoint_ = "checkpoints/" + result.path.filename().string();
    event("checkpoint", {{"step", step}, {"folder", newestCheckpoint_}, {"bytes", result.bytes}});
    return true;
  }
  const bool stop = simulation.model().settings().checkpoint.stopOnFailure;
  const std::string what = "the checkpoint of step " + std::to_string(step) + " could not be written";
  warn(what + (stop ? ": " : ", the run goes on: ") + result.failure);
  if (stop)
    outcome_ = {"failed", kExitCannotWrite,
                what + ", and the deck says on_failure = \"stop\": " + result.failure};
  return false;
}

void Recorder::event(std::string_view name, std::initializer_list<LogField> fields) {
  if (log_) log_->event(name, fields);
}

void Recorder::warn(const std::string& text) {
  warnings_.push_back(text);
  if (options_.folder == nullptr) return;
  std::cerr << "tessera: warning: " << text << std::endl;
  event("warning", {{"text", text}});
}

void Recorder::warnOfLostLines() {
  if (history_ && !history_->failure().empty()) warn(history_->failure());
  if (log_ && !log_->failure().empty()) warn(log_->failure());
}

ProgressSample Recorder::sample(const Simulation& simulation) const {
  const TimeControl& clock = simulation.clock();
  ProgressSample sample;
  sample.step = clock.step();
  sample.time = clock.time();
  sample.dt = clock.dt();
  sample.part = clock.progress();
  sample.cellSteps = static_cast<double>(clock.step() - firstStep_) *
                     static_cast<double>(simulation.model().hierarchy()->cellCount());
  sample.waitSeconds = simulation.statistics().waitSeconds;
  sample.workers = simulation.threads();
  return sample;
}

RunResult Recorder::resultOf(Simulation& simulation) {
  RunResult result;
  const ProgressSample now = sample(simulation);
  result.outcome = outcome_;
  result.step = now.step;
  result.time = now.time;
  result.stepsTaken = now.step - firstStep_;
  result.wallSeconds = secondsSince(start_);
  result.cellsPerSecond = result.wallSeconds > 0.0 ? now.cellSteps / result.wallSeconds : 0.0;
  result.checkpoint = newestCheckpoint_;
  const std::vector<double> values = simulation.diagnose();
  for (std::size_t n = 0; n < values.size(); ++n) {
    result.diagnostics.emplace_back(simulation.model().diagnostics()[n].name, values[n]);
  }
  const StepStatistics& statistics = simulation.statistics();
  const MemoryPlan planned = memoryPlanOf(simulation.graphs());
  result.statistics = {{"tasks", static_cast<double>(statistics.tasks)},
                       {"messages", static_cast<double>(statistics.messages)},
                       {"message_bytes", static_cast<double>(statistics.messageBytes)},
                       {"plans_compiled", static_cast<double>(simulation.compiles())},
                       {"compiles_since_start", static_cast<double>(simulation.compilesSinceStart())},
                       {"task_seconds", statistics.taskSeconds},
                       {"wait_seconds", statistics.waitSeconds},
                       {"field_bytes_in_memory", static_cast<double>(simulation.data().allocatedBytes())},
                       {"field_bytes_planned", static_cast<double>(planned.total())},
                       {"field_bytes_without_reuse", static_cast<double>(planned.totalWithoutReuse())}};
  result.warnings = warnings_;
  return result;
}

void Recorder::judge() {
  if (outcome_.exitCode != 0) return;
  std::string lost;
  if (fieldsFailed_ > 0) lost = "the fields of " + std::to_string(fieldsFailed_) + " step(s)";
  if (checkpointFailed_) lost += std::string(lost.empty() ? "" : " and ") + "the last checkpoint";
  if (history_ && !history_->failure().empty())
    lost += std::string(lost.empty() ? "" : " and ") + "lines of the history";
  if (lost.empty()) return;
  outcome_.exitCode = kExitCannotWrite;
  outcome_.reason += ", but " + lost + " could not be written";
}

int Recorder::close(Simulation& simulation) {
  progress_.finish(sample(simulation));
  warnOfLostLines();
  judge();
  const RunResult result = resultOf(simulation);
  int exitCode = outcome_.exitCode;
  if (options_.folder != nullptr) {
    event("end", {{"status", outcome_.status},
                  {"reason", outcome_.reason},
                  {"step", result.step},
                  {"time", result.time}});
    try {
      writeResult(options_.folder->files(), result);
    } catch (const OutputError& error) {
      warn(error.message());
      exitCode = kExitCannotWrite;
    }
    printSummary(result);
  }
  // Rank 0 knows best: it is the one that writes.
  return static_cast<int>(largestOf(simulation.transport(), options_.folder != nullptr ? exitCode : 0));
}

void Recorder::printSummary(const RunResult& result) {
  std::ostringstream out;
  out.precision(4);
  if (result.outcome.status != "stopped") out << result.outcome.status << ": ";
  out << result.outcome.reason << "; step " << result.step << ", t = " << result.time << ", "
      << result.stepsTaken << " steps in " << result.wallSeconds << " s, " << result.cellsPerSecond
      << " cells/s";
  for (const auto& [name, value] : result.diagnostics) out << "\n  " << name << " = " << shortestText(value);
  out << "\n  in " << options_.runFolder.string() << ": " << fieldsWritten_ << " field file(s), "
      << checkpointsWritten_ << " checkpoint(s)";
  if (result.outcome.status == "stopped")
    out << "\n  go on with: tessera restart " << options_.runFolder.string();
  progress_.note(out.str());
}

}  // namespace tessera
