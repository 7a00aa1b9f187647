#pragma once

#include "components/component.hpp"

namespace tessera {

/// The whole `tessera` program for a set of components: reads the command line, does what it asks and returns
/// the exit code (docs/user/exit_codes.md). A program with components of its own is
///
///   int main(int argc, char** argv) {
///     tessera::ComponentRegistry components = tessera::builtInComponents();
///     components.add<MyPhysics>();
///     return tessera::runTessera(argc, argv, components);
///   }
///
/// Never throws. Starts MPI where the command needs it.
int runTessera(int argc, char** argv, const ComponentRegistry& components);

}  // namespace tessera
