#include "datawarehouse/checked/finite_rows.hpp"

#include "core/exec/wide_vectors.hpp"
#include "datawarehouse/checked/finite_probe.hpp"

namespace tessera::detail {
namespace {

template <class T>
bool isDoubtful(const TaskAccess& access, const ElementType& type, const Box& region) {
  const std::int64_t each = type.together();
  const T* first = reinterpret_cast<const T*>(access.data) + access.layout.at(region.lo) * each;
  const Extent n = region.extent();
  const std::int64_t strideJ = access.layout.strideJ * each;
  const std::int64_t strideK = access.layout.strideK * each;
  const std::int64_t strideC = access.layout.strideC;
  const std::int32_t planes = type.planes();
  bool doubtful = false;
  withWideVectors([=, &doubtful] {
    FiniteProbe<T> probe;
    for (std::int32_t c = 0; c < planes; ++c) {
      for (std::int64_t k = 0; k < n.k; ++k) {
        for (std::int64_t j = 0; j < n.j; ++j)
          probe.look(first + c * strideC + k * strideK + j * strideJ, n.i * each);
      }
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
      return isDoubtful<double>(access, info.type, region);
    case Scalar::Float32:
      return isDoubtful<float>(access, info.type, region);
    case Scalar::Int32:
    case Scalar::Int64:
      break;
  }
  return false;
}

}  // namespace tessera::detail
