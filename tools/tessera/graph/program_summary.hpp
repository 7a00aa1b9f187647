#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "components/step_program.hpp"
#include "core/transport/transport.hpp"
#include "grid/label.hpp"
#include "taskgraph/owned_mesh.hpp"

namespace tessera {

/// What one rank does of a solve on one level of the mesh.
struct SolvedLevel {
  LevelId level = 0;
  std::int64_t cells = 0;       ///< of this rank
  std::int64_t boxes = 0;       ///< that the patches of this rank are merged to
  std::int64_t neighbours = 0;  ///< ranks with cells beside them
};

/// One item of a step program.
struct ProgramStep {
  std::string text;  ///< "run heat", "solve heat.solve for temperature"
  int depth = 0;     ///< in how many repetitions it lies
  std::vector<SolvedLevel> solved{};
};

/// The items of a program as `tessera graph` shows them, from the point of view of a rank. Needs no MPI:
/// boxes are found as a solve finds them.
std::vector<ProgramStep> summarise(const StepProgram& program, const LabelTable& labels,
                                   const OwnedMesh& mesh, Rank rank);
std::string asText(const std::string& program, const std::vector<ProgramStep>& steps);

}  // namespace tessera
