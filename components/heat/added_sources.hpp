#pragma once

#include <string>
#include <vector>

#include "components/heat/heat_kernels.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"

namespace tessera {

/// Rule of `[heat] sources`: each text is "[factor*]variable" or "-variable".
void checkAddedSources(const ParameterValues& values, DeckDiagnostics& findings);

/// What the texts say, which the rule has found right.
std::vector<AddedSource> readAddedSources(const std::vector<std::string>& texts, LabelTable& labels);

}  // namespace tessera
