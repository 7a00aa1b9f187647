#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/transport/detail/mailbox.hpp"
#include "core/transport/detail/mpi_messages.hpp"
#include "core/transport/detail/posix_shared_memory.hpp"
#include "core/transport/transport.hpp"

namespace tessera::detail {

/// Those of a set of prepared messages whose two ranks run on one machine: the sender packs straight into
/// memory of the receiver, and two words (Mailbox) say which rank may touch it. There is no copy in between
/// and no call of MPI or of the system in a step.
///
/// Making one is a round of small MPI messages between neighbours: each receiver makes the memory for all
/// that it gets and tells each of its senders where it lies, each sender answers whether it can see it. Where
/// the machine does not allow it (no memory, another name space), the message is none of these, on both
/// sides, and goes by MPI.
class MailboxMessages {
 public:
  /// Throws InternalError where the two sides do not agree about their messages.
  MailboxMessages(const MpiWorld& world, std::span<const PreparedMessage> messages);

  /// Whether message number `n` of the list goes this way. If not, the other calls are not for it.
  bool has(std::int32_t n) const { return at(n).mailbox != nullptr; }
  std::span<std::byte> memory(std::int32_t n) const;
  std::span<std::byte> place(std::int32_t n, std::int64_t start) const;
  /// Adds the memory of all messages that go this way, whole mappings.
  void addPages(std::vector<std::span<std::byte>>& pages) const;
  void start(std::int32_t n);
  /// Adds those that have become complete to `done`.
  void test(std::vector<std::int32_t>& done);

 private:
  struct Box {
    Mailbox<>* mailbox = nullptr;
    std::byte* slots = nullptr;  ///< two
    std::int64_t slotBytes = 0;  ///< from one to the next
    std::int64_t bytes = 0;      ///< of a message
    bool receives = false;
    std::int64_t round = 0;  ///< the one that was started last
  };
  class Setup;

  const Box& at(std::int32_t n) const { return boxes_[static_cast<std::size_t>(n)]; }
  bool isDone(const Box& box) const;

  std::vector<Box> boxes_;  ///< by message
  std::optional<SharedMemory> own_;
  std::vector<SharedMemory> others_;
  std::vector<std::int32_t> underWay_;
};

}  // namespace tessera::detail
