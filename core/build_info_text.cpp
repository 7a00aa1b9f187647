#include <sstream>

#include "core/build_info.hpp"

namespace tessera {

std::string asText(const BuildInfo& info) {
  std::ostringstream out;
  out << "tessera " << info.version << " (" << info.revision << ")\n"
      << "  compiler  " << info.compiler << ", " << info.buildType;
  if (!info.flags.empty()) out << ", " << info.flags;
  if (info.checkedByDefault) out << ", checked mode by default";
  out << '\n';
  for (const DependencyInfo& dependency : info.dependencies) {
    out << "  " << dependency.name << ' ';
    if (dependency.version.empty()) {
      out << dependency.origin << '\n';
    } else {
      out << dependency.version << " (" << dependency.origin << ")\n";
    }
  }
  return out.str();
}

}  // namespace tessera
