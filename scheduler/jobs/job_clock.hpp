#pragma once

namespace tessera::jobs {

/// The time by which a runner measures tasks, and in which it waits for them. Tests have another one, for
/// devices that are simulated.
class JobClock {
 public:
  JobClock() = default;
  JobClock(const JobClock&) = delete;
  JobClock& operator=(const JobClock&) = delete;
  virtual ~JobClock() = default;

  virtual double now() = 0;
  virtual void sleep(double seconds) = 0;

  /// That of `secondsNow`.
  static JobClock& steady();
};

}  // namespace tessera::jobs
