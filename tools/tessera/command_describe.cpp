#include <iostream>

#include "tools/tessera/commands.hpp"
#include "tools/tessera/core_schema.hpp"

namespace tessera {

int describeCommand(const std::string& component, DescribeFormat format, const ComponentRegistry& registry) {
  std::cout << describe(schemaOfEverything(registry), format, component) << std::flush;
  return 0;
}

int listCommand(const ComponentRegistry& registry) {
  for (const std::string& name : registry.names()) {
    std::cout << name << "  " << registry.make(name)->summary() << '\n';
  }
  std::cout.flush();
  return 0;
}

}  // namespace tessera
