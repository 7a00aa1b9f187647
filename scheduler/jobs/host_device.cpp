#include <cstring>
#include <map>

#include "scheduler/engine/engine.hpp"
#include "scheduler/engine/make_program.hpp"
#include "scheduler/jobs/detail/task_counts.hpp"

namespace tessera::jobs {
namespace {

constexpr std::int32_t kHostBlocks = 1;
constexpr std::int32_t kHostLanes = 32;

/// Sums of one domain that one slot has added up.
struct HostSums {
  Box box;
  std::vector<std::int64_t> words;
};

/// A task of a job on a thread of the host, and what its slot keeps between tasks.
struct HostSlot {
  TaskInput input;
  TaskWords words;
  const JobKernels* kernels = nullptr;
  std::vector<std::max_align_t> body;
  std::vector<std::max_align_t> scratch;
  std::vector<std::max_align_t> blocks;
  std::map<Sums*, HostSums> sums;
  engine::Ticket<void> ticket;
  bool isBusy = false;
  double begun = 0.0;
  double done = 0.0;
};

/// The kind of task by which the engine's threads run slots; of programs for the host alone.
struct RunSlot {
  static constexpr const char* name = "job_task";
  static constexpr engine::TaskWidth width = engine::TaskWidth::Block;
  struct Arguments {
    HostSlot* slot;
  };
  struct Result {};
  template <class Group>
  static Result run(const Arguments& in, Group&) {
    in.slot->begun = secondsNow();
    in.slot->kernels->runOnHost(in.slot->input, in.slot->body.data());
    in.slot->done = secondsNow();
    return {};
  }
};

const engine::Program& jobProgram() {
  static const engine::Program program = engine::makeProgram<RunSlot>("jobs");
  return program;
}

std::byte* room(std::vector<std::max_align_t>& memory, std::int64_t bytes) {
  const auto count = static_cast<std::size_t>(bytes) / sizeof(std::max_align_t) + 1;
  if (memory.size() < count) memory.resize(count);
  return reinterpret_cast<std::byte*>(memory.data());
}

engine::EngineOptions engineOptions(int threads) {
  engine::EngineOptions options;
  options.form = threads > 0 ? engine::EngineForm::Threads : engine::EngineForm::Stepped;
  options.threads = threads;
  options.capacity = 1024;
  options.memoryBytes = 1 << 20;
  return options;
}

class HostJobDevice final : public JobDevice {
 public:
  explicit HostJobDevice(int threads)
      : name_(threads > 0 ? std::to_string(threads) + (threads == 1 ? " thread" : " threads") : "one thread"),
        slots_(static_cast<std::size_t>(std::max(1, 2 * threads))),
        engine_(jobProgram(), engineOptions(threads)) {}
  const std::string& name() const override { return name_; }
  int slots() const override { return static_cast<int>(slots_.size()); }
  bool isNarrow() const override { return true; }
  const CopyCounts& copies() const override { return copies_; }

  void forget(const DomainBase& domain) override {
    for (HostSlot& slot : slots_)
      std::erase_if(slot.sums, [&](const auto& each) { return each.first == &domain; });
  }

  bool start(int number, const JobTask& task) override {
    HostSlot& slot = slots_[static_cast<std::size_t>(number)];
    slot.kernels = &task.job->kernels();
    slot.input = detail::inputOf(task, kHostBlocks, kHostLanes);
    slot.input.words = &slot.words;
    slot.input.scratch = room(
        slot.scratch, slot.kernels->scratchBytes(slot.input.form, slot.input.unitCount(), slot.input.limits));
    slot.input.blockMemory = room(slot.blocks, kHostBlocks * slot.kernels->blockBytes(kHostLanes));
    detail::resetWords(slot.words, slot.input);
    std::vector<PlacedPart> placed;
    for (const DomainPart& part : task.parts) placed.push_back(place(slot, part));
    task.job->makeBody(TaskData(placed, task.units), room(slot.body, slot.kernels->bodyBytes));
    const engine::Task run = engine::taskOf<RunSlot>(0, {&slot});
    engine_.offer({&run, 1}, {&slot.ticket, 1});
    slot.isBusy = true;
    return true;
  }

  bool poll(int number, TaskEnd& end) override {
    HostSlot& slot = slots_[static_cast<std::size_t>(number)];
    engine::Finished finished;
    engine_.lookAround();
    if (!slot.isBusy || !engine_.fetch(slot.ticket, finished)) return false;
    slot.isBusy = false;
    end = detail::endOf(slot.words);
    end.begun = slot.begun;
    end.done = slot.done;
    return true;
  }

  void finish(const Job& job) override {
    for (HostSlot& slot : slots_) {
      for (const DomainPart& part : job.domains()) {
        if (part.access != JobAccess::Reduce) continue;
        const auto found = slot.sums.find(static_cast<Sums*>(part.domain));
        if (found == slot.sums.end()) continue;
        found->first->add(found->second.box, found->second.words);
        slot.sums.erase(found);
      }
    }
  }

 private:
  static PlacedPart place(HostSlot& slot, const DomainPart& part) {
    const Extent whole = part.domain->box().extent();
    if (part.access != JobAccess::Reduce) {
      return {part.domain, part.domain->at(part.box.lo), part.box.lo, whole.i, whole.i * whole.j, 1.0};
    }
    HostSums& sums = slot.sums[static_cast<Sums*>(part.domain)];
    if (sums.box != part.box) {
      static_cast<Sums*>(part.domain)->add(sums.box, sums.words);
      sums.box = part.box;
      sums.words.assign(static_cast<std::size_t>(part.box.volume()), 0);
    }
    const Extent n = part.box.extent();
    return {part.domain, reinterpret_cast<std::byte*>(sums.words.data()), part.box.lo, n.i, n.i * n.j,
            part.scale};
  }

  std::string name_;
  std::vector<HostSlot> slots_;
  CopyCounts copies_;
  engine::Engine engine_;  ///< after the slots: its threads use them
};

}  // namespace

std::unique_ptr<JobDevice> makeHostJobDevice(int threads) { return std::make_unique<HostJobDevice>(threads); }

}  // namespace tessera::jobs
