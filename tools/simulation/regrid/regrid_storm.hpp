#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// Sees that a run spends its time on regrids. One a process, of one thread.
class RegridStorm {
 public:
  /// After a regrid: how many there were, the seconds that they took and that the process has run for, and
  /// the steps between them (amr.interval). A sentence with what to change, once, as soon as kFewest of them
  /// took more than half of the time; else nothing.
  std::string warning(std::int64_t regrids, double seconds, double ofSeconds, std::int64_t interval);

  /// The first regrids say nothing yet: they find a mesh that the initial condition did not have.
  static constexpr std::int64_t kFewest = 8;

 private:
  bool isSaid_ = false;
};

}  // namespace tessera
