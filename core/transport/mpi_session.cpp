#include "core/transport/mpi_session.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <iostream>
#include <string_view>

#include <mpi.h>

#include "core/text/error.hpp"
#include "core/transport/detail/check_mpi.hpp"
#include "core/transport/detail/mpi_start.hpp"

namespace tessera {

namespace detail {

void checkMpiStart(const MpiStart& start) {
  if (start.libraryVersion.find("MPICH") == std::string_view::npos) {
    throw InternalError(Message("the MPI library is not MPICH")
                            .line("found ", start.libraryVersion)
                            .line("fix   build with libmpich and start with mpiexec.mpich")
                            .text());
  }
  if (start.ranks == 1 && start.openMpiRanks != nullptr && std::atoi(start.openMpiRanks) > 1) {
    throw InternalError(Message("the job was started by the launcher of Open MPI")
                            .line("found ", start.openMpiRanks, " processes that cannot see each other")
                            .line("fix   start with mpiexec.mpich")
                            .text());
  }
  if (!start.threadsSuffice) {
    throw InternalError(Message("the MPI library does not allow calls from several threads in turn")
                            .line("found a thread level below MPI_THREAD_SERIALIZED")
                            .line("fix   use an MPICH that is built with threads (Debian's is)")
                            .text());
  }
}

void abortJob(int exitCode) noexcept {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(stdout);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, exitCode);
  std::_Exit(exitCode);
}

}  // namespace detail

namespace {

// UCX sets its handlers when the library is loaded, before any environment of ours could tell it not to.
void removeCrashHandlersOfUcx() {
  if (std::getenv("UCX_HANDLE_ERRORS") != nullptr) return;
  for (const int number : std::array{SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    Dl_info owner{};
    if (dladdr(reinterpret_cast<void*>(action.sa_handler), &owner) == 0 || owner.dli_fname == nullptr)
      continue;
    if (std::string_view(owner.dli_fname).find("libucs") == std::string_view::npos) continue;
    std::signal(number, SIG_DFL);
  }
}

bool startMpi() {
  int ended = 0;
  TESSERA_CHECK_MPI(MPI_Finalized(&ended), "asking whether MPI has ended");
  if (ended != 0) {
    throw InternalError(Message("MPI has ended in this process and cannot start again")
                            .line("fix  keep one MpiSession from the start to the end of main")
                            .text());
  }
  int started = 0;
  TESSERA_CHECK_MPI(MPI_Initialized(&started), "asking whether MPI has started");
  if (started != 0) return false;
  int granted = 0;
  TESSERA_CHECK_MPI(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted), "starting MPI");
  return true;
}

}  // namespace

MpiSession::MpiSession() : exceptionsAtStart_(std::uncaught_exceptions()) {
  owned_ = startMpi();
  if (owned_) {
    removeCrashHandlersOfUcx();
    TESSERA_CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
                      "setting the error handler");
  }
  TESSERA_CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "asking for the rank");
  TESSERA_CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size_), "asking for the number of ranks");

  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  TESSERA_CHECK_MPI(MPI_Get_library_version(version.data(), &length), "asking for the library version");
  int granted = 0;
  TESSERA_CHECK_MPI(MPI_Query_thread(&granted), "asking for the thread level");
  detail::checkMpiStart({.libraryVersion = {version.data(), static_cast<std::size_t>(length)},
                         .ranks = size_,
                         .openMpiRanks = std::getenv("OMPI_COMM_WORLD_SIZE"),
                         .threadsSuffice = granted >= MPI_THREAD_SERIALIZED});
}

MpiSession::~MpiSession() {
  if (size_ > 1 && std::uncaught_exceptions() > exceptionsAtStart_) {
    detail::abortJob(static_cast<int>(ErrorKind::Internal));
  }
  if (owned_) MPI_Finalize();
}

}  // namespace tessera
