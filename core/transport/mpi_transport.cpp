#include "core/transport/mpi_transport.hpp"

#include <algorithm>
#include <exception>

#include <mpi.h>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "core/transport/detail/check_mpi.hpp"
#include "core/transport/detail/message_check.hpp"
#include "core/transport/detail/message_parts.hpp"
#include "core/transport/detail/mpi_finish.hpp"
#include "core/transport/detail/mpi_messages.hpp"
#include "core/transport/detail/mpi_start.hpp"
#include "core/transport/detail/posix_shared_memory.hpp"
#include "core/transport/detail/request_table.hpp"
#include "core/transport/detail/single_thread_gate.hpp"

namespace tessera {

namespace {

enum class Kind { Send, Receive, Reduce };

struct Operation {
  Kind kind = Kind::Send;
  int peer = 0;
  std::int64_t tag = 0;
  std::int64_t count = 0;          // bytes of a message, values of a reduction
  std::vector<MPI_Request> parts;  // in order; keeps its capacity for the next user of the slot
  std::size_t done = 0;
};

std::string describe(const Operation& op) {
  if (op.kind == Kind::Reduce) return "a reduction of " + std::to_string(op.count) + " values";
  return (op.kind == Kind::Send ? "a send to rank " : "a receive from rank ") + std::to_string(op.peer) +
         ", tag " + std::to_string(op.tag) + ", " + std::to_string(op.count) + " bytes";
}

std::int64_t partCount(const Operation& op, std::size_t part, std::int64_t maxCount) {
  return std::min(maxCount, op.count - static_cast<std::int64_t>(part) * maxCount);
}

void finish(MPI_Request request, std::string_view what) { detail::finishMpi(MPI_Request_c2f(request), what); }

MPI_Comm duplicateWorld() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  constexpr std::string_view kWhat = "duplicating the communicator of the job";
  TESSERA_CHECK_MPI(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request), kWhat);
  finish(request, kWhat);
  TESSERA_CHECK_MPI(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "setting the error handler");
  return copy;
}

}  // namespace

struct MpiTransport::Impl {
  MPI_Comm messages = MPI_COMM_NULL;
  MPI_Comm collectives = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::int64_t tagBound = 32767;  // what the MPI standard grants at least
  std::int64_t maxCount = kMpiMaxCount;
  int exceptionsAtStart = std::uncaught_exceptions();
  detail::RequestTable<Operation> requests;
  std::int64_t preparedUnderWay = 0;
  std::vector<bool> sameMachine;  // by rank, but not this one
  WaitRecord* waits = nullptr;
  detail::SingleThreadGate gate;

  void open() {
    messages = duplicateWorld();
    collectives = duplicateWorld();
    TESSERA_CHECK_MPI(MPI_Comm_rank(messages, &rank), "asking for the rank");
    TESSERA_CHECK_MPI(MPI_Comm_size(messages, &size), "asking for the number of ranks");
    void* bound = nullptr;
    int found = 0;
    TESSERA_CHECK_MPI(MPI_Comm_get_attr(messages, MPI_TAG_UB, static_cast<void*>(&bound), &found),
                      "asking for the largest tag");
    if (found != 0) tagBound = *static_cast<const int*>(bound);
  }

  void findNeighbours() {
    const std::uint64_t mine = detail::machineNumber();
    std::vector<std::uint64_t> machines(static_cast<std::size_t>(size));
    block("asking which ranks share a machine", [&](MPI_Request* request) {
      return MPI_Iallgather(&mine, 1, MPI_UINT64_T, machines.data(), 1, MPI_UINT64_T, collectives, request);
    });
    for (const std::uint64_t machine : machines) sameMachine.push_back(machine == mine && mine != 0);
    sameMachine[static_cast<std::size_t>(rank)] = false;
  }

  // Runs start(offset, count, &request) for every part of a new operation.
  template <class Start>
  Request begin(Kind kind, int peer, std::int64_t tag, std::int64_t count, const Start& start) {
    const Request request = requests.add();
    Operation& op = requests.at(request);
    op.kind = kind;
    op.peer = peer;
    op.tag = tag;
    op.count = count;
    op.parts.clear();
    op.done = 0;
    detail::forEachPart(count, maxCount, [&](std::ptrdiff_t offset, int part) {
      op.parts.push_back(MPI_REQUEST_NULL);
      TESSERA_CHECK_MPI(start(offset, part, &op.parts.back()), "the start of " + describe(op));
    });
    return request;
  }

  template <class T>
  Request reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    const detail::SingleThreadGate::Pass pass(gate, rank);
    return begin(Kind::Reduce, 0, 0, std::ssize(values),
                 [&](std::ptrdiff_t offset, int count, MPI_Request* request) {
                   return MPI_Iallreduce(MPI_IN_PLACE, values.data() + offset, count, type, operation,
                                         collectives, request);
                 });
  }

  detail::MessageRoute routeOf(const Operation& op) const {
    return {.from = op.peer, .to = rank, .tag = op.tag};
  }

  void checkReceivedPart(const Operation& op, const MPI_Status& status) const {
    int received = 0;
    TESSERA_CHECK_MPI(MPI_Get_count(&status, MPI_BYTE, &received), "asking for the size of " + describe(op));
    const std::int64_t expected = partCount(op, op.done, maxCount);
    if (received == expected) return;
    detail::sizesDiffer(routeOf(op), static_cast<std::int64_t>(op.done) * maxCount + received, op.count);
  }

  bool advance(Operation& op) const {
    for (; op.done < op.parts.size(); ++op.done) {
      int complete = 0;
      MPI_Status status;
      const int result = MPI_Test(&op.parts[op.done], &complete, &status);
      if (detail::isTruncation(result)) detail::messageTooLong(routeOf(op), op.count);
      TESSERA_CHECK_MPI(result, describe(op));
      if (complete == 0) return false;
      if (op.kind == Kind::Receive) checkReceivedPart(op, status);
    }
    return true;
  }

  bool test(Request request) {
    Operation& op = requests.at(request);
    try {
      if (!advance(op)) return false;
    } catch (...) {
      requests.remove(request);
      throw;
    }
    requests.remove(request);
    return true;
  }

  // Runs start(&request) and waits for its end.
  template <class Start>
  void block(const std::string& what, const Start& start) const {
    const WaitRecord::Scope scope(*waits);
    MPI_Request request = MPI_REQUEST_NULL;
    TESSERA_CHECK_MPI(start(&request), what);
    finish(request, what);
  }

  void receiveText(std::string& text, int peer) const {
    const std::string what =
        "gathering " + std::to_string(text.size()) + " bytes from rank " + std::to_string(peer);
    detail::forEachPart(std::ssize(text), maxCount, [&](std::ptrdiff_t offset, int count) {
      block(what, [&](MPI_Request* request) {
        return MPI_Irecv(text.data() + offset, count, MPI_BYTE, peer, 0, collectives, request);
      });
    });
  }

  void sendText(std::string_view text, int peer) const {
    const std::string what =
        "gathering " + std::to_string(text.size()) + " bytes at rank " + std::to_string(peer);
    detail::forEachPart(std::ssize(text), maxCount, [&](std::ptrdiff_t offset, int count) {
      block(what, [&](MPI_Request* request) {
        return MPI_Isend(text.data() + offset, count, MPI_BYTE, peer, 0, collectives, request);
      });
    });
  }
};

MpiTransport::MpiTransport(const MpiTransportOptions& options) : impl_(std::make_unique<Impl>()) {
  TESSERA_EXPECT(options.maxCount > 0 && options.maxCount <= kMpiMaxCount,
                 "use a limit from 1 to the largest int");
  impl_->maxCount = options.maxCount;
  impl_->waits = &waits_;
  impl_->open();
  if (options.commonMemory && impl_->size > 1) impl_->findNeighbours();
}

MpiTransport::~MpiTransport() {
  // Freeing is collective; while an exception is under way the other ranks are elsewhere.
  if (std::uncaught_exceptions() > impl_->exceptionsAtStart) return;
  int ended = 0;
  if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  MPI_Comm_free(&impl_->messages);
  MPI_Comm_free(&impl_->collectives);
}

int MpiTransport::rank() const { return impl_->rank; }
int MpiTransport::size() const { return impl_->size; }
std::int64_t MpiTransport::tagBound() const { return impl_->tagBound; }
std::int64_t MpiTransport::pending() const { return impl_->requests.live() + impl_->preparedUnderWay; }

Transport::Request MpiTransport::send(int peer, std::int64_t tag, std::span<const std::byte> bytes) {
  detail::checkAddress(peer, tag, impl_->size, impl_->tagBound);
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  return impl_->begin(Kind::Send, peer, tag, std::ssize(bytes),
                      [&](std::ptrdiff_t offset, int count, MPI_Request* r) {
                        return MPI_Isend(bytes.data() + offset, count, MPI_BYTE, peer, static_cast<int>(tag),
                                         impl_->messages, r);
                      });
}

Transport::Request MpiTransport::receive(int peer, std::int64_t tag, std::span<std::byte> bytes) {
  detail::checkAddress(peer, tag, impl_->size, impl_->tagBound);
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  return impl_->begin(Kind::Receive, peer, tag, std::ssize(bytes),
                      [&](std::ptrdiff_t offset, int count, MPI_Request* r) {
                        return MPI_Irecv(bytes.data() + offset, count, MPI_BYTE, peer, static_cast<int>(tag),
                                         impl_->messages, r);
                      });
}

Transport::Request MpiTransport::allReduceMin(std::span<double> values) {
  return impl_->reduce(values, MPI_DOUBLE, MPI_MIN);
}

Transport::Request MpiTransport::allReduceMax(std::span<double> values) {
  return impl_->reduce(values, MPI_DOUBLE, MPI_MAX);
}

Transport::Request MpiTransport::allReduceSum(std::span<std::int64_t> values) {
  return impl_->reduce(values, MPI_INT64_T, MPI_SUM);
}

std::unique_ptr<PreparedMessages> MpiTransport::prepare(std::span<const PreparedMessage> messages) {
  for (const PreparedMessage& message : messages) {
    detail::checkAddress(message.peer, message.tag, impl_->size, impl_->tagBound);
  }
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  const WaitRecord::Scope scope(waits_);
  return detail::makeMpiMessages({.communicator = MPI_Comm_c2f(impl_->messages),
                                  .setup = MPI_Comm_c2f(impl_->collectives),
                                  .rank = impl_->rank,
                                  .maxCount = impl_->maxCount,
                                  .gate = &impl_->gate,
                                  .messagesUnderWay = &impl_->preparedUnderWay,
                                  .sameMachine = impl_->sameMachine},
                                 messages);
}

bool MpiTransport::test(Request request) {
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  return impl_->test(request);
}

void MpiTransport::barrier() {
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  impl_->block("a barrier", [&](MPI_Request* request) { return MPI_Ibarrier(impl_->collectives, request); });
}

void MpiTransport::broadcast(std::string& bytes, int root) {
  detail::checkRoot(root, impl_->size);
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  std::int64_t length = std::ssize(bytes);
  impl_->block("broadcasting a length", [&](MPI_Request* request) {
    return MPI_Ibcast(&length, 1, MPI_INT64_T, root, impl_->collectives, request);
  });
  bytes.resize(static_cast<std::size_t>(length));
  const std::string what =
      "broadcasting " + std::to_string(length) + " bytes from rank " + std::to_string(root);
  detail::forEachPart(length, impl_->maxCount, [&](std::ptrdiff_t offset, int count) {
    impl_->block(what, [&](MPI_Request* request) {
      return MPI_Ibcast(bytes.data() + offset, count, MPI_BYTE, root, impl_->collectives, request);
    });
  });
}

std::vector<std::string> MpiTransport::gather(std::string_view bytes, int root) {
  detail::checkRoot(root, impl_->size);
  const detail::SingleThreadGate::Pass pass(impl_->gate, impl_->rank);
  const bool isRoot = impl_->rank == root;
  const std::int64_t length = std::ssize(bytes);
  std::vector<std::int64_t> lengths(isRoot ? static_cast<std::size_t>(impl_->size) : 0);
  impl_->block("gathering lengths", [&](MPI_Request* request) {
    return MPI_Igather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, root, impl_->collectives,
                       request);
  });
  if (!isRoot) {
    impl_->sendText(bytes, root);
    return {};
  }
  std::vector<std::string> all(lengths.size());
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    all[peer].resize(static_cast<std::size_t>(lengths[peer]));
    if (static_cast<int>(peer) == root) {
      all[peer] = bytes;
    } else {
      impl_->receiveText(all[peer], static_cast<int>(peer));
    }
  }
  return all;
}

void MpiTransport::abort(int exitCode) { detail::abortJob(exitCode); }

}  // namespace tessera
