#include "datawarehouse/checked/finite_rows.hpp"

#include "core/exec/wide_vectors.hpp"
#include "datawarehouse/checked/finite_probe.hpp"

namespace tessera::detail {
namespace {

template <class T>
bool isDoubtful(const TaskAccess& access, std::int64_t components, const Box& region) {
  const T* first = reinterpret_cast<const T*>(access.data) + access.layout.at(region.lo) * components;
  const Extent n = region.extent();
  const std::int64_t strideJ = access.layout.strideJ * components;
  const std::int64_t strideK = access.layout.strideK * components;
  bool doubtful = false;
  withWideVectors([=, &doubtful] {
    FiniteProbe<T> probe;
    for (std::int64_t k = 0; k < n.k; ++k) {
      for (std::int64_t j = 0; j < n.j; ++j) probe.look(first + k * strideK + j * strideJ, n.i * components);
    }
    doubtful = probe.doubtful();
  });
  return doubtful;
}

}  // namespace

bool mayHoldNonFinite(const TaskAccess& access, const LabelInfo& info, const Box& region) {
  if (region.empty()) return false;
  switch (info.type.scalar) {
    case Scalar::Float64:
      return isDoubtful<double>(access, info.type.components, region);
    case Scalar::Float32:
      return isDoubtful<float>(access, info.type.components, region);
    case Scalar::Int32:
    case Scalar::Int64:
      break;
  }
  return false;
}

}  // namespace tessera::detail
