#include <iostream>

#include "tools/simulation/deck/core_schema.hpp"
#include "tools/tessera/commands.hpp"

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
