#include "tools/bench/taskbench/task_body.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "tools/bench/taskbench/even_hash.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t kBlock = 32;  // numbers that an iteration of `Memory` touches

void spin(std::int64_t nanoseconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::nanoseconds(nanoseconds)) {
  }
}

void runTask(void* body, std::int32_t node) { static_cast<TaskBody*>(body)->run(node); }

std::string placeText(int step, int column) {
  if (step < 0) return "nobody";
  return "(step " + std::to_string(step) + ", column " + std::to_string(column) + ")";
}

}  // namespace

KernelKind kernelOf(std::string_view name) {
  const std::vector<std::string> names{"empty", "compute", "memory", "imbalanced"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<KernelKind>(found - names.begin());
  throw UsageError("there is no kernel '" + std::string(name) + "'" + didYouMeanOneOf(name, names));
}

void expectValid(const Kernel& kernel) {
  if (kernel.iterations < 0) throw UsageError("--iter counts iterations of a task; write --iter 0 or more");
  if (!(kernel.imbalance >= 0.0 && kernel.imbalance <= 2.0)) {
    throw UsageError(
        "--imbalance has to lie in 0 .. 2, since at 2 the shortest task has nothing left to do; write "
        "--imbalance 1");
  }
  const std::int64_t least = kBlock * 8;
  if (kernel.scratchBytes < least || kernel.scratchBytes > std::int64_t{1} << 30) {
    throw UsageError("--scratch has to lie in " + std::to_string(least) +
                     " bytes .. 1 GiB, since an iteration touches " + std::to_string(least) +
                     " bytes; write --scratch 262144");
  }
}

TaskBody::TaskBody(const ReplayGraph& graph, const Kernel& kernel, bool check)
    : graph_(graph), kernel_(kernel), check_(check), last_(static_cast<std::size_t>(graph.slots())) {
  const auto slots = static_cast<std::size_t>(graph.slots());
  numbers_.assign(slots, Numbers{{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}});
  if (kernel.kind == KernelKind::Memory) {
    kernel_.scratchBytes -= kernel_.scratchBytes % (kBlock * 8);
    scratch_.assign(slots * static_cast<std::size_t>(kernel_.scratchBytes / 8), 1.0);
    scratchAt_.assign(slots, 0);
  }
  for (std::int32_t node = 0; node < graph.tasks(); ++node) {
    Stamp& last = last_[static_cast<std::size_t>(graph.slotOf(node))];
    before_.push_back(last);
    last = stampOf(node);
  }
  setIterations(kernel.iterations);
  reset();
}

void TaskBody::setIterations(std::int64_t iterations) {
  kernel_.iterations = iterations;
  work_ = static_cast<double>(iterations) * static_cast<double>(graph_.tasks());
  if (kernel_.kind == KernelKind::Empty) work_ = 0.0;
  if (kernel_.kind != KernelKind::Imbalanced) return;
  iterationsOf_.clear();
  work_ = 0.0;
  for (const TaskPlace place : graph_.places) {
    const double even =
        evenHash(static_cast<std::uint64_t>(place.step), static_cast<std::uint64_t>(place.column), 0, 0);
    const double factor = 1.0 + (even - 0.5) * kernel_.imbalance;
    iterationsOf_.push_back(std::llround(factor * static_cast<double>(iterations)));
    work_ += static_cast<double>(iterationsOf_.back());
  }
}

void TaskBody::reset() { slots_.assign(static_cast<std::size_t>(graph_.slots()), {}); }

TaskCall TaskBody::call() { return {runTask, this}; }

TaskBody::Stamp TaskBody::stampOf(std::int32_t node) const {
  const TaskPlace place = graph_.places[static_cast<std::size_t>(node)];
  return {place.step, place.column};
}

void TaskBody::runKernel(std::int32_t node) {
  // Looked up by those who need it: a spinning task is to touch nothing, as in the peers' programs.
  const auto slot = [&] { return static_cast<std::size_t>(graph_.slotOf(node)); };
  switch (kernel_.kind) {
    case KernelKind::Empty:
      return;
    case KernelKind::Compute:
      return compute(numbers_[slot()], kernel_.iterations);
    case KernelKind::Memory:
      return stream(static_cast<std::int32_t>(slot()), kernel_.iterations);
    case KernelKind::Imbalanced:
      return compute(numbers_[slot()], iterationsOf_[static_cast<std::size_t>(node)]);
    case KernelKind::Spin:
      return spin(kernel_.iterations);
  }
}

void TaskBody::compute(Numbers& numbers, std::int64_t iterations) const {
  Numbers n = numbers;  // in registers
  for (std::int64_t k = 0; k < iterations; ++k) {
    for (double& x : n.values) x = x * 0.999 + 0.001;
  }
  numbers = n;
}

void TaskBody::stream(std::int32_t slot, std::int64_t iterations) {
  const std::int64_t blocks = kernel_.scratchBytes / (kBlock * 8);
  double* scratch = scratch_.data() + slot * blocks * kBlock;
  std::int64_t& at = scratchAt_[static_cast<std::size_t>(slot)];
  for (std::int64_t k = 0; k < iterations; ++k) {
    double* block = scratch + at * kBlock;
    for (std::int64_t i = 0; i < kBlock; ++i) block[i] += 1.0;
    if (++at == blocks) at = 0;
  }
}

void TaskBody::checkAndStamp(std::int32_t node) {
  Slot& slot = slots_[static_cast<std::size_t>(graph_.slotOf(node))];
  const auto expect = [&](const Stamp& found, const Stamp& wanted) {
    if (found == wanted || slot.wrongNode >= 0) return;
    slot.wrongNode = node;
    slot.wanted = wanted;
    slot.found = found;
  };
  for (const std::int32_t input : graph_.inputs.of(node))
    expect(slots_[static_cast<std::size_t>(graph_.slotOf(input))].stamp, stampOf(input));
  expect(slot.stamp, before_[static_cast<std::size_t>(node)]);
  slot.stamp = stampOf(node);
  ++slot.runs;
}

std::string TaskBody::fault() const {
  if (!check_) return {};
  std::int64_t runs = 0;
  const Slot* first = nullptr;
  for (const Slot& slot : slots_) {
    runs += slot.runs;
    if (slot.wrongNode >= 0 && (first == nullptr || slot.wrongNode < first->wrongNode)) first = &slot;
  }
  if (first != nullptr) {
    const Stamp task = stampOf(first->wrongNode);
    return "task " + placeText(task.step, task.column) + " found the output of " +
           placeText(first->found.step, first->found.column) + " where that of " +
           placeText(first->wanted.step, first->wanted.column) + " should be";
  }
  if (runs != graph_.tasks())
    return std::to_string(runs) + " tasks have run of " + std::to_string(graph_.tasks());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].stamp != last_[s])
      return "the last output of column " + std::to_string(last_[s].column) + " is not there";
  }
  return {};
}

}  // namespace tessera::bench
