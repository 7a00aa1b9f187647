#pragma once

#include <filesystem>
#include <ostream>
#include <string>

#include "core/transport/transport.hpp"

namespace tessera::ensemble {

/// What `tessera ensemble` was asked for.
struct EnsembleRequest {
  std::string deck;
  std::string out;    ///< the folder of the results; empty: the deck's name in the current folder
  int threads = 0;    ///< workers of each rank; 0: the cores of the machine, shared by the ranks
  bool cuda = false;  ///< workers on GPU rank modulo GPUs, and on threads only where `threads` says how many
  int gpus = 1;
  bool quiet = false;
  bool json = false;  ///< what was done as JSON on `screen`, progress on standard error
};

/// Throws DeckError with everything that is wrong with the deck; InputError where it cannot be read.
void checkDeck(const std::string& deck);

/// Runs a deck with stages or with a replica exchange on all ranks; collective. What is done already, by an
/// earlier run into the same folder, is not run again. Returns the exit code: 0, or 4 where tasks have
/// failed; they are listed on `screen`. Throws DeckError, InputError, OutputError.
int runEnsemble(const EnsembleRequest& request, Transport& transport, std::ostream& screen);

}  // namespace tessera::ensemble
