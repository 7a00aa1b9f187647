#include "core/transport.hpp"

namespace tessera {

void Transport::wait(Request request) {
  constexpr int kLooksBetweenSteps = 16;
  for (int looks = 1; !test(request); ++looks) {
    if (looks % kLooksBetweenSteps == 0) stepAside();
  }
}

}  // namespace tessera
