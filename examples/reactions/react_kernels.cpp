#include "react_row.hpp"
#include "reactions.hpp"
#include "scheduler/engine/make_program.hpp"

const tessera::engine::Program& reactionsProgram() {
  static const tessera::engine::Program program = tessera::engine::makeProgram<ReactRow>("reactions");
  return program;
}
