#pragma once

#include <string>

namespace tessera {

/// Before ranks are started: throws InternalError where this machine or a limit does not give MPI what it
/// needs for so many of them, and says what is there, what is needed, and how to give it. What MPI itself
/// does then is to end without a word of use.
void requireForMpi(int ranks);

/// The message where no rank came through MPI's start; `found`: how its launcher ended.
std::string mpiDidNotStart(const std::string& found, int ranks);

}  // namespace tessera
