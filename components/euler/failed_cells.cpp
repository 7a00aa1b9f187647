#include "components/euler/failed_cells.hpp"

#include "core/text/error.hpp"

namespace tessera {

void reportFailed(const Hierarchy& hierarchy, double code, std::int64_t step, double time) {
  throw NumericalError(Message("the gas has a density or a pressure that is not above 0")
                           .line("where  ", cellOfCode(hierarchy, code))
                           .line("step   ", step, ", after t = ", time)
                           .line("fix    take shorter steps (time.cfl), let them be taken again "
                                 "(time.retries), or set euler.floor.pressure and euler.floor.density")
                           .text());
}

}  // namespace tessera
