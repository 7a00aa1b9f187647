#include <algorithm>

#include "components/advection/advection.hpp"
#include "components/component.hpp"
#include "components/diffusion/diffusion.hpp"
#include "components/euler/euler.hpp"
#include "components/heat/heat.hpp"
#include "components/levels/levels.hpp"
#include "components/lowmach/lowmach.hpp"
#include "components/poisson/poisson.hpp"
#include "components/rmcrt/rmcrt.hpp"
#include "components/wave/wave.hpp"
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

ComponentRegistry builtInComponents() {
  ComponentRegistry registry;
  registry.add<Heat>();
  registry.add<Advection>();
  registry.add<Wave>();
  registry.add<Euler>();
  registry.add<Levels>();
  registry.add<Diffusion>();
  registry.add<Poisson>();
  registry.add<Rmcrt>();
  registry.add<Lowmach>();
  return registry;
}

}  // namespace tessera
