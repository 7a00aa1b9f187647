#include "scheduler/virtual_schedule.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "scheduler/diagnostics/stall_report.hpp"
#include "scheduler/executor/fiber.hpp"

namespace tessera {

std::uint64_t SeededNumbers::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

VirtualSchedule::VirtualSchedule(int ranks, std::uint64_t seed, std::int64_t stallAfter)
    : ranks_(ranks),
      seed_(seed),
      stallAfter_(stallAfter),
      numbers_(seed),
      tells_(static_cast<std::size_t>(ranks)) {
  TESSERA_EXPECT(ranks >= 1, "simulate at least one rank");
}

VirtualSchedule::~VirtualSchedule() = default;

void VirtualSchedule::run(const std::function<void(int rank)>& body) {
  TESSERA_EXPECT(fibers_.empty(), "end one run of a schedule before the next");
  for (int rank = 0; rank < ranks_; ++rank) {
    fibers_.push_back(std::make_unique<detail::Fiber>([&body, rank] { body(rank); }));
  }
  present_.resize(fibers_.size());
  std::iota(present_.begin(), present_.end(), std::size_t{0});
  for (current_ = draw(); !present_.empty();) {
    fibers_[current_]->enter();
    if (!fibers_[current_]->ended()) {
      current_ = next_;
      continue;
    }
    present_.erase(std::find(present_.begin(), present_.end(), current_));
    passes_ = 0;
    if (!present_.empty()) current_ = draw();
  }
  fibers_.clear();
}

std::string VirtualSchedule::stalled() const {
  std::vector<detail::RankWait> waits;
  Message page("deadlock: each simulated rank waits for something that does not arrive");
  page.line("seed ", seed_);
  for (const std::size_t rank : present_) {
    page.line("rank ", rank, ": ", tells_[rank] ? tells_[rank](waits) : "is between two steps");
  }
  if (const std::string cycle = detail::rankCycle(waits); !cycle.empty()) page.line(cycle);
  page.line("fix  run again with this seed to find the missing message or collective");
  return page.text();
}

VirtualSchedule::Account::Account(VirtualSchedule& schedule, int rank, Tell tell)
    : place_(schedule.tells_[static_cast<std::size_t>(rank)]) {
  place_ = std::move(tell);
}

VirtualSchedule::Account::~Account() { place_ = nullptr; }

void VirtualSchedule::pass() {
  TESSERA_EXPECT(!fibers_.empty(), "pass inside `run` alone");
  if (++passes_ > stallAfter_) {
    passes_ = 0;
    throw InternalError(stalled());
  }
  next_ = draw();
  if (next_ != current_) fibers_[current_]->leave();
}

void runRanks(LoopbackWorld& world, VirtualSchedule& schedule, const std::function<void(Transport&)>& body) {
  runRanks(world, body, [&schedule](int, const std::function<void(int)>& one) { schedule.run(one); });
}

}  // namespace tessera
