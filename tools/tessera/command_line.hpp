#pragma once

#include "components/component.hpp"
#include "scheduler/device/backend/emulated_device.hpp"

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
/// Never throws. Starts MPI where the command needs it. `emulated` says what the devices of `--device
/// emulated` are like, also how they go wrong.
int runTessera(int argc, char** argv, const ComponentRegistry& components,
               const EmulatedOptions& emulated = {});

}  // namespace tessera
