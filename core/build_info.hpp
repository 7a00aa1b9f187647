#pragma once

#include <string>
#include <vector>

namespace tessera {

/// A library from outside that this build was linked with.
struct DependencyInfo {
  std::string name;
  std::string version;  ///< empty when it is not part of this build
  std::string origin;   ///< "system" (a package of the machine) or "sha256:..." (a pinned archive)
};

/// What this program was built from: printed by `tessera --version`, stored in provenance.json and
/// checkpoints.
struct BuildInfo {
  std::string version;    ///< of Tessera, "0.1.0"
  std::string revision;   ///< the git commit, with "-dirty" when the tree had changes; "unknown" outside git
  std::string compiler;   ///< "GNU 12.2.0"
  std::string buildType;  ///< "Release", "Debug"
  std::string flags;      ///< the flags that shape the code
  bool checkedByDefault;  ///< checked mode is on unless a run turns it off (preset `checked`)
  std::vector<DependencyInfo> dependencies;  ///< in a fixed order
};

/// The facts about this build; cheap, any thread.
BuildInfo buildInfo();

/// Several lines for `tessera --version`: version, compiler, then one dependency a line. Ends in a newline.
std::string asText(const BuildInfo& info);

}  // namespace tessera
