#include "core/transport/detail/mpi_finish.hpp"

#include <mpi.h>

#include "core/transport/detail/check_mpi.hpp"
#include "core/transport/step_aside.hpp"

namespace tessera::detail {

void finishMpi(int request, std::string_view what) {
  MPI_Request pending = MPI_Request_f2c(request);
  int complete = 0;
  StepAside stepAside;
  while (true) {
    TESSERA_CHECK_MPI(MPI_Test(&pending, &complete, MPI_STATUS_IGNORE), what);
    if (complete != 0) return;
    stepAside();
  }
}

}  // namespace tessera::detail
