#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/detail/single_thread_gate.hpp"
#include "core/transport.hpp"

namespace tessera::detail {

/// What prepared messages need of the transport that makes them; it outlives them.
struct MpiWorld {
  int communicator = 0;  ///< as MPI_Comm_c2f gives it
  int rank = 0;
  std::int64_t maxCount = 0;                 ///< bytes of one MPI call
  SingleThreadGate* gate = nullptr;          ///< passed by each call
  std::int64_t* messagesUnderWay = nullptr;  ///< counted here
};

/// Persistent MPI requests, one for each part of each message; addresses have been checked. Those under way
/// stand in one list, so that a look after them is one MPI_Testsome however many there are, and costs nothing
/// for those that are not.
std::unique_ptr<PreparedMessages> makeMpiMessages(const MpiWorld& world,
                                                  std::span<const PreparedMessage> messages);

}  // namespace tessera::detail
