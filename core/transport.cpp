#include "core/transport.hpp"

#include <thread>

namespace tessera {

void Transport::wait(Request request) {
  while (!test(request)) std::this_thread::yield();
}

}  // namespace tessera
