#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/jobs/job_clock.hpp"
#include "scheduler/jobs/job_device.hpp"

namespace tessera::jobs::testing {

/// A clock that goes on where somebody sleeps, and nowhere else.
class SimulatedClock final : public JobClock {
 public:
  double now() override { return now_; }
  void sleep(double seconds) override { now_ += seconds; }

 private:
  double now_ = 0.0;
};

/// What tasks cost on a simulated device.
struct SimulatedSpeed {
  std::string name;
  int workers = 1;                                  ///< each with two slots; tasks wait in one line
  bool isNarrow = true;                             ///< threads of the host; else a device
  double unitsPerSecond = 1e6;                      ///< of a worker
  double form[kForms] = {1.0, 1.0, 1.0, 1.0};       ///< times as fast in each
  double crowded = 1.0;                             ///< of its rate, a worker has beside others
  double overhead = 0.0;                            ///< seconds of each task
  double first = 0.0;                               ///< seconds more of the first task of each form
  double width = 1.0;                               ///< units that run together: fewer take as long
  std::int64_t heavyFrom = std::int64_t{1} << 60;   ///< units from here on take three times as long
  double fewUnits = 0.0;                            ///< tasks of fewer units
  double formOfFew[kForms] = {1.0, 1.0, 1.0, 1.0};  ///< are so many times as fast beside `form`
};

/// A device that runs nothing: its tasks end when they would have, by a simulated clock.
class SimulatedDevice final : public JobDevice {
 public:
  SimulatedDevice(SimulatedSpeed speed, JobClock& clock)
      : speed_(std::move(speed)),
        clock_(clock),
        freeAt_(static_cast<std::size_t>(speed_.workers), 0.0),
        tasks_(2 * static_cast<std::size_t>(speed_.workers)) {}

  const std::string& name() const override { return speed_.name; }
  int slots() const override { return static_cast<int>(tasks_.size()); }
  bool isNarrow() const override { return speed_.isNarrow; }
  std::int64_t width() const override { return static_cast<std::int64_t>(speed_.width); }
  const CopyCounts& copies() const override { return copies_; }
  void finish(const Job&) override {}

  bool start(int slot, const JobTask& task) override {
    double& free = *std::ranges::min_element(freeAt_);
    Running& running = tasks_[static_cast<std::size_t>(slot)];
    const auto form = static_cast<std::size_t>(task.form);
    running.units = task.units.volume();
    running.begun = std::max(free, clock_.now());
    const std::int64_t heavy = std::clamp<std::int64_t>(task.units.hi.i - speed_.heavyFrom, 0, running.units);
    const double units = std::max(static_cast<double>(running.units + 2 * heavy), speed_.width);
    double rate = speed_.unitsPerSecond * speed_.form[form];
    if (static_cast<double>(running.units) < speed_.fewUnits) rate *= speed_.formOfFew[form];
    // Who began alone goes on as fast: a task's length is known when it begins.
    const bool isAlone = std::ranges::count_if(freeAt_, [&](double at) { return at > clock_.now(); }) == 0;
    if (!isAlone) rate *= speed_.crowded;
    free = running.begun + units / rate + speed_.overhead;
    if (!hasRun_[form]) free += speed_.first;
    hasRun_[form] = true;
    running.done = free;
    return true;
  }
  bool poll(int slot, TaskEnd& end) override {
    const Running& running = tasks_[static_cast<std::size_t>(slot)];
    if (clock_.now() < running.done) return false;
    end = {};
    end.ended = running.units;
    if (speed_.isNarrow) {
      end.begun = running.begun;
      end.done = running.done;
    }
    return true;
  }

 private:
  struct Running {
    std::int64_t units = 0;
    double begun = 0.0;
    double done = 0.0;
  };
  SimulatedSpeed speed_;
  JobClock& clock_;
  std::vector<double> freeAt_;
  std::vector<Running> tasks_;
  bool hasRun_[kForms] = {};
  CopyCounts copies_;
};

}  // namespace tessera::jobs::testing
