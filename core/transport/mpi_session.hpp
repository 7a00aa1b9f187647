#pragma once

namespace tessera {

/// MPI from its start to its end; one in a process, made by `main` before the first `MpiTransport` and
/// outliving the last.
///
///   int main() {
///     tessera::MpiSession mpi;
///     tessera::MpiTransport transport;
///     try {
///       ...
///     } catch (const tessera::Error& error) {
///       std::cerr << error.what() << '\n';
///       transport.abort(error.exitCode());
///     }
///   }
///
/// Where the program around Tessera has started MPI already, it is used as it is and not ended here.
/// An exception that leaves its scope while there are other ranks ends the whole job with exit code 6,
/// because ending MPI in an orderly way would wait for them for ever; catch errors inside. UCX's handlers for
/// crash signals are taken away unless UCX_HANDLE_ERRORS is set, so that a crash ends the job with its own
/// signal. (UCX reads its environment before `main`; a launcher can set more of it.)
class MpiSession {
 public:
  /// Throws InternalError with the fix where the library is not MPICH, the launcher belongs to another MPI,
  /// the library does not allow calls from different threads in turn, or MPI has ended before.
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  bool owned_ = false;
  int rank_ = 0;
  int size_ = 1;
  int exceptionsAtStart_ = 0;
};

}  // namespace tessera
