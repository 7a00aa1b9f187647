#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/transport/transport.hpp"

namespace tessera {

struct MpiTransportOptions {
  /// Bytes of a message, or values of a reduction, of one MPI call; small only in tests.
  std::int64_t maxCount = std::numeric_limits<int>::max();
  /// Prepared messages between ranks of one machine go through memory that both see.
  bool commonMemory = true;
};

/// The ranks of an MPI job. Needs a living `MpiSession`, and has to end before it.
///
/// It works on its own duplicates of MPI_COMM_WORLD, one for messages and one for reductions and collectives,
/// so that two transports (one a subsystem) never take each other's messages. Making and ending one is
/// collective: every rank does it, in the same order.
///
/// A message or reduction of more than `maxCount` bytes or values is split; all ranks use the same options.
/// Errors: InternalError with peer, tag, bytes and MPI's own text. Ends with no operation pending,
/// unless an exception is under way; buffers of pending operations must then live until the job is aborted.
class MpiTransport final : public Transport {
 public:
  /// The largest count that one MPI call can take.
  static constexpr std::int64_t kMpiMaxCount = std::numeric_limits<int>::max();

  /// Collective.
  explicit MpiTransport(const MpiTransportOptions& options = {});
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  /// The rank and the number of ranks are those of MPI_COMM_WORLD.
  int rank() const override;
  int size() const override;
  std::int64_t tagBound() const override;
  Request send(int peer, std::int64_t tag, std::span<const std::byte> bytes) override;
  Request receive(int peer, std::int64_t tag, std::span<std::byte> bytes) override;
  Request allReduceMin(std::span<double> values) override;
  Request allReduceMax(std::span<double> values) override;
  Request allReduceSum(std::span<std::int64_t> values) override;
  bool test(Request request) override;
  /// Messages to ranks of this machine are packed straight into memory of theirs, where the machine allows
  /// it. The others are persistent requests (MPI_Send_init, MPI_Recv_init); the receives among messages that
  /// are started together are posted by one call. Returns when the ranks of these messages have called it as
  /// well.
  std::unique_ptr<PreparedMessages> prepare(std::span<const PreparedMessage> messages) override;
  /// These functions give their core away while they wait, so that more ranks than cores make progress.
  void barrier() override;
  void broadcast(std::string& bytes, int root) override;
  std::vector<std::string> gather(std::string_view bytes, int root) override;

  /// Flushes the standard streams, then MPI_Abort. Any thread may call it, also while another is inside.
  [[noreturn]] void abort(int exitCode) override;

  /// Operations that were started and have not been seen complete by `test`.
  std::int64_t pending() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
