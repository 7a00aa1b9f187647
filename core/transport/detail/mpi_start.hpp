#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// What the start of MPI found.
struct MpiStart {
  std::string_view libraryVersion;     ///< MPI_Get_library_version
  int ranks = 1;                       ///< MPI_Comm_size
  const char* openMpiRanks = nullptr;  ///< OMPI_COMM_WORLD_SIZE, which Open MPI's launcher sets
  bool threadsSuffice = true;          ///< MPI_THREAD_SERIALIZED or better was granted
};

/// Throws InternalError where Tessera cannot run on this: another MPI library, another library's launcher
/// (every process would be a job of one rank), or too low a thread level.
void checkMpiStart(const MpiStart& start);

/// Flushes the standard streams and ends every rank of the job with `exitCode`. Any thread may call it.
[[noreturn]] void abortJob(int exitCode) noexcept;

}  // namespace tessera::detail
