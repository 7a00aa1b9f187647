#pragma once

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"

namespace tessera {

/// The faces of cells on one side along an axis, in the rows of these cells and in those of the cells beyond.
struct FacesOfCells {
  int axis = 0;
  bool high = false;
  ReadOnlyField<double> own, beyond;
};

/// What conducts from cells to holes on one side, and is carried in from there, becomes a sink.
struct HoldValues {
  static constexpr const char* kName = "Solver::holdValues";
  FacesOfCells faces;
  ReadOnlyField<double> open, u;
  Field<double> sink, f;
  TESSERA_KERNEL void operator()(Index x) const {
    const Index along = unit(faces.axis);
    const Index face = faces.high ? x + along : x;
    const Index other = faces.high ? x + along : x - along;
    const double all = faces.own(face);
    const double ofBeyond = faces.beyond(face);
    const double conducts = all < ofBeyond ? all : ofBeyond;
    // The hole's value is half a cell away.
    const double weight = open(x) > 0.0 && !(open(other) > 0.0) ? conducts + all : 0.0;
    sink(x) = sink(x) + weight;
    f(x) = f(x) + weight * u(other);
  }
};

/// Faces beside a hole become 0.
struct CloseFaces {
  static constexpr const char* kName = "Solver::closeFaces";
  int axis = 0;
  ReadOnlyField<double> open;
  Field<double> k;
  TESSERA_KERNEL void operator()(Index x) const {
    const bool isOpen = open(x) > 0.0 && open(x - unit(axis)) > 0.0;
    k(x) = isOpen ? k(x) : 0.0;
  }
};

/// Numbers in holes become 0.
struct ClearHoles {
  static constexpr const char* kName = "Solver::clearHoles";
  ReadOnlyField<double> open;
  Field<double> numbers;
  TESSERA_KERNEL void operator()(Index x) const { numbers(x) = open(x) > 0.0 ? numbers(x) : 0.0; }
};

}  // namespace tessera
