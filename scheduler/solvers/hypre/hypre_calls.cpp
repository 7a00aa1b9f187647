#include "scheduler/solvers/hypre/hypre_calls.hpp"

#include "core/text/error.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "scheduler/solvers/linear_solver.hpp"

#if defined(TESSERA_HAVE_HYPRE)
#include <HYPRE_utilities.h>

#include <mpi.h>
#endif

namespace tessera {

void throwWithoutHypre() {
  throw DeckError(Message("solver.library = \"hypre\", but this build has no hypre")
                      .line("fix  ./tessera setup --with-hypre, or take solver.library = \"own\"")
                      .text());
}

#if defined(TESSERA_HAVE_HYPRE)

namespace {

/// A single rank needs no launcher: MPI starts here for it alone, and ends with the process.
MPI_Comm ranksOf(const Transport& transport) {
  if (dynamic_cast<const MpiTransport*>(&transport) != nullptr) return MPI_COMM_WORLD;
  if (transport.size() > 1) {
    throw DeckError(
        Message("solver.library = \"hypre\" needs MPI, and here ranks are simulated in one process")
            .line("fix  take solver.library = \"own\", or run without --executor virtual")
            .text());
  }
  static const MpiSession alone;
  return MPI_COMM_SELF;
}

}  // namespace

bool hasHypre() { return true; }

HypreRanks::HypreRanks(const Transport& transport) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(ranksOf(transport), &communicator);
  handle_ = MPI_Comm_c2f(communicator);
  HYPRE_Initialize();
}

HypreRanks::~HypreRanks() {
  MPI_Comm communicator = MPI_Comm_f2c(handle_);
  MPI_Comm_free(&communicator);
}

void checkHypre(int code, const char* what) {
  if (code == 0 || code == HYPRE_ERROR_CONV) {
    HYPRE_ClearAllErrors();
    return;
  }
  char text[256] = "";
  HYPRE_DescribeError(code, text);
  HYPRE_ClearAllErrors();
  throw InternalError(Message("hypre has failed")
                          .line("in   ", what)
                          .line("says ", text, " (", code, ")")
                          .line("fix  take solver.library = \"own\", and report this")
                          .text());
}

#else

bool hasHypre() { return false; }

#endif

}  // namespace tessera
