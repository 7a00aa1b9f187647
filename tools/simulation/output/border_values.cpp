#include "tools/simulation/output/border_values.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera {

void spreadToValueBox(const Box& closed, std::span<const double> stored, const Box& valueBox,
                      std::span<double> values, std::int64_t components) {
  TESSERA_EXPECT(static_cast<std::int64_t>(stored.size()) == closed.volume() * components &&
                     static_cast<std::int64_t>(values.size()) == valueBox.volume() * components,
                 "give the values of both boxes");
  const Extent n = closed.extent();
  std::size_t to = 0;
  for (std::int64_t k = valueBox.lo.k; k < valueBox.hi.k; ++k) {
    for (std::int64_t j = valueBox.lo.j; j < valueBox.hi.j; ++j) {
      for (std::int64_t i = valueBox.lo.i; i < valueBox.hi.i; ++i) {
        Index x = Index{i, j, k} - closed.lo;
        for (int d = 0; d < kAxes; ++d) x[d] = std::min(x[d], n[d] - 1);
        const std::int64_t from = ((x.k * n.j + x.j) * n.i + x.i) * components;
        for (std::int64_t c = 0; c < components; ++c)
          values[to++] = stored[static_cast<std::size_t>(from + c)];
      }
    }
  }
}

}  // namespace tessera
