#include "tests/scheduler/device/coded_conditions_kernels.hpp"

#include "datawarehouse/moves/coded_condition.hpp"

namespace tessera::test {

struct SomeOfThem {
  template <class Fields>
  TESSERA_KERNEL void operator()(const HaloPoint& p, const Fields& u) const {
    u[1](p.x) =
        u[0](p.mirrored) - u[1](p.edge) * static_cast<float>(p.time) + static_cast<float>(p.position.y);
  }
};

[[gnu::weak]] CodedCondition someOfThem(Label<Components<double>, Cell> label) {
  return codedCondition<Cpu, Gpu>(label, SomeOfThem{});
}

[[gnu::weak]] CodedCondition someOfThem(Label<Components<float>, FaceX> label) {
  return codedCondition<Cpu, Gpu>(label, SomeOfThem{});
}

}  // namespace tessera::test
