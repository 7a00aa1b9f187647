#pragma once

#include "core/transport/transport.hpp"

namespace tessera {

/// The ranks of a transport as hypre's solvers have them: a communicator of their own, while this lives.
/// Collective. Throws DeckError where ranks are simulated inside one process.
class HypreRanks {
 public:
  explicit HypreRanks(const Transport& transport);
  ~HypreRanks();
  HypreRanks(const HypreRanks&) = delete;
  HypreRanks& operator=(const HypreRanks&) = delete;
  /// As MPI_Comm_f2c takes it.
  int handle() const { return handle_; }

 private:
  int handle_;
};

/// Throws InternalError where a call of hypre, `what`, has returned an error. Not to have come to a tolerance
/// is none: that is found by our own residual.
void checkHypre(int code, const char* what);

/// The DeckError of a build without hypre.
[[noreturn]] void throwWithoutHypre();

}  // namespace tessera
