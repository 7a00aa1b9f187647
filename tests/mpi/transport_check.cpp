// The claims about transports on real MPI. Run by mpiexec.mpich; prints the claim that does not hold.
//   transport_check claims [maxCount]   all claims; with maxCount: by MPI alone, split at so many bytes
//   transport_check mixed               all claims, where odd ranks get no memory to share
//   transport_check disagree            two ranks prepare a message of different sizes
//   transport_check abort CODE          the last rank aborts while the others wait for it
//   transport_check crash               the last rank gets SIGSEGV while the others wait for it
//   transport_check unwind              an exception leaves the MpiSession of the last rank
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "tests/core/transport_claims.hpp"

namespace tessera {
namespace {

void checkAllClaims(MpiTransport& transport, std::size_t longText) {
  for (const claims::Claim& claim : claims::all(longText)) {
    try {
      claim.run(transport);
      claims::require(transport.pending() == 0, "nothing is pending at the end");
    } catch (const std::exception& error) {
      std::cerr << "rank " << transport.rank() << ": " << claim.name << ": " << error.what() << '\n';
      transport.abort(1);
    }
  }
}

void checkClaims(std::int64_t maxCount) {
  MpiTransport transport({.maxCount = maxCount, .commonMemory = maxCount == MpiTransport::kMpiMaxCount});
  const std::size_t longText = maxCount == MpiTransport::kMpiMaxCount ? 3'000'000 : 20'500;
  checkAllClaims(transport, longText);
}

/// A ring of one byte, and whether its receive has two places in turn, as common memory has and MPI has not.
bool isReceivedInCommonMemory(Transport& transport) {
  const int next = (transport.rank() + 1) % transport.size();
  const int previous = (transport.rank() + transport.size() - 1) % transport.size();
  const std::vector<PreparedMessage> ring{{PreparedMessage::Direction::Send, next, 0, 1},
                                          {PreparedMessage::Direction::Receive, previous, 0, 1}};
  const auto messages = transport.prepare(ring);
  std::vector<const std::byte*> places;
  for (int round = 0; round < 3; ++round) {
    messages->start(1);
    messages->start(0);
    for (std::size_t done = 0; done < ring.size();) done += messages->testSome().size();
    places.push_back(messages->memory(1).data());
  }
  claims::require(places[2] == places[0], "a message has two places at most");
  return places[1] != places[0];
}

// Messages between two ranks go through memory of the receiver, unless it gets none: then by MPI.
void checkWhoGetsMemory(bool oddRanksGetNone) {
  MpiTransport transport;
  const bool isOdd = transport.rank() % 2 == 1;
  if (oddRanksGetNone && isOdd) {
    const rlimit none{0, RLIM_INFINITY};
    claims::require(setrlimit(RLIMIT_FSIZE, &none) == 0, "a limit on files can be set");
  }
  const bool expected = transport.size() > 1 && !(oddRanksGetNone && isOdd);
  claims::require(isReceivedInCommonMemory(transport) == expected, "common memory where there can be some");
  checkAllClaims(transport, 20'500);
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  claims::require(setrlimit(RLIMIT_FSIZE, &all) == 0, "the limit can be lifted");
}

void disagree() {
  MpiTransport transport;
  const bool sends = transport.rank() == 0;
  const std::vector<PreparedMessage> wanted{
      {sends ? PreparedMessage::Direction::Send : PreparedMessage::Direction::Receive, sends ? 1 : 0, 5,
       sends ? 8 : 16}};
  try {
    transport.prepare(wanted);
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool isRight = text.find("from rank 0 to rank 1, tag 5") != std::string::npos &&
                         text.find("sent 8 bytes, expected 16 bytes") != std::string::npos;
    if (!isRight) std::cerr << text << '\n';
    transport.abort(isRight ? 3 : 1);
  }
}

// Two transports are two worlds: the same peer and tag in both do not meet.
void checkTransportsAreSeparate() {
  MpiTransport first;
  MpiTransport second;
  const auto text = [](std::string_view bytes) { return std::as_bytes(std::span(bytes)); };
  std::string fromFirst(1, ' ');
  std::string fromSecond(1, ' ');
  const int self = first.rank();
  const std::vector sends{second.send(self, 0, text("2")), first.send(self, 0, text("1"))};
  first.wait(first.receive(self, 0, std::as_writable_bytes(std::span(fromFirst))));
  second.wait(second.receive(self, 0, std::as_writable_bytes(std::span(fromSecond))));
  second.wait(sends[0]);
  first.wait(sends[1]);
  if (fromFirst + fromSecond == "12") return;
  std::cerr << "rank " << self << ": two transports do not mix their messages: does not hold\n";
  first.abort(1);
}

// A step that fails ends with receives under way: they are freed, and take nothing away from whoever comes
// next.
void checkAReceiveUnderWayEndsWithItsSet() {
  MpiTransport transport;
  const int self = transport.rank();
  std::string found(1, ' ');
  const std::string sent = "1";
  {
    const std::vector<PreparedMessage> wanted{{PreparedMessage::Direction::Receive, self, 0, 1}};
    const auto messages = transport.prepare(wanted);
    messages->start(0);
    claims::require(transport.pending() == 1 && messages->testSome().empty(), "the receive is under way");
  }
  claims::require(transport.pending() == 0, "nothing is under way");
  const auto receive = transport.receive(self, 0, std::as_writable_bytes(std::span(found)));
  transport.wait(transport.send(self, 0, std::as_bytes(std::span(sent))));
  transport.wait(receive);
  claims::require(found == "1", "the message comes to the receive that is left");
}

void abortOnTheLastRank(int exitCode) {
  MpiTransport transport;
  if (transport.rank() == transport.size() - 1) {
    std::cout << "last words";  // no newline: the abort has to flush
    transport.abort(exitCode);
  }
  std::string never(1, ' ');
  transport.wait(transport.receive(transport.size() - 1, 0, std::as_writable_bytes(std::span(never))));
}

// Without UCX's handler in between, so that the launcher sees the signal and nothing is printed.
void crashOnTheLastRank() {
  MpiTransport transport;
  if (transport.rank() == transport.size() - 1) std::raise(SIGSEGV);
  transport.barrier();
}

int unwindOnTheLastRank() {
  try {
    const MpiSession session;
    MpiTransport transport;
    if (transport.rank() == transport.size() - 1) throw std::runtime_error("lost");
    transport.barrier();
  } catch (const std::runtime_error&) {
    std::cerr << "an exception came out of the session: does not hold\n";
  }
  return 1;
}

int run(const std::vector<std::string>& arguments) {
  const std::string scenario = arguments.empty() ? "claims" : arguments[0];
  if (scenario == "unwind") return unwindOnTheLastRank();
  const MpiSession session;
  if (scenario == "abort") {
    abortOnTheLastRank(std::stoi(arguments.at(1)));
  } else if (scenario == "crash") {
    crashOnTheLastRank();
  } else if (scenario == "mixed") {
    checkWhoGetsMemory(true);
  } else if (scenario == "disagree") {
    disagree();
  } else {
    checkClaims(arguments.size() > 1 ? std::stoll(arguments[1]) : MpiTransport::kMpiMaxCount);
    checkWhoGetsMemory(false);
    checkTransportsAreSeparate();
    checkAReceiveUnderWayEndsWithItsSet();
  }
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int count, char** arguments) { return tessera::run({arguments + 1, arguments + count}); }
