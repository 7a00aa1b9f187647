#include "tools/jobs/job_trace.hpp"

#include <algorithm>
#include <fstream>

#include "core/text/error.hpp"
#include "scheduler/tracing/trace_event.hpp"
#include "scheduler/tracing/trace_file.hpp"

namespace tessera::jobs {
namespace {

using tessera::detail::TraceEvent;

/// Lanes of a trace: each has tasks of one device.
class TaskLanes {
 public:
  /// The first lane of the device that is free from `begin` on, taken until `end`.
  std::size_t take(const TaskSpan& task) {
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      if (lanes_[n].device != task.device || lanes_[n].freeFrom > task.begin) continue;
      lanes_[n].freeFrom = task.end;
      return n;
    }
    lanes_.push_back({task.device, task.end});
    return lanes_.size() - 1;
  }
  std::size_t size() const { return lanes_.size(); }
  std::size_t deviceOf(std::size_t lane) const { return lanes_[lane].device; }

 private:
  struct Lane {
    std::size_t device = 0;
    double freeFrom = 0.0;
  };
  std::vector<Lane> lanes_;
};

std::int32_t tidOf(std::size_t lane) {
  return static_cast<std::int32_t>(tessera::detail::TraceLane::FirstWorker) + static_cast<std::int32_t>(lane);
}

class JobTrace {
 public:
  explicit JobTrace(const std::vector<JobSpan>& jobs) {
    TraceEvent(text_, 'M', 0, 0)
        .name("process_name")
        .category("__metadata")
        .arg("name", std::string_view("jobs"))
        .end();
    if (!jobs.empty()) origin_ = jobs.front().begin;
    for (const JobSpan& job : jobs) origin_ = std::min(origin_, job.begin);
    for (const JobSpan& job : jobs) place(job);
    for (std::size_t n = 0; n < jobs.size(); ++n) append(jobs[n], static_cast<std::int64_t>(n));
  }
  const TaskLanes& lanes() const { return lanes_; }
  void nameLane(std::size_t lane, const std::string& name) {
    TraceEvent(text_, 'M', 0, tidOf(lane))
        .name("thread_name")
        .category("__metadata")
        .arg("name", std::string_view(name))
        .end();
  }
  const std::string& text() const { return text_; }

 private:
  std::int64_t nanoseconds(double seconds) const {
    return static_cast<std::int64_t>((seconds - origin_) * 1e9);
  }
  void place(const JobSpan& job) {
    std::vector<TaskSpan> tasks = job.tasks;
    std::ranges::sort(tasks, {}, &TaskSpan::begin);
    std::vector<std::size_t>& lanes = placed_.emplace_back();
    for (const TaskSpan& task : tasks) lanes.push_back(lanes_.take(task));
    sorted_.push_back(std::move(tasks));
  }
  void append(const JobSpan& job, std::int64_t run) {
    const std::int64_t begin = nanoseconds(job.begin);
    const std::int64_t end = nanoseconds(job.end);
    TraceEvent(text_, 'X', 0, static_cast<std::int32_t>(tessera::detail::TraceLane::Steps))
        .name(job.job)
        .category("step")
        .at(begin)
        .lasts(end - begin)
        .arg("run", run)
        .arg("step", run + 1)
        .arg("plan", std::string_view(job.job))
        .arg("workers", std::max<std::int64_t>(1, static_cast<std::int64_t>(lanes_.size())))
        .argTime("executed", end)
        .end();
    const auto at = static_cast<std::size_t>(run);
    for (std::size_t n = 0; n < sorted_[at].size(); ++n) {
      const TaskSpan& task = sorted_[at][n];
      const std::int64_t from = nanoseconds(task.begin);
      TraceEvent(text_, 'X', 0, tidOf(placed_[at][n]))
          .name(job.job + " " + formText(task.form))
          .category("task")
          .at(from)
          .lasts(nanoseconds(task.end) - from)
          .arg("run", run)
          .arg("node", static_cast<std::int64_t>(n))
          .arg("after", std::int64_t{-1})
          .argTime("ready", begin)
          .arg("units", task.units)
          .end();
    }
  }

  std::string text_;
  double origin_ = 0.0;
  TaskLanes lanes_;
  std::vector<std::vector<TaskSpan>> sorted_;     ///< by job
  std::vector<std::vector<std::size_t>> placed_;  ///< by job and task: its lane
};

}  // namespace

void writeJobTrace(const std::vector<JobSpan>& jobs, const std::vector<std::unique_ptr<JobDevice>>& devices,
                   const std::filesystem::path& file) {
  JobTrace trace(jobs);
  for (std::size_t lane = 0; lane < trace.lanes().size(); ++lane)
    trace.nameLane(lane, devices[trace.lanes().deviceOf(lane)]->name());
  const std::filesystem::path part = file.string() + ".part";
  std::ofstream out(part, std::ios::binary);
  out << trace.text();
  out.close();
  if (!out)
    throw OutputError("cannot write the trace " + file.string() + "; name another file: --trace=FILE");
  joinTraces({part}, file);
}

}  // namespace tessera::jobs
