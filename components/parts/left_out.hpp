#pragma once

#include <string>
#include <vector>

namespace tessera {

/// The components of the repository that this build leaves out (TESSERA_PARTS of cmake/TesseraParts.cmake),
/// which `builtInComponents` has not got; empty as a rule.
const std::vector<std::string>& componentsLeftOut();

}  // namespace tessera
