#include "tools/simulation/regrid/regrid_storm.hpp"

#include <sstream>

namespace tessera {

std::string RegridStorm::warning(std::int64_t regrids, double seconds, double ofSeconds,
                                 std::int64_t interval) {
  if (isSaid_ || regrids < kFewest || 2.0 * seconds <= ofSeconds) return {};
  isSaid_ = true;
  std::ostringstream text;
  text.precision(3);
  text << regrids << " regrids have taken " << seconds << " of " << ofSeconds
       << " s, more than half of the run's time; "
       << "make amr.interval longer than " << interval
       << " steps with as much more amr.buffer, or patches larger (amr.tile)";
  return text.str();
}

}  // namespace tessera
