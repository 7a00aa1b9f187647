#include "core/transport/detail/mailbox_messages.hpp"

#include <cstring>
#include <map>
#include <new>
#include <string>

#include <mpi.h>

#include "core/memory/page_memory.hpp"
#include "core/text/error.hpp"
#include "core/transport/detail/check_mpi.hpp"
#include "core/transport/detail/message_check.hpp"
#include "core/transport/detail/mpi_finish.hpp"

namespace tessera::detail {
namespace {

using Direction = PreparedMessage::Direction;

// On the communicator of collectives, whose own messages have tag 0.
constexpr int kOfferTag = 1;
constexpr int kAnswerTag = 2;

/// What a receiver tells a sender, followed by a BufferPosition for each message of that way, in the order of
/// its list.
struct OfferHead {
  SharedMemoryAddress address;
  std::int64_t count = 0;
};
struct BufferPosition {
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;  ///< of the mailbox; the two slots follow it
};

}  // namespace

/// The round of messages by which a set is made.
class MailboxMessages::Setup {
 public:
  Setup(MailboxMessages& made, const MpiWorld& world, std::span<const PreparedMessage> messages)
      : made_(made), world_(world), messages_(messages), communicator_(MPI_Comm_f2c(world.setup)) {
    for (std::size_t n = 0; n < messages.size(); ++n) {
      const PreparedMessage& message = messages[n];
      if (world.sameMachine.empty() || !world.sameMachine[static_cast<std::size_t>(message.peer)]) continue;
      (message.direction == Direction::Send ? to_ : from_)[message.peer].messages.push_back(n);
    }
  }

  void run() {
    if (to_.empty() && from_.empty()) return;
    makeOffers();
    for (auto& [peer, side] : to_) side.begin(kOfferTag, peer, *this);
    for (auto& [peer, side] : from_) side.begin(kAnswerTag, peer, *this);
    for (auto& [peer, side] : from_) side.send(kOfferTag, peer, *this);
    for (auto& [peer, side] : to_) answer(peer, side);
    for (auto& [peer, side] : from_) hear(peer, side);
    for (auto& [peer, side] : to_) side.finishSend("answering where messages are in memory");
    if (made_.own_) made_.own_->close();
  }

 private:
  /// All that goes one way between this rank and a peer.
  struct Side {
    std::vector<std::size_t> messages;  ///< in the order of the list
    std::vector<std::byte> incoming;
    std::vector<std::byte> outgoing;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;

    std::size_t offerBytes() const { return sizeof(OfferHead) + messages.size() * sizeof(BufferPosition); }
    void begin(int tag, int peer, const Setup& setup) {
      incoming.resize(tag == kOfferTag ? offerBytes() : sizeof(std::int64_t));
      TESSERA_CHECK_MPI(MPI_Irecv(incoming.data(), static_cast<int>(incoming.size()), MPI_BYTE, peer, tag,
                                  setup.communicator_, &receive),
                        "asking rank " + std::to_string(peer) + " about shared memory");
    }
    void send(int tag, int peer, const Setup& setup) {
      TESSERA_CHECK_MPI(MPI_Isend(outgoing.data(), static_cast<int>(outgoing.size()), MPI_BYTE, peer, tag,
                                  setup.communicator_, &sending),
                        "telling rank " + std::to_string(peer) + " about shared memory");
    }
    void finishReceive(const std::string& what) { finishMpi(MPI_Request_c2f(receive), what); }
    void finishSend(const std::string& what) { finishMpi(MPI_Request_c2f(sending), what); }
  };

  void makeOffers() {
    std::int64_t bytes = 0;
    std::map<int, std::vector<BufferPosition>> places;
    for (const auto& [peer, side] : from_) {
      for (const std::size_t n : side.messages) {
        places[peer].push_back({messages_[n].tag, messages_[n].bytes, bytes});
        bytes += static_cast<std::int64_t>(sizeof(Mailbox<>)) + 2 * inCacheLines(messages_[n].bytes);
      }
    }
    if (bytes > 0) made_.own_ = SharedMemory::make(bytes);
    for (auto& [peer, side] : from_) {
      const OfferHead head{made_.own_ ? made_.own_->address() : SharedMemoryAddress{},
                           std::ssize(side.messages)};
      side.outgoing.resize(side.offerBytes());
      std::memcpy(side.outgoing.data(), &head, sizeof(head));
      std::memcpy(side.outgoing.data() + sizeof(head), places[peer].data(),
                  side.messages.size() * sizeof(BufferPosition));
      if (!made_.own_) continue;
      for (std::size_t k = 0; k < side.messages.size(); ++k) {
        new (made_.own_->data() + places[peer][k].offset) Mailbox<>;
        take(side.messages[k], made_.own_->data() + places[peer][k].offset);
      }
    }
  }

  void answer(int peer, Side& side) {
    side.finishReceive("learning where rank " + std::to_string(peer) + " receives");
    OfferHead head;
    std::memcpy(&head, side.incoming.data(), sizeof(head));
    std::vector<BufferPosition> places(side.messages.size());
    std::memcpy(places.data(), side.incoming.data() + sizeof(head), places.size() * sizeof(BufferPosition));
    const std::vector<std::int64_t> offsets = match(peer, side, head, places);
    std::optional<SharedMemory> memory = SharedMemory::open(head.address);
    const std::int64_t seen = memory ? 1 : 0;
    if (memory) {
      for (std::size_t k = 0; k < offsets.size(); ++k) take(side.messages[k], memory->data() + offsets[k]);
      made_.others_.push_back(std::move(*memory));
    }
    side.outgoing.resize(sizeof(seen));
    std::memcpy(side.outgoing.data(), &seen, sizeof(seen));
    side.send(kAnswerTag, peer, *this);
  }

  /// Where the receiver keeps each of this rank's messages: the k-th of a tag is the k-th of that tag there.
  std::vector<std::int64_t> match(int peer, const Side& side, const OfferHead& head,
                                  std::span<const BufferPosition> places) const {
    if (head.count != std::ssize(side.messages)) disagree(peer, side, head.count);
    std::map<std::int64_t, std::vector<BufferPosition>> ofTag;
    for (std::size_t k = places.size(); k-- > 0;) ofTag[places[k].tag].push_back(places[k]);
    std::vector<std::int64_t> offsets;
    for (const std::size_t n : side.messages) {
      std::vector<BufferPosition>& left = ofTag[messages_[n].tag];
      if (left.empty()) disagree(peer, side, head.count);
      if (left.back().bytes != messages_[n].bytes) {
        sizesDiffer({world_.rank, peer, messages_[n].tag}, messages_[n].bytes, left.back().bytes);
      }
      offsets.push_back(left.back().offset);
      left.pop_back();
    }
    return offsets;
  }

  [[noreturn]] void disagree(int peer, const Side& side, std::int64_t expected) const {
    throw InternalError(
        Message("two ranks have prepared different messages")
            .line("way  from rank ", world_.rank, " to rank ", peer)
            .line("sent ", side.messages.size(), " messages, expected ", expected, ", or with other tags")
            .line("fix  compile the same hierarchy and step plan on every rank")
            .text());
  }

  void hear(int peer, Side& side) {
    side.finishReceive("learning whether rank " + std::to_string(peer) + " sees shared memory");
    side.finishSend("telling rank " + std::to_string(peer) + " where its messages go");
    std::int64_t seen = 0;
    std::memcpy(&seen, side.incoming.data(), sizeof(seen));
    if (seen != 0) return;
    for (const std::size_t n : side.messages) made_.boxes_[n] = {};
  }

  void take(std::size_t n, std::byte* mailbox) {
    made_.boxes_[n] = {.mailbox = std::launder(reinterpret_cast<Mailbox<>*>(mailbox)),
                       .slots = mailbox + sizeof(Mailbox<>),
                       .slotBytes = inCacheLines(messages_[n].bytes),
                       .bytes = messages_[n].bytes,
                       .receives = messages_[n].direction == Direction::Receive};
  }

  MailboxMessages& made_;
  const MpiWorld& world_;
  std::span<const PreparedMessage> messages_;
  MPI_Comm communicator_;
  std::map<int, Side> to_;    ///< by peer
  std::map<int, Side> from_;  ///< by peer
};

MailboxMessages::MailboxMessages(const MpiWorld& world, std::span<const PreparedMessage> messages)
    : boxes_(messages.size()) {
  Setup(*this, world, messages).run();
  underWay_.reserve(boxes_.size());
}

std::span<std::byte> MailboxMessages::memory(std::int32_t n) const {
  const Box& box = at(n);
  return place(n, box.receives ? box.round : box.round + 1);
}

std::span<std::byte> MailboxMessages::place(std::int32_t n, std::int64_t start) const {
  const Box& box = at(n);
  return {box.slots + static_cast<std::int64_t>(Mailbox<>::slotOf(start)) * box.slotBytes,
          static_cast<std::size_t>(box.bytes)};
}

void MailboxMessages::addPages(std::vector<std::span<std::byte>>& pages) const {
  if (own_) pages.push_back(own_->memory());
  for (const SharedMemory& other : others_) pages.push_back(other.memory());
}

void MailboxMessages::start(std::int32_t n) {
  Box& box = boxes_[static_cast<std::size_t>(n)];
  ++box.round;
  if (box.receives) {
    box.mailbox->open(box.round);
  } else {
    box.mailbox->fill(box.round);
  }
  underWay_.push_back(n);
}

bool MailboxMessages::isDone(const Box& box) const {
  return box.receives ? box.mailbox->isFull(box.round) : box.mailbox->isOpen(box.round);
}

void MailboxMessages::test(std::vector<std::int32_t>& done) {
  std::erase_if(underWay_, [&](std::int32_t n) {
    if (!isDone(at(n))) return false;
    done.push_back(n);
    return true;
  });
}

}  // namespace tessera::detail
