#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// New of `to` is what a straight line in time says of `u`, from Old to New: at the time that has come when,
/// of the steps that the next finer level takes meanwhile, `number` are done and `part` of one more. On a
/// coarser level, for halos of the finer one. Where Old and New are equal, so is what it gives.
TaskBody betweenOldAndNew(Label<double, Cell> u, Label<double, Cell> to, ReductionLabel number, double part);
TaskBody betweenOldAndNew(Label<Components<double>, Cell> u, Label<Components<double>, Cell> to,
                          ReductionLabel number, double part);

}  // namespace tessera
