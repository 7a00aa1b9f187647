// Ranks of MPI each lose the message that the next one waits for. Ends with 7 where the page of the first
// rank to give up names the cycle of them all, else with 1.
#include <cstdio>
#include <string>

#include "core/text/error.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "tests/scheduler/ring_of_ranks.hpp"

int main() {
  const tessera::MpiSession mpi;
  tessera::MpiTransport transport;
  const int ranks = transport.size();
  const tessera::test::RingOfRanks ring(ranks);
  const auto executor = tessera::makeThreadsExecutor(1, {.stallSeconds = 1.0});
  std::string page;
  try {
    ring.run(transport, *executor, /*loses=*/true, [&] { transport.barrier(); });
  } catch (const tessera::InternalError& error) {
    page = error.message();
  }
  bool isNamed = page.find("these ranks are in a deadlock:") != std::string::npos;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string wait = "rank " + std::to_string(rank) + " waits for rank " +
                             std::to_string((rank + 1) % ranks) + " (a message";
    isNamed = isNamed && page.find(wait) != std::string::npos;
  }
  if (!isNamed) std::fprintf(stderr, "no circle in: %s\n", page.c_str());
  transport.abort(isNamed ? 7 : 1);
}
