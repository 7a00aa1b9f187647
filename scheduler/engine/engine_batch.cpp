#include "scheduler/engine/engine_batch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "core/text/error.hpp"

namespace tessera::engine {
namespace {

/// Tasks that a look for ends visits, so that a look stays short beside many thousand tasks.
constexpr std::size_t kLooksAtOnce = 256;
constexpr std::uint64_t kQuietNanos = 200'000'000;
constexpr std::uint64_t kLongestEndNanos = 120'000'000'000;

}  // namespace

EngineBatch::EngineBatch(Engine& engine, std::string name) : engine_(&engine), name_(std::move(name)) {
  if (engine.options().mode != EngineMode::Persistent) {
    throw UsageError("a batch needs an engine that stays; give EngineOptions::mode as Persistent");
  }
}

EngineBatch::~EngineBatch() {
  for (const Open& each : open_) engine_->cancel(each.ticket);
  const std::uint64_t begin = nowNanos();
  try {
    while (!open_.empty()) {
      if (fetch() || engine_->lookAround()) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (nowNanos() - begin < kLongestEndNanos) continue;
      std::cerr
          << "tessera: error: tasks of an engine do not end though they were taken back; the program ends "
             "now\n  "
          << text() << "\n  fix  a body that loops for long asks Group::stopAsked\n";
      std::_Exit(6);
    }
  } catch (const Error&) {  // The engine itself has ended, and its tasks with it.
  }
  releaseMemory();
}

void EngineBatch::addTask(Task task, std::function<void(const Finished&)> take) {
  task.deadlineMicros = deadlineMicros_;
  tasks_.push_back(task);
  takes_.push_back(std::move(take));
  finished_.emplace_back();
}

void* EngineBatch::allocate(std::size_t bytes) {
  memory_.reserve(memory_.size() + 1);
  memory_.push_back(engine_->allocate(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))));
  return memory_.back();
}

void* EngineBatch::place(void* values, std::size_t bytes, bool in, bool out) {
  if (engine_->options().form != EngineForm::Cuda) return values;
  void* there = allocate(bytes);
  if (in) engine_->copyIn(there, values, static_cast<std::int64_t>(bytes));
  if (out) outputs_.push_back({static_cast<std::byte*>(values), there, bytes});
  return there;
}

bool EngineBatch::handIn() {
  if (handedIn_ == tasks_.size()) return false;
  const std::span<const Task> rest(tasks_.data() + handedIn_, tasks_.size() - handedIn_);
  std::vector<Ticket<void>> tickets(rest.size());
  const auto count = static_cast<std::size_t>(engine_->offer(rest, tickets));
  for (std::size_t n = 0; n < count; ++n) open_.push_back({tickets[n], handedIn_ + n});
  handedIn_ += count;
  return count > 0;
}

bool EngineBatch::fetch() {
  bool gotOn = false;
  for (std::size_t looks = std::min(open_.size(), kLooksAtOnce); looks > 0 && !open_.empty(); --looks) {
    if (look_ >= open_.size()) look_ = 0;
    Open& each = open_[look_];
    if (!engine_->fetch(each.ticket, finished_[each.task])) {
      ++look_;
      continue;
    }
    each = open_.back();
    open_.pop_back();
    ++ended_;
    gotOn = true;
  }
  return gotOn;
}

void EngineBatch::watch(bool gotOn) {
  const std::uint64_t now = nowNanos();
  if (gotOn || quietSince_ == 0) {
    quietSince_ = now;
    running_.clear();
  } else if (now - quietSince_ > kQuietNanos) {
    running_ = engine_->running();
    quietSince_ = now;
  }
}

bool EngineBatch::proceed() {
  if (ended_ < size()) {
    const bool more = handIn();
    const bool fetched = fetch();
    const bool gotOn = more || fetched || engine_->lookAround();
    watch(gotOn);
  }
  if (ended_ < size()) return false;
  finish();
  return true;
}

void EngineBatch::finish() {
  expectAllDone();
  for (const Copy& copy : outputs_) {
    engine_->copyOut(copy.here, copy.there, static_cast<std::int64_t>(copy.bytes));
  }
  outputs_.clear();
  for (std::size_t n = 0; n < takes_.size(); ++n) {
    if (takes_[n]) std::exchange(takes_[n], nullptr)(finished_[n]);
  }
  releaseMemory();
}

void EngineBatch::expectAllDone() const {
  const auto bad = [](const Finished& end) { return end.status != TaskStatus::Done; };
  const auto count = std::count_if(finished_.begin(), finished_.end(), bad);
  if (count == 0) return;
  const auto first = std::find_if(finished_.begin(), finished_.end(), bad);
  const auto& kinds = engine_->program().kinds;
  throw InternalError(
      Message(std::to_string(count) + " of " + std::to_string(size()) +
              " tasks of an engine did not end well: " + name_)
          .line("first  task ", first - finished_.begin(), " of them, kind ",
                first->kind < kinds.size() ? kinds[first->kind].name : "unknown", ": ",
                statusText(first->status),
                first->status == TaskStatus::Failed ? " with code " + std::to_string(first->code) : "")
          .line("fix    the code is the one that the kind's body gave to Group::fail; a late task needs a "
                "longer "
                "deadline")
          .text());
}

std::string EngineBatch::text() const {
  std::string text =
      std::to_string(ended_) + " of " + std::to_string(size()) + " tasks of an engine have ended";
  if (handedIn_ < tasks_.size())
    text += ", and " + std::to_string(tasks_.size() - handedIn_) + " wait for room in it";
  const auto oldest = std::max_element(running_.begin(), running_.end(),
                                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  if (oldest == running_.end()) return text;
  return text + "; a worker has been at a task of the kind " + oldest->kind + ", first argument " +
         std::to_string(oldest->firstArgument) + ", for " + std::to_string(oldest->seconds) + " s";
}

void EngineBatch::releaseMemory() noexcept {
  try {
    for (void* block : memory_) engine_->release(block);
  } catch (const Error&) {  // Of an engine that has ended.
  }
  memory_.clear();
}

}  // namespace tessera::engine
