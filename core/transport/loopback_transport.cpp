#include "core/transport/loopback_transport.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "core/text/contracts.hpp"
#include "core/transport/detail/loopback_rank.hpp"
#include "core/transport/detail/message_check.hpp"

namespace tessera {

using detail::Lock;

LoopbackWorld::LoopbackWorld(int ranks, LoopbackOptions options) {
  TESSERA_EXPECT(ranks >= 1, "make a world of at least one rank");
  TESSERA_EXPECT(options.maxDelay >= 0 && options.maxDelay <= 1'000'000,
                 "use a delay of 0 to 1,000,000 tests");
  state_ = std::make_unique<detail::LoopbackState>(ranks, options);
  for (int rank = 0; rank < ranks; ++rank)
    ranks_.push_back(std::make_unique<detail::LoopbackRank>(*state_, rank));
}

LoopbackWorld::~LoopbackWorld() = default;

int LoopbackWorld::size() const { return state_->size; }

Transport& LoopbackWorld::transport(int rank) {
  detail::checkRoot(rank, state_->size);
  return *ranks_[static_cast<std::size_t>(rank)];
}

LoopbackStatistics LoopbackWorld::statistics(int rank) const {
  detail::checkRoot(rank, state_->size);
  const Lock lock(state_->mutex);
  return ranks_[static_cast<std::size_t>(rank)]->statistics();
}

std::int64_t LoopbackWorld::pending() const {
  const Lock lock(state_->mutex);
  std::int64_t count = state_->mail.undelivered();
  for (const auto& rank : ranks_) count += rank->liveRequests();
  return count;
}

std::string LoopbackWorld::describePending() const {
  const Lock lock(state_->mutex);
  return state_->mail.describeUnmatched();
}

void LoopbackWorld::fail(int rank, std::string_view why) {
  const Lock lock(state_->mutex);
  state_->markFailed(rank, why);
}

std::optional<int> LoopbackWorld::failedRank() const {
  const Lock lock(state_->mutex);
  return state_->failedRank < 0 ? std::nullopt : std::optional(state_->failedRank);
}

void LoopbackWorld::end(int rank) {
  const Lock lock(state_->mutex);
  state_->ended[static_cast<std::size_t>(rank)] = true;
  state_->changed.notify_all();
}

void LoopbackWorld::startAgain() {
  const Lock lock(state_->mutex);
  std::fill(state_->ended.begin(), state_->ended.end(), false);
}

namespace {

std::exception_ptr runOne(LoopbackWorld& world, int rank, const std::function<void(Transport&)>& body) {
  try {
    body(world.transport(rank));
    world.end(rank);
    return nullptr;
  } catch (const std::exception& error) {
    world.fail(rank, error.what());
    return std::current_exception();
  }
}

}  // namespace

void launchThreads(int ranks, const std::function<void(int)>& one) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&one, rank] { one(rank); });
  for (std::thread& thread : threads) thread.join();
}

void runRanks(LoopbackWorld& world, const std::function<void(Transport&)>& body, const RankLauncher& launch) {
  world.startAgain();
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(world.size()));
  launch(world.size(),
         [&](int rank) { failures[static_cast<std::size_t>(rank)] = runOne(world, rank, body); });

  const std::size_t first = static_cast<std::size_t>(world.failedRank().value_or(0));
  if (failures[first]) std::rethrow_exception(failures[first]);
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (const std::int64_t pending = world.pending(); pending != 0) {
    throw InternalError(Message("operations are pending after the last call of every rank")
                            .line("open ", pending, " in all")
                            .line(world.describePending(), "fix  test every request until it is complete")
                            .text());
  }
}

}  // namespace tessera
