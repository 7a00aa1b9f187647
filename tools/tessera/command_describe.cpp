#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/simulation/deck/core_schema.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {

int describeCommand(const std::string& component, DescribeFormat format, const ComponentRegistry& registry) {
  std::cout << describe(schemaOfEverything(registry), format, component) << std::flush;
  return 0;
}

int listCommand(const ComponentRegistry& registry, TableFormat format) {
  if (format == TableFormat::Json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& name : registry.names())
      list.push_back({{"name", name}, {"summary", registry.make(name)->summary()}});
    std::cout << list.dump(1) << std::endl;
    return 0;
  }
  for (const std::string& name : registry.names()) {
    std::cout << name << "  " << registry.make(name)->summary() << '\n';
  }
  std::cout.flush();
  return 0;
}

}  // namespace tessera
