#include "tools/tessera/job/mpi_needs.hpp"

#include <sstream>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

/// Measured with MPICH 4.0.2 on 2 to 16 ranks of one machine, with a tenth more.
constexpr double kSharedBytesOfRank = 4.7e6;
constexpr double kSharedBytes = 1e6;
constexpr rlim_t kFilesOfJob = 64;
constexpr rlim_t kFilesOfRank = 8;

const char* const kSharedMemory = "/dev/shm";

double sharedBytesFor(int ranks) { return kSharedBytes + kSharedBytesOfRank * ranks; }

/// 0 where it is not there or cannot be written.
double sharedBytesFree() {
  struct statvfs space {};
  if (::access(kSharedMemory, W_OK) != 0 || ::statvfs(kSharedMemory, &space) != 0) return 0.0;
  return static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
}

std::string megabytes(double bytes) {
  std::ostringstream out;
  out.precision(4);
  out << bytes / 1e6 << " MB";
  return out.str();
}

}  // namespace

void requireForMpi(int ranks) {
  const double free = sharedBytesFree();
  const double needed = sharedBytesFor(ranks);
  if (free < needed) {
    throw InternalError(
        Message("MPI needs more room in /dev/shm than there is")
            .line("found  ", megabytes(free), " free")
            .line("needs  ", megabytes(needed), " for ", ranks, " ranks")
            .line("fix    give a container more (docker run --shm-size=", 1 + static_cast<int>(needed / 1e6),
                  "m), remove what is left in /dev/shm, or use fewer ranks and more --threads")
            .text());
  }
  rlimit files{};
  const rlim_t filesNeeded = kFilesOfJob + kFilesOfRank * static_cast<rlim_t>(ranks);
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= filesNeeded) return;
  throw InternalError(Message("the limit of open files is too low for this many ranks")
                          .line("found  ", files.rlim_cur)
                          .line("needs  ", filesNeeded, " for ", ranks, " ranks")
                          .line("fix    ulimit -n 1024, or use fewer ranks and more --threads")
                          .text());
}

std::string mpiDidNotStart(const std::string& found, int ranks) {
  Message message("MPI could not be started, and no rank came to its first step");
  message.line("found  ", found);
  const double free = sharedBytesFree();
  message.line("room   ", megabytes(free), " free in /dev/shm", ", ", megabytes(sharedBytesFor(ranks)),
               " needed");
  message.line(
      "fix    look at the limits of open files, processes and memory (ulimit -n -u -v), and at what the "
      "launcher said; one rank (without -n) needs no MPI");
  return message.text();
}

}  // namespace tessera
