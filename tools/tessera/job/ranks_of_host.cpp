#include "tools/tessera/job/ranks_of_host.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

#include "core/text/error.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"

namespace tessera {

std::vector<std::string> linesOfAllRanks(Transport& transport, const std::string& line) {
  std::string joined;
  for (const std::string& other : transport.gather(line, 0)) joined += other + "\n";
  transport.broadcast(joined, 0);
  std::vector<std::string> lines;
  std::istringstream in(joined);
  for (std::string one; std::getline(in, one);) lines.push_back(one);
  return lines;
}

WorkerPlan workersOfThisRank(Transport& transport, const RunRequest& request) {
  if (request.executor != ExecutorKind::Threads) return {};
  const AllowedCores allowed = allowedCores();
  const std::string mine = hostName() + " " + asText(allowed.cores);
  const std::vector<std::string> all = linesOfAllRanks(transport, mine);
  const auto before = std::count(all.begin(), all.begin() + transport.rank(), mine);
  const auto sharers = std::count(all.begin(), all.end(), mine);
  return planWorkers(allowed, static_cast<int>(before), static_cast<int>(sharers), request.threads,
                     request.bind);
}

void requireFewThreads(int threads) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int most = std::max(64, 8 * cores);
  if (threads <= most) return;
  throw UsageError(
      Message("--threads " + std::to_string(threads) + " is many times more than this rank can use")
          .line("found  ", cores, " core(s) that it may use; at most ", most, " threads are taken")
          .line("fix    leave out --threads, or give the number of cores")
          .text());
}

PlaceOnHost placeOnHost(Transport& transport, const RunRequest& request, const std::vector<int>& cores) {
  PlaceOnHost place;
  const std::string host = hostName();
  std::string mine = host;
  together(transport, [&] {
    for (const int distance : distancesTo(request.devices, cores)) {
      mine += " " + std::to_string(distance);
    }
  });
  const std::vector<std::string> all = linesOfAllRanks(transport, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::istringstream line(all[rank]);
    std::string name;
    line >> name;
    if (name != host) continue;
    if (static_cast<int>(rank) < transport.rank()) ++place.before;
    std::vector<int>& distances = place.distances.emplace_back();
    for (int distance = 0; line >> distance;) distances.push_back(distance);
  }
  const std::vector<int> own = place.distances[static_cast<std::size_t>(place.before)];
  const bool alike = std::all_of(place.distances.begin(), place.distances.end(),
                                 [&](const auto& row) { return row.size() == own.size(); });
  if (alike) return place;
  // The launcher has shown each rank other GPUs: what a rank sees is its own.
  place.distances = {own};
  place.before = 0;
  return place;
}

}  // namespace tessera
