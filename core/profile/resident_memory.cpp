#include "core/profile/resident_memory.hpp"

#include <fstream>
#include <unistd.h>

namespace tessera {

std::int64_t residentBytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t whole = 0;
  std::int64_t resident = 0;
  in >> whole >> resident;
  return in ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace tessera
