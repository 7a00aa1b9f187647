#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::test {

/// The divergence of a flux through the faces along x and y, of both components.
struct ScratchLabels {
  Label<Components<double>, Cell> u;
  Label<Components<double>, FaceX> fluxX;
  Label<double, FaceY> fluxY;
};

/// With each flux once, in scratch.
TaskBody divergeByScratch(const ScratchLabels& labels);
/// With each flux twice, for both of its cells.
TaskBody divergeTwice(const ScratchLabels& labels);
/// Reads a face of scratch that no loop has written.
TaskBody readsUnwritten(const ScratchLabels& labels);

}  // namespace tessera::test
