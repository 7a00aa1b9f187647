#pragma once

#include "grid/label.hpp"

namespace tessera::test {

/// A condition that changes component 1 and leaves the others as they are.
CodedCondition someOfThem(Label<Components<double>, Cell> label);
CodedCondition someOfThem(Label<Components<float>, FaceX> label);

}  // namespace tessera::test
