// The claims about transports on real MPI. Run by mpiexec.mpich; prints the claim that does not hold.
//   transport_check claims [maxCount]   all claims, with messages split at maxCount bytes
//   transport_check abort CODE          the last rank aborts while the others wait for it
//   transport_check crash               the last rank gets SIGSEGV while the others wait for it
//   transport_check unwind              an exception leaves the MpiSession of the last rank
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/mpi_session.hpp"
#include "core/mpi_transport.hpp"
#include "tests/core/transport_claims.hpp"

namespace tessera {
namespace {

void checkClaims(std::int64_t maxCount) {
  MpiTransport transport(maxCount);
  const std::size_t longText = maxCount == MpiTransport::kMpiMaxCount ? 3'000'000 : 20'500;
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
  std::string lost(1, ' ');
  std::string found(1, ' ');
  const std::string sent = "1";
  {
    const std::vector<PreparedMessage> wanted{
        {PreparedMessage::Way::Receive, self, 0, std::as_writable_bytes(std::span(lost))}};
    const auto messages = transport.prepare(wanted);
    messages->start(0);
    claims::require(transport.pending() == 1 && messages->testSome().empty(), "the receive is under way");
  }
  claims::require(transport.pending() == 0, "nothing is under way");
  const auto receive = transport.receive(self, 0, std::as_writable_bytes(std::span(found)));
  transport.wait(transport.send(self, 0, std::as_bytes(std::span(sent))));
  transport.wait(receive);
  claims::require(found == "1" && lost == " ", "the message comes to the receive that is left");
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
  } else {
    checkClaims(arguments.size() > 1 ? std::stoll(arguments[1]) : MpiTransport::kMpiMaxCount);
    checkTransportsAreSeparate();
    checkAReceiveUnderWayEndsWithItsSet();
  }
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int count, char** arguments) { return tessera::run({arguments + 1, arguments + count}); }
