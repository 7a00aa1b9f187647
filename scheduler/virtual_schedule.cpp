#include "scheduler/virtual_schedule.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace tessera {
std::uint64_t SeededNumbers::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

VirtualSchedule::VirtualSchedule(int ranks, std::uint64_t seed, std::int64_t stallAfter)
    : turns_(static_cast<std::size_t>(ranks)),
      seed_(seed),
      stallAfter_(stallAfter),
      numbers_(seed),
      expected_(ranks) {}

void VirtualSchedule::enter(int rank) {
  std::unique_lock lock(mutex_);
  present_.push_back(rank);
  if (--expected_ == 0) {
    std::sort(present_.begin(), present_.end());  // threads come in any order
    chooseNext();
  }
  turns_[static_cast<std::size_t>(rank)].wait(lock, [&] { return current_ == rank; });
}

void VirtualSchedule::leave(int rank) {
  const std::lock_guard lock(mutex_);
  present_.erase(std::find(present_.begin(), present_.end(), rank));
  passes_ = 0;
  if (!present_.empty()) chooseNext();
}

void VirtualSchedule::pass() {
  std::unique_lock lock(mutex_);
  if (++passes_ > stallAfter_) {
    passes_ = 0;
    throw InternalError(
        Message("no simulated rank can go on: each waits for something that does not come")
            .line("seed ", seed_)
            .line("fix  replay with this seed, and see which message or collective is missing")
            .text());
  }
  const int me = current_;
  chooseNext();
  turns_[static_cast<std::size_t>(me)].wait(lock, [&] { return current_ == me; });
}

void VirtualSchedule::gotOn() {
  const std::lock_guard lock(mutex_);
  passes_ = 0;
}

void VirtualSchedule::chooseNext() {
  current_ = present_[numbers_.below(present_.size())];
  turns_[static_cast<std::size_t>(current_)].notify_one();
}

}  // namespace tessera
