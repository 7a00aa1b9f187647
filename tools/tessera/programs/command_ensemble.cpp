#include "tools/tessera/programs/command_ensemble.hpp"

#include <csignal>
#include <iostream>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "tools/simulation/run_folder/job_note.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {

void checkEnsembleDeck(const std::filesystem::path& deck) { ensemble::checkDeck(deck); }

int ensembleCommand(const ensemble::EnsembleRequest& asked) {
  std::signal(SIGPIPE, SIG_IGN);
  ensemble::EnsembleRequest request = asked;
  if (request.cuda) request.gpus = cudaDeviceCount();
  if (!startedByLauncher()) {
    LoopbackWorld world(1);
    return ensemble::runEnsemble(request, world.transport(0), std::cout);
  }
  const MpiSession mpi;
  MpiTransport transport;
  noteReady();
  try {
    const int exitCode = ensemble::runEnsemble(request, transport, std::cout);
    noteExitCode(exitCode);
    return exitCode;
  } catch (const Error& error) {
    // The other ranks wait for this one: they end with it.
    printError(error);
    noteExitCode(error.exitCode());
    transport.abort(error.exitCode());
  }
}

}  // namespace tessera
