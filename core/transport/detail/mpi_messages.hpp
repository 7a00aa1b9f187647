#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/transport/detail/single_thread_gate.hpp"
#include "core/transport/transport.hpp"

namespace tessera::detail {

/// What prepared messages need of the transport that makes them; it outlives them.
struct MpiWorld {
  int communicator = 0;  ///< as MPI_Comm_c2f gives it
  int setup = 0;         ///< as MPI_Comm_c2f gives it, of the communicator for the set-up handshake
  int rank = 0;
  std::int64_t maxCount = 0;                 ///< bytes of one MPI call
  SingleThreadGate* gate = nullptr;          ///< passed by each call
  std::int64_t* messagesUnderWay = nullptr;  ///< counted here
  std::vector<bool> sameMachine;             ///< by rank: messages may go through shared memory
};

/// Messages through common memory where the other rank is on this machine (MailboxMessages), else persistent
/// MPI requests, one for each part of each message; addresses have been checked. Requests under way stand in
/// one list, so that a look after them is one MPI_Testsome however many there are, and costs nothing for
/// those that are not.
std::unique_ptr<PreparedMessages> makeMpiMessages(const MpiWorld& world,
                                                  std::span<const PreparedMessage> messages);

}  // namespace tessera::detail
