#include <algorithm>

#include "components/component.hpp"
#include "core/text/error.hpp"

namespace tessera {

void ComponentRegistry::add(Maker maker) {
  std::string name = maker()->name();
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    throw InternalError("two components are called \"" + name + "\"; give one of them another name()");
  }
  names_.push_back(std::move(name));
  makers_.push_back(std::move(maker));
}

std::unique_ptr<Component> ComponentRegistry::make(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return nullptr;
  return makers_[static_cast<std::size_t>(found - names_.begin())]();
}

}  // namespace tessera
