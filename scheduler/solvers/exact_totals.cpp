#include "scheduler/solvers/exact_totals.hpp"

#include "core/exec/exec.hpp"

namespace tessera {

double totalOf(ExactSum own, Transport& transport) {
  if (transport.size() > 1) transport.wait(transport.allReduceSum(own.words()));
  return own.value();
}

double dotOf(const GridBoxes& grid, CellNumbers& a, CellNumbers& b, Transport& transport) {
  ExactSum sum;
  for (std::size_t n = 0; n < grid.own.size(); ++n) {
    const Field<double> u = a.field(n);
    const Field<double> v = b.field(n);
    sum.add(reduce(Cpu{}, "Solver::dot", grid.boxes[grid.own[n]], Sum,
                   [=] TESSERA_KERNEL(Index x) { return u(x) * v(x); }));
  }
  return totalOf(sum, transport);
}

double sumOf(const GridBoxes& grid, CellNumbers& a, Transport& transport) {
  ExactSum sum;
  for (std::size_t n = 0; n < grid.own.size(); ++n) {
    const Field<double> u = a.field(n);
    sum.add(reduce(Cpu{}, "Solver::sum", grid.boxes[grid.own[n]], Sum,
                   [=] TESSERA_KERNEL(Index x) { return u(x); }));
  }
  return totalOf(sum, transport);
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
