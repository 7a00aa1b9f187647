#include "core/transport/detail/mpi_messages.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "core/memory/page_memory.hpp"
#include "core/text/contracts.hpp"
#include "core/transport/detail/check_mpi.hpp"
#include "core/transport/detail/mailbox_messages.hpp"
#include "core/transport/detail/message_check.hpp"
#include "core/transport/detail/message_parts.hpp"

namespace tessera::detail {
namespace {

using Direction = PreparedMessage::Direction;

class MpiMessages final : public PreparedMessages {
 public:
  MpiMessages(const MpiWorld& world, std::span<const PreparedMessage> messages)
      : world_(world), mailboxes_(world, messages) {
    std::int64_t bytes = 0;
    for (std::size_t n = 0; n < messages.size(); ++n) {
      offsets_.push_back(bytes);
      if (!mailboxes_.has(static_cast<std::int32_t>(n))) bytes += inCacheLines(messages[n].bytes);
    }
    memory_ = PageMemory(bytes);
    try {
      for (const PreparedMessage& message : messages) add(message);
    } catch (...) {
      freeAll();
      throw;
    }
    underWay_.reserve(requests_.size());
    partUnderWay_.reserve(requests_.size());
    found_.resize(requests_.size());
    parts_.resize(requests_.size());
    statuses_.resize(requests_.size());
    done_.reserve(messages_.size());
  }

  std::span<std::byte> memory(std::int32_t n) override {
    return mailboxes_.has(n) ? mailboxes_.memory(n) : ownPlace(n);
  }

  std::span<std::byte> place(std::int32_t n, std::int64_t start) override {
    return mailboxes_.has(n) ? mailboxes_.place(n, start) : ownPlace(n);
  }

  std::vector<std::span<std::byte>> pages() override {
    std::vector<std::span<std::byte>> pages{memory_.pages()};
    mailboxes_.addPages(pages);
    return pages;
  }

  ~MpiMessages() override {
    int ended = 0;
    if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
    // Only while an exception is under way: what was to be received stays for the next receive. A send
    // cannot be taken back; its request goes away when it is complete.
    for (std::size_t n = 0; n < underWay_.size(); ++n) {
      if (messageOf(partUnderWay_[n]).direction == Direction::Receive) MPI_Cancel(&underWay_[n]);
    }
    freeAll();
    *world_.messagesUnderWay -= open_;
  }

  void start(std::int32_t first, std::int32_t count) override {
    if (count <= 0) return;
    const SingleThreadGate::Pass pass(*world_.gate, world_.rank);
    for (std::int32_t n = first; n < first + count; ++n) {
      Message& message = messages_.at(static_cast<std::size_t>(n));
      TESSERA_EXPECT(message.missing == 0, "start a message again once it is complete");
      message.missing = mailboxes_.has(n) ? 1 : message.parts;
      if (mailboxes_.has(n)) mailboxes_.start(n);
    }
    open_ += count;
    *world_.messagesUnderWay += count;
    const std::int32_t begin = messages_[static_cast<std::size_t>(first)].firstPart;
    const Message& last = messages_[static_cast<std::size_t>(first + count - 1)];
    const std::int32_t end = last.firstPart + last.parts;
    if (begin == end) return;
    TESSERA_CHECK_MPI(MPI_Startall(end - begin, &requests_[static_cast<std::size_t>(begin)]),
                      "the start of " + describe(messages_[static_cast<std::size_t>(first)]) +
                          (count > 1 ? " and the messages after it" : ""));
    for (std::int32_t part = begin; part < end; ++part) {
      underWay_.push_back(requests_[static_cast<std::size_t>(part)]);
      partUnderWay_.push_back(part);
    }
  }

  std::span<const std::int32_t> testSome() override {
    done_.clear();
    if (open_ == 0) return done_;
    const SingleThreadGate::Pass pass(*world_.gate, world_.rank);
    mailboxes_.test(done_);
    for (const std::int32_t n : done_) finish(messages_[static_cast<std::size_t>(n)]);
    if (!underWay_.empty()) testRequests();
    return done_;
  }

 private:
  void testRequests() {
    int count = 0;
    const int result = MPI_Testsome(static_cast<int>(underWay_.size()), underWay_.data(), &count,
                                    found_.data(), statuses_.data());
    const bool single = result == MPI_ERR_IN_STATUS;  // each status has a code of its own
    if (!single) TESSERA_CHECK_MPI(result, "testing " + std::to_string(open_) + " messages");
    if (count <= 0) return;
    for (int n = 0; n < count; ++n) {
      const auto at = static_cast<std::size_t>(n);
      parts_[at] = partUnderWay_[static_cast<std::size_t>(found_[at])];
    }
    takeOut(count);
    for (int n = 0; n < count; ++n) {
      const auto at = static_cast<std::size_t>(n);
      finishPart(parts_[at], statuses_[at], single ? statuses_[at].MPI_ERROR : MPI_SUCCESS);
    }
  }

  struct Message {
    Direction direction = Direction::Send;
    int peer = 0;
    std::int64_t tag = 0;
    std::int64_t bytes = 0;
    std::int32_t firstPart = 0;
    std::int32_t parts = 0;
    std::int32_t missing = 0;  ///< parts under way; 1 where it has none
  };

  /// Of a message that goes by MPI.
  std::span<std::byte> ownPlace(std::int32_t n) const {
    const auto at = static_cast<std::size_t>(n);
    return {memory_.data() + offsets_[at], static_cast<std::size_t>(messages_[at].bytes)};
  }

  void add(const PreparedMessage& wanted) {
    Message message{wanted.direction,
                    wanted.peer,
                    wanted.tag,
                    wanted.bytes,
                    static_cast<std::int32_t>(requests_.size()),
                    0,
                    0};
    if (mailboxes_.has(static_cast<std::int32_t>(messages_.size()))) {
      messages_.push_back(message);
      return;
    }
    std::byte* const memory = memory_.data() + offsets_[messages_.size()];
    const MPI_Comm communicator = MPI_Comm_f2c(world_.communicator);
    forEachPart(message.bytes, world_.maxCount, [&](std::ptrdiff_t offset, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      std::byte* const data = memory + offset;
      const int tag = static_cast<int>(wanted.tag);
      const int result = wanted.direction == Direction::Send
                             ? MPI_Send_init(data, count, MPI_BYTE, wanted.peer, tag, communicator, &request)
                             : MPI_Recv_init(data, count, MPI_BYTE, wanted.peer, tag, communicator, &request);
      TESSERA_CHECK_MPI(result, "preparing " + describe(message));
      requests_.push_back(request);
      messageOfPart_.push_back(static_cast<std::int32_t>(messages_.size()));
      ++message.parts;
    });
    messages_.push_back(message);
  }

  static std::string describe(const Message& message) {
    return (message.direction == Direction::Send ? "a send to rank " : "a receive from rank ") +
           std::to_string(message.peer) + ", tag " + std::to_string(message.tag) + ", " +
           std::to_string(message.bytes) + " bytes";
  }

  Message& messageOf(std::int32_t part) {
    return messages_[static_cast<std::size_t>(messageOfPart_[static_cast<std::size_t>(part)])];
  }

  void finishPart(std::int32_t part, const MPI_Status& status, int code) {
    Message& message = messageOf(part);
    if (code != MPI_SUCCESS || message.direction == Direction::Receive)
      checkPart(message, part, status, code);
    if (message.missing > 1) {
      --message.missing;
      return;
    }
    done_.push_back(messageOfPart_[static_cast<std::size_t>(part)]);
    finish(message);
  }

  void finish(Message& message) {
    message.missing = 0;
    --open_;
    --*world_.messagesUnderWay;
  }

  void checkPart(const Message& message, std::int32_t part, const MPI_Status& status, int code) const {
    const MessageRoute route{message.peer, world_.rank, message.tag};
    if (isTruncation(code)) messageTooLong(route, message.bytes);
    TESSERA_CHECK_MPI(code, describe(message));
    int received = 0;
    TESSERA_CHECK_MPI(MPI_Get_count(&status, MPI_BYTE, &received),
                      "asking for the size of " + describe(message));
    const std::int64_t before = (part - message.firstPart) * world_.maxCount;
    if (received == std::min(world_.maxCount, message.bytes - before)) return;
    sizesDiffer(route, before + received, message.bytes);
  }

  /// The first `count` of `found_` are under way no more.
  void takeOut(int count) {
    std::sort(found_.begin(), found_.begin() + count, std::greater<>());
    for (int n = 0; n < count; ++n) {
      const auto at = static_cast<std::size_t>(found_[static_cast<std::size_t>(n)]);
      underWay_[at] = underWay_.back();
      partUnderWay_[at] = partUnderWay_.back();
      underWay_.pop_back();
      partUnderWay_.pop_back();
    }
  }

  void freeAll() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  const MpiWorld world_;
  MailboxMessages mailboxes_;
  std::vector<std::int64_t> offsets_;  ///< by message: in the memory of those that go by MPI
  PageMemory memory_;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;  ///< by part, those of a message in a row
  std::vector<std::int32_t> messageOfPart_;
  std::vector<MPI_Request> underWay_;  ///< copies of handles, which stay the same for their lives
  std::vector<std::int32_t> partUnderWay_;
  std::int64_t open_ = 0;  ///< messages under way
  // Of one MPI_Testsome:
  std::vector<int> found_;
  std::vector<std::int32_t> parts_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::int32_t> done_;
};

}  // namespace

std::unique_ptr<PreparedMessages> makeMpiMessages(const MpiWorld& world,
                                                  std::span<const PreparedMessage> messages) {
  return std::make_unique<MpiMessages>(world, messages);
}

}  // namespace tessera::detail
