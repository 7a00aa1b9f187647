#pragma once

#include <cstdint>

namespace tessera {

/// Lets the heap grow by so many bytes at once, on large pages where the system has them (Linux: transparent
/// huge pages by advice), before many small objects are made: a page of 4 kB that is touched for the first
/// time costs as much as what is made in it, on virtual machines ten times as much. Takes addresses, not yet
/// memory. Does nothing for less than 4 MB, and where a limit on memory of the process is set. On the main
/// thread, as long as there is no other.
void growHeap(std::int64_t bytes);

}  // namespace tessera
