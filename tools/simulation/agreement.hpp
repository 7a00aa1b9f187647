#pragma once

#include <functional>

#include "core/text/error.hpp"
#include "core/transport/transport.hpp"

namespace tessera {

/// A failure that every rank knows of, so that all can end in an orderly way; rank 0 prints it.
struct AgreedError : ErrorClass<AgreedError> {
  using ErrorClass::ErrorClass;
};

/// Runs `body` on every rank; where it throws on any, all ranks throw an AgreedError with the message of the
/// lowest of them. `body` must not make collective calls. All ranks call it; never inside a step.
void together(Transport& transport, const std::function<void()>& body);

/// The largest of every rank's `value`; all ranks call it, never inside a step.
double largestOf(Transport& transport, double value);

/// The exception being handled as an Error: what a `catch (...)` has in its hands. Call it inside a handler.
Error currentError();

}  // namespace tessera
