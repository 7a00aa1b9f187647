#pragma once

#include "core/text/error.hpp"
#include "core/transport/transport.hpp"
#include "scheduler/step_inputs.hpp"

namespace tessera {

/// A step went wrong; the text names rank, step and time, and what the task says. Of the kind of the cause.
struct StepFailed : ErrorClass<StepFailed> {
  using ErrorClass::ErrorClass;
};

/// Of a step at `moment` on the rank of `transport`.
StepFailed stepFailed(const Error& cause, const StepMoment& moment, const Transport& transport);

}  // namespace tessera
