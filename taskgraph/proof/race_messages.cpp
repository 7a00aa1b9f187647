#include "taskgraph/proof/race_messages.hpp"

#include "core/text/error.hpp"

namespace tessera::detail {
namespace {

using Wire = std::tuple<Rank, Rank, std::int64_t>;  ///< from, to, tag

std::string wireText(const Wire& wire) {
  return "from rank " + std::to_string(std::get<0>(wire)) + " to rank " + std::to_string(std::get<1>(wire)) +
         ", tag " + std::to_string(std::get<2>(wire));
}

}  // namespace

RaceMessages::RaceMessages(std::span<const CompiledGraphs> ranks, std::size_t plan, RaceFaults& faults)
    : ranks_(ranks), plan_(plan) {
  struct Ends {
    std::vector<std::int32_t> sends;
    std::vector<std::int32_t> receives;
  };
  std::map<Wire, Ends> wires;
  for (Rank r = 0; r < static_cast<Rank>(ranks.size()); ++r) {
    const CompiledGraph& g = graph(r);
    for (std::size_t n = 0; n < g.sends.size(); ++n) {
      wires[{r, g.sends[n].peer, g.sends[n].tag}].sends.push_back(static_cast<std::int32_t>(n));
    }
    for (std::size_t n = 0; n < g.receives.size(); ++n) {
      wires[{g.receives[n].peer, r, g.receives[n].tag}].receives.push_back(static_cast<std::int32_t>(n));
    }
  }
  for (const auto& [wire, ends] : wires) {
    const auto [from, to, tag] = wire;
    if (ends.sends.size() != 1 || ends.receives.size() != 1) {
      faults.add(Message("a message does not have one partner")
                     .line("message  ", wireText(wire))
                     .line("sends    ", ends.sends.size(), ", receives ", ends.receives.size())
                     .text());
      continue;
    }
    const std::int64_t sent = graph(from).sends[static_cast<std::size_t>(ends.sends[0])].bytes;
    const std::int64_t expected = graph(to).receives[static_cast<std::size_t>(ends.receives[0])].bytes;
    if (sent != expected) {
      faults.add(Message("the two sides of a message differ in length")
                     .line("message  ", wireText(wire))
                     .line("bytes    ", sent, " are sent, ", expected, " expected")
                     .text());
    }
    pairs_.push_back({from, ends.sends[0], to, ends.receives[0]});
    sendOf_[{to, ends.receives[0]}] = {from, ends.sends[0]};
  }
}

std::optional<PackPlace> RaceMessages::originOf(Rank rank, std::int32_t receive, std::int64_t offset,
                                                std::int64_t bytes) const {
  for (std::size_t hops = 0; hops <= ranks_.size(); ++hops) {
    const auto partner = sendOf_.find({rank, receive});
    if (partner == sendOf_.end()) return std::nullopt;
    rank = partner->second.first;
    const Range items = graph(rank).sends[static_cast<std::size_t>(partner->second.second)].items;
    std::int64_t at = items.begin;
    const auto holds = [&](const PackItem& p) {
      return p.offset <= offset && offset + bytes <= p.offset + p.bytes;
    };
    while (at < items.end && !holds(item({rank, at}))) ++at;
    if (at == items.end) return std::nullopt;
    const PackItem& found = item({rank, at});
    if (found.source >= 0) {
      const bool whole = found.offset == offset && found.bytes == bytes;
      return whole ? std::optional<PackPlace>({rank, at}) : std::nullopt;
    }
    receive = found.forward;
    offset = found.forwardOffset + offset - found.offset;
  }
  return std::nullopt;
}

}  // namespace tessera::detail
