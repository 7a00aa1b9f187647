#include "scheduler/solvers/exact_totals.hpp"

#include "scheduler/solvers/loops/solver_loops.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

double totalOf(ExactSum own, Transport& transport) {
  if (transport.size() > 1) transport.wait(transport.allReduceSum(own.words()));
  return own.value();
}

double dotOf(const GridBoxes& grid, const CellNumbers& a, const CellNumbers& b, Transport& transport) {
  SumOnBoxes sum(grid.device);
  for (std::size_t n = 0; n < grid.own.size(); ++n)
    sum.add(grid.boxes[grid.own[n]], Product{a.reads(n), b.reads(n)});
  return totalOf(sum.value(), transport);
}

double leastOf(double own, Transport& transport) {
  if (transport.size() > 1) transport.wait(transport.allReduceMin({&own, 1}));
  return own;
}

double largestOfAll(double own, Transport& transport) {
  if (transport.size() > 1) transport.wait(transport.allReduceMax({&own, 1}));
  return own;
}

}  // namespace tessera
