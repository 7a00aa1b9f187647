#include <chrono>
#include <iostream>
#include <sys/resource.h>

#include "core/error.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/core_schema.hpp"
#include "tools/tessera/model.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kTagBound = (std::int64_t{1} << 28) - 1;  ///< of MPICH

std::size_t positionOf(const CompiledGraphs& graphs, const std::string& plan) {
  std::string names;
  for (std::size_t p = 0; p < graphs.plans.size(); ++p) {
    const std::string& name = graphs.plans[p].plan->name();
    if (name == plan) return p;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw UsageError("this deck has no plan \"" + plan + "\"; give --plan one of: " + names);
}

}  // namespace

int graphCommand(const GraphRequest& request, const ComponentRegistry& registry) {
  if (request.rank >= request.ranks) {
    throw UsageError("there is no rank " + std::to_string(request.rank) + " among " +
                     std::to_string(request.ranks) + "; ranks count from 0, so give --rank " +
                     std::to_string(request.ranks - 1) + " or less");
  }
  if (request.unfolded && request.format == GraphFormat::Text) {
    throw UsageError("--unfolded is too long to read; add --format json, dot or graphml");
  }
  Deck deck = Deck::fromFile(request.deck);
  for (const std::string& assignment : request.overrides) deck.set(assignment);
  const Findings findings = checkDeck(deck, registry);
  findings.throwIfErrors();
  if (!findings.empty()) std::cerr << findings.text() << std::endl;

  const Model model(deck, registry);
  const auto start = std::chrono::steady_clock::now();
  const CompiledGraphs graphs = model.compile(request.rank, request.ranks, kTagBound);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << dumpGraph(
                   graphs, positionOf(graphs, request.plan), request.format,
                   {request.ranks, request.unfolded, spent.count(), usage.ru_maxrss * std::int64_t{1024}})
            << std::flush;
  return 0;
}

}  // namespace tessera
