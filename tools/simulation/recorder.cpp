#include "tools/simulation/recorder.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "tools/simulation/agreement.hpp"
#include "tools/simulation/deck/device_table.hpp"
#include "tools/simulation/device_report.hpp"
#include "tools/simulation/mesh_report.hpp"
#include "tools/simulation/output/run_fields.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/watch/forced_end.hpp"

namespace tessera {
namespace {

constexpr std::size_t kStop = 0;
constexpr std::size_t kSinceCheckpoint = 1;
constexpr std::size_t kLineDue = 2;
constexpr std::size_t kControls = 3;
constexpr int kExitStopped = 75;
constexpr int kExitCannotWrite = 5;

/// Of statistics.csv, after step, time and dt; each the sum over all ranks but the first.
const std::vector<std::string> kCostColumns{"wall_seconds",    "task_seconds",   "wait_seconds",
                                            "message_seconds", "output_seconds", "messages",
                                            "message_bytes",   "memory_bytes"};

StopReason reasonOf(double number) { return static_cast<StopReason>(static_cast<int>(number)); }

FieldWriter::Options fieldOptions(const Simulation& simulation, const FolderHandle& place) {
  FieldWriter::Options o;
  o.folder = place.path() / "out";
  o.parent = place.descriptor();
  o.precision = simulation.model().settings().output.doublePrecision ? FieldPrecision::Float64
                                                                     : FieldPrecision::Float32;
  return o;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// 0 where it is not there.
double statistic(const RunResult& result, std::string_view name) {
  for (const auto& [known, value] : result.statistics) {
    if (known == name) return value;
  }
  return 0.0;
}

}  // namespace

Recorder::Recorder(const Simulation& simulation, StopRequests& stops, RecorderOptions options)
    : options_(std::move(options)),
      place_(FolderHandle::open(options_.runFolder)),
      stops_(stops),
      fields_(simulation.model().outputLabels()),
      checkpoints_(simulation.transport(), {.folder = options_.runFolder / "checkpoints",
                                            .parent = place_.descriptor(),
                                            .keep = simulation.model().settings().checkpoint.keep}),
      fieldFiles_(simulation.transport(), fieldOptions(simulation, place_)),
      planes_(simulation, place_),
      progress_(options_.folder != nullptr ? options_.screen : ScreenMode::Quiet),
      costsAt_(Clock::now()),
      start_(Clock::now()),
      lastStepEnd_(start_),
      lastCheckpointEnd_(start_) {
  for (const std::string& name : simulation.model().settings().watched) watched_.push_back({name});
  if (options_.folder == nullptr) return;
  stops_.watch(options_.folder->files());
  log_.emplace(options_.folder->files());
}

void Recorder::announce(const std::string& text, std::initializer_list<LogField> fields) {
  progress_.note(text);
  event("start", fields);
}

std::vector<double> Recorder::control() {
  std::vector<double> control(kControls, 0.0);
  control[kStop] = static_cast<double>(stops_.look());
  if (options_.folder == nullptr) return control;
  control[kSinceCheckpoint] = secondsSince(lastCheckpointEnd_);
  control[kLineDue] = progress_.due() ? 1.0 : 0.0;
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
  warnOfLongStep(simulation);
  progress_.start(sample(simulation));
  if (restored) {
    // Nothing is touched before a step is taken: a restart that takes none leaves all as it was.
    untouched_ = true;
    const RunSettings& now = simulation.model().settings();
    const RunSettings& before = options_.earlier ? *options_.earlier : now;
    const TimeControl& clock = simulation.clock();
    firstFieldsDue_ = fieldsDue(now.output, clock) || fieldsDue(before.output, clock);
    firstHistoryDue_ =
        clock.dueEverySteps(now.historyEverySteps) || clock.dueEverySteps(before.historyEverySteps);
    lastHistory_ = lastFields_ = lastCheckpoint_ = firstStep_;
    planes_.startAt(firstStep_);
    forcedEndGoesBackTo(firstStep_);
    return stopIfAsked(simulation, agreedStop(simulation));
  }
  openHistory(simulation);
  recordState(simulation, true);
  return endAtLimit(simulation) || stopIfAsked(simulation, reasonOf(control[kStop]));
}

bool Recorder::stepped(Simulation& simulation, std::span<const double> control) {
  stops_.expect(secondsSince(lastStepEnd_), 0.0);
  if (untouched_) takeUpAgain(simulation);
  recordState(simulation, false);
  if (endAtLimit(simulation)) return true;
  warnOfLongStep(simulation);
  StopReason stop = reasonOf(control[kStop]);
  if (checkpointDue(simulation, control)) {
    if (!recordCheckpoint(simulation) && simulation.model().settings().checkpoint.stopOnFailure) return true;
    // A wish to stop that came while the checkpoint was written needs no second one.
    stop = std::max(stop, agreedStop(simulation));
  }
  if (control[kLineDue] > 0.0) progress_.update(sample(simulation));
  lastStepEnd_ = Clock::now();
  return stopIfAsked(simulation, stop);
}

void Recorder::retaken(const StepRetry& retry) {
  std::ostringstream text;
  text.precision(6);
  text << "step " << retry.step << " is taken again with dt = " << retry.dt << " in place of "
       << retry.refusedDt << ": " << retry.cause;
  progress_.note(text.str());
  event("step_retaken", {{"step", retry.step},
                         {"time", retry.time},
                         {"cause", retry.cause},
                         {"refused_dt", retry.refusedDt},
                         {"dt", retry.dt}});
}

void Recorder::regridded(Simulation& simulation, double seconds) {
  const MeshLines lines = meshLinesOf(simulation);
  event("regrid", {{"step", simulation.clock().step()},
                   {"time", simulation.clock().time()},
                   {"patches", simulation.hierarchy().patchCount()},
                   {"cells_of_levels", lines.cells},
                   {"patches_of_levels", lines.patches},
                   {"imbalance_of_levels", lines.imbalance},
                   {"imbalance", simulation.imbalance()},
                   {"flagged_cells", simulation.regrids()->flaggedCells},
                   {"seconds", seconds}});
}

void Recorder::rebalanced(Simulation& simulation, const BalanceLook& look, double seconds) {
  event("rebalance", {{"step", simulation.clock().step()},
                      {"time", simulation.clock().time()},
                      {"imbalance", look.imbalance},
                      {"next_imbalance", look.nextImbalance},
                      {"gain_seconds", look.gain},
                      {"seconds", seconds}});
}

void Recorder::stoppedByMesh(Simulation& simulation, const std::string& cause) {
  recordState(simulation, true);
  finishHistory(simulation);
  const bool saved = lastCheckpoint_ == simulation.clock().step() || recordCheckpoint(simulation);
  outcome_ = {"stopped", saved ? kExitStopped : kExitCannotWrite,
              cause + (saved ? "" : "; no checkpoint of this step could be written")};
}

void Recorder::warned(const std::string& text) { warn(text); }

void Recorder::finished(Simulation& simulation) {
  outcome_ = {"done", 0, simulation.clock().finishedBecause()};
  const std::optional<double>& end = simulation.model().settings().time.end;
  endKey_ = end && simulation.clock().time() >= *end ? "time.end" : "time.max_steps";
  warnOfLongStep(simulation);
  recordState(simulation, true);
  finishHistory(simulation);
  const std::int64_t step = simulation.clock().step();
  if (simulation.model().settings().checkpoint.atEnd && lastCheckpoint_ != step) recordCheckpoint(simulation);
}

bool Recorder::endAtLimit(Simulation& simulation) {
  if (limitReached_.empty() || simulation.clock().finished()) return false;
  outcome_ = {"done", 0, limitReached_};
  recordState(simulation, true);
  finishHistory(simulation);
  if (simulation.model().settings().checkpoint.atEnd && lastCheckpoint_ != simulation.clock().step())
    recordCheckpoint(simulation);
  return true;
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
  const Model& model = simulation.model();
  const std::string time = model.settings().units.in("time");
  std::vector<std::pair<std::string, std::string>> units{{"step", "1"}, {"time", time}, {"dt", time}};
  for (const Diagnostic& diagnostic : model.diagnostics()) {
    columns.push_back(diagnostic.name);
    units.emplace_back(diagnostic.name, diagnostic.unit);
  }
  rowColumns_ = AnalysisRows::columnsOf(model);
  columns.resize(columns.size() - rowColumns_);
  const FolderHandle& files = options_.folder->files();
  try {
    writeHistoryUnits(files, units);
    if (untouched_) {
      history_.emplace(files, "history.csv", columns, firstStep_, firstHistoryDue_);
      costs_.emplace(files, "statistics.csv", kCostColumns, firstStep_, firstHistoryDue_);
      if (rowColumns_ > 0) rows_.emplace(files, model, firstStep_, firstHistoryDue_);
    } else {
      history_.emplace(files, "history.csv", columns);
      costs_.emplace(files, "statistics.csv", kCostColumns);
      if (rowColumns_ > 0) rows_.emplace(files, model);
    }
  } catch (const Error& error) {
    lost("the history", error.message());
  }
}

void Recorder::takeUpAgain(const Simulation& simulation) {
  openHistory(simulation);
  untouched_ = false;
  if (options_.folder == nullptr) return;
  try {
    dropFieldsAfter(place_.inside("out"), "fields", firstStep_, firstFieldsDue_);
    planes_.dropAfter(place_, firstStep_);
  } catch (const std::exception& error) {
    warn(std::string("files of the steps after the checkpoint could not be removed: ") + error.what());
  }
}

bool Recorder::fieldsDue(const OutputSettings& output, const TimeControl& clock) {
  return clock.step() == 0 || (output.every && clock.dueEvery(*output.every)) ||
         (output.everySteps && clock.dueEverySteps(*output.everySteps));
}

void Recorder::recordState(Simulation& simulation, bool always) {
  const TimeControl& clock = simulation.clock();
  const std::int64_t every = simulation.model().settings().historyEverySteps;
  if (every > 0 && lastHistory_ != clock.step() && (always || clock.dueEverySteps(every)))
    recordHistory(simulation);
  if (!fields_.empty() && lastFields_ != clock.step() &&
      (always || fieldsDue(simulation.model().settings().output, clock)))
    recordFields(simulation);
  recordPlanes(simulation, always);
}

void Recorder::recordPlanes(Simulation& simulation, bool always) {
  const auto start = Clock::now();
  planes_.record(simulation, options_.deckSha256, always, [this](const std::string& text) { warn(text); });
  outputSeconds_ += secondsSince(start);
}

void Recorder::recordHistory(Simulation& simulation) {
  finishHistory(simulation);
  const SpanOf span(options_.trace, "history");
  const TimeControl& clock = simulation.clock();
  simulation.startDiagnosis();
  line_.step = clock.step();
  line_.time = clock.time();
  line_.dt = clock.dt();
  line_.wallSeconds = secondsSince(costsAt_);
  line_.sums.start(simulation, outputSeconds_);
  costsAt_ = Clock::now();
  lineBegun_ = true;
  lastHistory_ = clock.step();
  // A limit ends all runs at the same step, whatever overlaps.
  if (!simulation.stepsOverlap() || simulation.model().analysis().hasLimits()) finishHistory(simulation);
}

/// The costs are those of the steps since the last line, on all ranks.
void Recorder::finishHistory(Simulation& simulation) {
  if (!lineBegun_) return;
  lineBegun_ = false;
  const std::vector<double> values = simulation.diagnosis();
  const std::size_t plain = values.size() - rowColumns_;
  if (history_) history_->add(line_.step, line_.time, line_.dt, std::span(values).first(plain));
  if (rows_) rows_->add(line_.step, line_.time, line_.dt, std::span(values).subspan(plain));
  watch(simulation, values);
  if (limitReached_.empty())
    limitReached_ = simulation.model().analysis().reached(simulation.model().diagnostics(), values);
  const JobTotals now = line_.sums.finish(simulation);
  const JobTotals& before = costsBefore_;
  const double costs[] = {line_.wallSeconds,
                          now.taskSeconds - before.taskSeconds,
                          now.waitSeconds - before.waitSeconds,
                          now.messageSeconds - before.messageSeconds,
                          now.outputSeconds - before.outputSeconds,
                          static_cast<double>(now.messages - before.messages),
                          static_cast<double>(now.messageBytes - before.messageBytes),
                          static_cast<double>(now.residentBytes)};
  costsBefore_ = now;
  if (costs_) costs_->add(line_.step, line_.time, line_.dt, costs);
}

void Recorder::watch(const Simulation& simulation, std::span<const double> values) {
  const std::vector<Diagnostic>& columns = simulation.model().diagnostics();
  for (WatchedNumber& one : watched_) {
    for (std::size_t n = 0; n < columns.size(); ++n) {
      if (columns[n].name != one.name) continue;
      one.last = values[n];
      one.least = one.isKnown ? std::min(one.least, values[n]) : values[n];
      one.largest = one.isKnown ? std::max(one.largest, values[n]) : values[n];
      one.isKnown = true;
    }
  }
}

void Recorder::recordFields(Simulation& simulation) {
  const SpanOf span(options_.trace, "fields");
  const auto start = Clock::now();
  const FieldWriteResult result = writeFields(fieldFiles_, simulation, fields_, options_.deckSha256);
  outputSeconds_ += secondsSince(start);
  lastFields_ = simulation.clock().step();
  for (const std::string& warning : result.warnings) warn(warning);
  if (result.written) {
    ++fieldsWritten_;
    event("fields",
          {{"step", lastFields_}, {"file", result.path.filename().string()}, {"bytes", result.bytes}});
  } else {
    ++fieldsFailed_;
    warn("the fields of step " + std::to_string(lastFields_) +
         " could not be written, the run continues: " + result.failure);
  }
}

bool Recorder::recordCheckpoint(Simulation& simulation) {
  // Whoever goes on from the checkpoint finds the lines of the history up to it.
  finishHistory(simulation);
  simulation.settle();
  const SpanOf span(options_.trace, "checkpoint");
  const auto start = Clock::now();
  const CheckpointResult result = writeCheckpoint(checkpoints_, simulation);
  const std::int64_t step = simulation.clock().step();
  outputSeconds_ += secondsSince(start);
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
    recordSums();
    return true;
  }
  const bool stop = simulation.model().settings().checkpoint.stopOnFailure;
  const std::string what = "the checkpoint of step " + std::to_string(step) + " could not be written";
  warn(what + (stop ? ": " : ", the run continues: ") + result.failure);
  if (stop)
    outcome_ = {"failed", kExitCannotWrite,
                what + ", and the deck says on_failure = \"stop\": " + result.failure};
  return false;
}

void Recorder::recordSums() {
  if (options_.folder == nullptr) return;
  const FolderHandle& files = options_.folder->files();
  try {
    std::map<std::string, FileSum> sums;
    for (const char* name : {"deck.toml", "resolved.toml", "provenance.json", "history.json"}) {
      if (files.has(name)) sums[name] = sumOf(files, name);
    }
    if (history_) sums["history.csv"] = history_->sum();
    if (costs_) sums["statistics.csv"] = costs_->sum();
    if (log_) sums["log.jsonl"] = log_->sum();
    writeSums(files, sums);
  } catch (const Error& error) {
    warn(error.message());
  }
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

void Recorder::warnOfLongStep(const Simulation& simulation) {
  const std::optional<double>& dt = simulation.model().settings().time.dt;
  const double stable = simulation.clock().stableDt();
  constexpr double kRounding = 1e-9;
  // NaN, where no component knows a stable step, is not below anything.
  if (longStepSaid_ || !dt || !simulation.clock().stableDtKnown() || !(*dt > stable * (1.0 + kRounding)))
    return;
  longStepSaid_ = true;
  warn("time.dt = " + shortestText(*dt) + " is longer than the largest stable step, " + shortestText(stable) +
       " at step " + std::to_string(simulation.clock().step()) +
       ": the result may become unstable; set time.dt below that, or leave it out");
}

void Recorder::warnOfLostLines() {
  if (history_ && !history_->failure().empty()) warn(history_->failure());
  if (rows_ && !rows_->failure().empty()) warn(rows_->failure());
  if (costs_ && !costs_->failure().empty()) warn(costs_->failure());
  if (log_ && !log_->failure().empty()) warn(log_->failure());
}

ProgressSample Recorder::sample(const Simulation& simulation) const {
  const TimeControl& clock = simulation.clock();
  ProgressSample sample;
  sample.step = clock.step();
  sample.time = clock.time();
  sample.dt = clock.dt();
  sample.part = clock.progress();
  sample.cellSteps = simulation.cellSteps();
  const JobTotals totals = totalsOf(simulation);
  sample.waitSeconds = totals.waitSeconds;
  sample.workers = totals.workers;
  sample.watched = watched_;
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
  const JobTotals totals = totalsOf(simulation, outputSeconds_);
  const PlannedMemory planned = plannedMemoryOf(simulation);
  const double threadSeconds = result.wallSeconds * static_cast<double>(totals.workers);
  result.waitPart = threadSeconds > 0.0 ? std::min(totals.waitSeconds / threadSeconds, 1.0) : 0.0;
  result.statistics = {{"threads", static_cast<double>(totals.workers)},
                       {"tasks", static_cast<double>(totals.tasks)},
                       {"messages", static_cast<double>(totals.messages)},
                       {"message_bytes", static_cast<double>(totals.messageBytes)},
                       {"task_seconds", totals.taskSeconds},
                       {"wait_seconds", totals.waitSeconds},
                       {"wait_part", result.waitPart},
                       {"message_seconds", totals.messageSeconds},
                       {"output_seconds", totals.outputSeconds},
                       {"memory_bytes", static_cast<double>(totals.residentBytes)},
                       {"field_bytes_in_memory", static_cast<double>(totals.fieldBytes)},
                       {"field_bytes_on_largest_rank", static_cast<double>(totals.largestFieldBytes)},
                       {"field_bytes_over_distinct", planned.overDistinct},
                       {"field_bytes_planned", static_cast<double>(planned.bytes)},
                       {"field_bytes_without_reuse", static_cast<double>(planned.withoutReuse)},
                       {"plans_compiled", static_cast<double>(simulation.compiles())},
                       {"compiles_since_start", static_cast<double>(simulation.compilesSinceStart())}};
  const std::vector<double> levels = levelSecondsOf(simulation);
  for (std::size_t level = 0; levels.size() > 1 && level < levels.size(); ++level)
    result.statistics.emplace_back("task_seconds_level_" + std::to_string(level), levels[level]);
  for (auto& number : meshStatistics(simulation)) result.statistics.push_back(std::move(number));
  if (const std::optional<DeviceTotals> devices = deviceTotalsOf(simulation)) {
    result.statistics.emplace_back("device_bytes", static_cast<double>(devices->bytes));
    result.statistics.emplace_back("device_bytes_over_distinct", devices->overDistinct);
    result.statistics.emplace_back("device_bytes_over_distinct_on_worst", devices->largestOverDistinct);
    result.statistics.emplace_back("device_bytes_limit", static_cast<double>(devices->paging.limitBytes));
    result.statistics.emplace_back("device_evictions", static_cast<double>(devices->paging.evictions));
    result.statistics.emplace_back("device_bytes_swapped_out", static_cast<double>(devices->paging.bytesOut));
    result.statistics.emplace_back("device_bytes_swapped_in", static_cast<double>(devices->paging.bytesIn));
  }
  if (const SolveTotals solves = simulation.solves().sum(); solves.solves > 0) {
    result.statistics.emplace_back("solves", static_cast<double>(solves.solves));
    result.statistics.emplace_back("solve_iterations", static_cast<double>(solves.iterations));
    result.statistics.emplace_back("solve_setups", static_cast<double>(solves.setups));
    result.statistics.emplace_back("solve_failures", static_cast<double>(solves.failures));
    result.statistics.emplace_back("solve_seconds", solves.seconds);
    result.statistics.emplace_back("solve_imbalance", solves.largestImbalance);
    if (solves.device.waits > 0) {
      result.statistics.emplace_back("solve_device_waits", static_cast<double>(solves.device.waits));
      result.statistics.emplace_back("solve_device_bytes", static_cast<double>(solves.device.bytes));
    }
  }
  result.plans = simulation.planTimes();
  for (PlanTime& plan : result.plans) plan.seconds = largestOf(simulation.transport(), plan.seconds);
  result.warnings = warnings_;
  result.devices = options_.devices;
  if (!result.devices.empty()) result.placement = asText(simulation.deviceOptions().placement);
  result.cost = simulation.costReport();
  return result;
}

void Recorder::lost(const std::string& what, const std::string& why) {
  lost_.push_back(what);
  warn(what + " could not be written: " + why);
}

void Recorder::judge() {
  if (outcome_.exitCode != 0) return;
  std::string lost;
  if (fieldsFailed_ > 0) lost = "the fields of " + std::to_string(fieldsFailed_) + " step(s)";
  if (checkpointFailed_) lost += std::string(lost.empty() ? "" : " and ") + "the last checkpoint";
  if (history_ && !history_->failure().empty())
    lost += std::string(lost.empty() ? "" : " and ") + "lines of the history";
  if (rows_ && !rows_->failure().empty())
    lost += std::string(lost.empty() ? "" : " and ") + "rows of analysis.hdf";
  for (const std::string& what : lost_) lost += (lost.empty() ? "" : " and ") + what;
  if (lost.empty()) return;
  outcome_.exitCode = kExitCannotWrite;
  outcome_.reason += ", but " + lost + " could not be written";
}

int Recorder::close(Simulation& simulation) {
  finishHistory(simulation);
  if (const std::string cost = asText(simulation.costReport()); !cost.empty()) progress_.note(cost);
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
    recordSums();
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
      << " cells/s, wait " << static_cast<int>(100.0 * result.waitPart) << " %";
  const double swapped =
      statistic(result, "device_bytes_swapped_out") + statistic(result, "device_bytes_swapped_in");
  if (swapped > 0.0) {
    out << "\n  for device.limit " << 1e-9 * swapped << " GB went between devices and host, in "
        << statistic(result, "device_evictions") << " evictions";
  }
  for (const auto& [name, value] : result.diagnostics) out << "\n  " << name << " = " << shortestText(value);
  out << "\n  in " << options_.runFolder.string() << ": " << fieldsWritten_ << " field file(s), "
      << checkpointsWritten_ << " checkpoint(s)";
  if (untouched_ && result.outcome.status == "done")
    out << "\n  the run had already reached its end; to continue further: tessera restart "
        << options_.runFolder.string() << " --set " << endKey_ << "=...";
  if (result.outcome.status == "stopped")
    out << "\n  continue with: tessera restart " << options_.runFolder.string();
  progress_.note(out.str());
}

}  // namespace tessera
