#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "scheduler/jobs/detail/device_parts.hpp"
#include "scheduler/jobs/detail/task_counts.hpp"

namespace tessera::jobs {
namespace {

using detail::DeviceParts;

constexpr std::int32_t kGenerationsAtOnce = 8;
constexpr std::int32_t kEmulatedBlocks = 3;
/// Of a processor, until the kernels of a task have told.
constexpr std::int32_t kFirstBlocks = 4;

/// Sums of one domain that one slot has added up, on the device.
struct DeviceSums {
  Box box;
  std::byte* memory = nullptr;
};

/// A task in flight, and what its slot keeps between tasks.
struct BackendSlot {
  DeviceStream stream;
  DeviceEvent done;
  TaskWords* hostWords = nullptr;  ///< pinned
  TaskWords* words = nullptr;
  JobTask task;
  TaskInput input;
  std::vector<std::byte> launch;
  std::vector<DeviceParts::Part*> parts;  ///< by part of the task; nullptr for sums
  std::map<Sums*, DeviceSums> sums;
  std::byte* scratch = nullptr;
  bool isBusy = false;
  bool isCopyingOut = false;
};

class BackendJobDevice final : public JobDevice {
 public:
  BackendJobDevice(std::unique_ptr<DeviceBackend> device, const BackendJobOptions& options)
      : device_(std::move(device)),
        options_(options),
        name_(device_->info().name + " " + std::to_string(device_->info().number)),
        parts_(bound(*device_), options.memoryBytes),
        slots_(static_cast<std::size_t>(std::max(1, options.window))) {
    if (options_.lanes <= 0) options_.lanes = isEmulated() ? 32 : 128;
    blocks_ = options_.blocks > 0 ? options_.blocks
              : isEmulated()      ? kEmulatedBlocks
                                  : kFirstBlocks * std::max(1, device_->info().processors);
    for (BackendSlot& slot : slots_) makeSlot(slot);
  }
  ~BackendJobDevice() override {
    for (BackendSlot& slot : slots_) releaseSlot(slot);
    if (first_.words != nullptr) releaseSlot(first_);
  }

  const std::string& name() const override { return name_; }
  int slots() const override { return static_cast<int>(slots_.size()); }
  std::int64_t width() const override { return std::int64_t{blocks_} * options_.lanes; }
  const CopyCounts& copies() const override { return copies_; }
  void bindThread() override { device_->bindThread(); }
  void forget(const DomainBase& domain) override {
    parts_.forget(domain);
    for (BackendSlot& slot : slots_) {
      for (auto sums = slot.sums.begin(); sums != slot.sums.end();) {
        const auto each = sums++;
        if (each->first != &domain) continue;
        parts_.release(each->second.memory);
        slot.sums.erase(each);
      }
    }
  }

  void prepare(const Job& job) override {
    for (const JobForm form : job.forms()) {
      if (!prepared_.insert({&job.kernels(), form}).second) continue;
      // A task without units: it ends at once.
      if (first_.words == nullptr) makeSlot(first_);
      first_.task = {};
      first_.task.job = &job;
      first_.task.form = form;
      first_.input = detail::inputOf(first_.task, blocksOf(first_.task), options_.lanes);
      if (findRoom(first_)) {
        launchFirst(first_, std::vector<std::byte>(static_cast<std::size_t>(job.kernels().launchBytes)));
        device_->synchronize(first_.stream);
      }
      leave(first_);
    }
  }

  bool start(int number, const JobTask& task) override {
    BackendSlot& slot = slots_[static_cast<std::size_t>(number)];
    slot.task = task;
    slot.input = detail::inputOf(task, blocksOf(task), options_.lanes);
    if (!findRoom(slot)) {
      device_->synchronize(slot.stream);  // copies that were begun go to memory that others may get
      leave(slot);
      return false;
    }
    std::vector<PlacedPart> placed;
    for (std::size_t n = 0; n < task.parts.size(); ++n) placed.push_back(place(slot, n));
    const JobKernels& kernels = task.job->kernels();
    std::vector<std::byte> bytes(static_cast<std::size_t>(kernels.launchBytes));
    task.job->makeBody(TaskData(placed, task.units), bytes.data() + kernels.bodyOffset);
    slot.isBusy = true;
    launchFirst(slot, std::move(bytes));
    return true;
  }

  bool poll(int number, TaskEnd& end) override {
    BackendSlot& slot = slots_[static_cast<std::size_t>(number)];
    if (!slot.isBusy || !device_->isDone(slot.done)) return false;
    end = detail::endOf(*slot.hostWords);
    if (!slot.isCopyingOut) {
      const std::int64_t next =
          slot.hostWords->counts[slot.input.generation % 2].load(std::memory_order_relaxed);
      if (slot.input.form == JobForm::Wavefront && next > 0 && end.fault == TaskFault::None) {
        launch(slot);
        return false;
      }
      copyOut(slot);
      return false;
    }
    leave(slot);
    slot.isBusy = false;
    return true;
  }

  void finish(const Job& job) override {
    for (BackendSlot& slot : slots_) {
      for (const DomainPart& part : job.domains()) {
        if (part.access != JobAccess::Reduce) continue;
        const auto found = slot.sums.find(static_cast<Sums*>(part.domain));
        if (found == slot.sums.end()) continue;
        merge(slot, *found->first, found->second);
        slot.sums.erase(found);
      }
    }
  }

 private:
  static DeviceBackend& bound(DeviceBackend& device) {
    device.bindThread();
    return device;
  }

  void makeSlot(BackendSlot& slot) {
    slot.stream = device_->makeStream();
    slot.done = device_->makeEvent();
    slot.hostWords = new (device_->allocate(DeviceSpace::PinnedHost, sizeof(TaskWords))) TaskWords();
    slot.words = static_cast<TaskWords*>(device_->allocate(DeviceSpace::Device, sizeof(TaskWords)));
  }
  void releaseSlot(BackendSlot& slot) {
    try {
      device_->synchronize(slot.stream);
    } catch (const Error&) {  // a lost device has said so before
    }
    device_->release(DeviceSpace::PinnedHost, slot.hostWords);
    device_->release(DeviceSpace::Device, slot.words);
  }

  bool isEmulated() const { return device_->info().architecture.empty(); }

  /// As many as a GPU has room for at a time: each of its processors hides waits by what else it has.
  std::int32_t blocksOf(const JobTask& task) {
    if (options_.blocks > 0 || isEmulated()) return blocks_;
    const auto [found, isNew] = blocksOf_.try_emplace({&task.job->kernels(), task.form}, 0);
    if (isNew) {
      const std::int32_t each = task.job->kernels().blocksOfProcessor(task.form, options_.lanes);
      found->second = (each > 0 ? each : kFirstBlocks) * std::max(1, device_->info().processors);
    }
    return blocks_ = found->second;
  }

  bool findRoom(BackendSlot& slot) {
    const JobTask& task = slot.task;
    slot.parts.assign(task.parts.size(), nullptr);
    const std::int64_t bytes =
        task.job->kernels().scratchBytes(slot.input.form, slot.input.unitCount(), slot.input.limits);
    if (bytes > 0 && (slot.scratch = parts_.allocate(bytes)) == nullptr) return false;
    for (std::size_t n = 0; n < task.parts.size(); ++n) {
      const DomainPart& part = task.parts[n];
      if (part.access == JobAccess::Reduce) {
        if (!findSums(slot, part)) return false;
        continue;
      }
      const bool isRead = part.isRead();
      slot.parts[n] = isRead ? parts_.find(*part.domain, task.versions[n], part.box) : nullptr;
      const bool isHere = slot.parts[n] != nullptr;
      if (!isHere) slot.parts[n] = parts_.make(*part.domain, task.versions[n], part.box);
      if (slot.parts[n] == nullptr) return false;
      if (isHere) {
        device_->wait(slot.stream, slot.parts[n]->ready);
      } else {
        if (isRead) copyIn(slot, part, *slot.parts[n]);
        device_->record(slot.parts[n]->ready, slot.stream);
      }
    }
    return true;
  }

  void copyIn(BackendSlot& slot, const DomainPart& part, DeviceParts::Part& there) {
    copies_.toDevice += detail::copyPart(*device_, slot.stream, CopyDirection::HostToDevice, *part.domain,
                                         part.box, there.memory);
    copies_.toDeviceBytes += part.box.volume() * part.domain->elementBytes();
  }

  bool findSums(BackendSlot& slot, const DomainPart& part) {
    auto& sums = *static_cast<Sums*>(part.domain);
    const auto found = slot.sums.find(&sums);
    if (found != slot.sums.end()) {
      if (found->second.box == part.box) return true;
      merge(slot, sums, found->second);
      slot.sums.erase(found);
    }
    std::byte* memory = parts_.allocate(part.box.volume() * part.domain->elementBytes());
    if (memory == nullptr) return false;
    slot.sums[&sums] = {part.box, memory};
    device_->fill(slot.stream, memory, 0, part.box.volume() * part.domain->elementBytes());
    return true;
  }

  PlacedPart place(BackendSlot& slot, std::size_t n) {
    const DomainPart& part = slot.task.parts[n];
    const Extent extent = part.box.extent();
    std::byte* memory = part.access == JobAccess::Reduce
                            ? slot.sums.at(static_cast<Sums*>(part.domain)).memory
                            : slot.parts[n]->memory;
    return {part.domain, memory, part.box.lo, extent.i, extent.i * extent.j, part.scale};
  }

  /// An emulated device runs its blocks on the host, with memory of the slot.
  void makeBlockMemory(BackendSlot& slot) {
    if (!isEmulated()) return;
    const std::int64_t bytes = slot.input.blocks * slot.task.job->kernels().blockBytes(slot.input.lanes);
    auto& memory = blockMemory_[&slot];
    const auto count = static_cast<std::size_t>(bytes) / sizeof(std::max_align_t) + 1;
    if (memory.size() < count) memory.resize(count);
    slot.input.blockMemory = reinterpret_cast<std::byte*>(memory.data());
  }

  /// `bytes`: what the kernel gets, with the body in it.
  void launchFirst(BackendSlot& slot, std::vector<std::byte> bytes) {
    slot.launch = std::move(bytes);
    slot.input.words = slot.words;
    slot.input.scratch = slot.scratch;
    makeBlockMemory(slot);
    detail::resetWords(*slot.hostWords, slot.input);
    device_->copy(slot.stream, CopyDirection::HostToDevice, slot.words, slot.hostWords, sizeof(TaskWords));
    slot.input.generations = kGenerationsAtOnce;
    launch(slot);
  }

  void launch(BackendSlot& slot) {
    std::memcpy(slot.launch.data(), &slot.input, sizeof(slot.input));
    const JobKernels& kernels = slot.task.job->kernels();
    device_->launch(slot.stream, {slot.task.job->name().c_str(), kernels.launch, slot.launch});
    device_->copy(slot.stream, CopyDirection::DeviceToHost, slot.hostWords, slot.words, sizeof(TaskWords));
    device_->record(slot.done, slot.stream);
    if (slot.input.form == JobForm::Wavefront) slot.input.generation += slot.input.generations;
  }

  void copyOut(BackendSlot& slot) {
    slot.isCopyingOut = true;
    for (std::size_t n = 0; n < slot.task.parts.size(); ++n) {
      const DomainPart& part = slot.task.parts[n];
      if (!part.isWritten()) continue;
      copies_.fromDevice += detail::copyPart(*device_, slot.stream, CopyDirection::DeviceToHost, *part.domain,
                                             part.box, slot.parts[n]->memory);
      copies_.fromDeviceBytes += part.box.volume() * part.domain->elementBytes();
      slot.parts[n]->version = slot.task.nextVersions[n];
    }
    device_->record(slot.done, slot.stream);
  }

  void leave(BackendSlot& slot) {
    for (DeviceParts::Part*& part : slot.parts) {
      if (part != nullptr) parts_.leave(*part);
      part = nullptr;
    }
    if (slot.scratch != nullptr) parts_.release(slot.scratch);
    slot.scratch = nullptr;
    slot.isCopyingOut = false;
  }

  void merge(BackendSlot& slot, Sums& sums, const DeviceSums& more) {
    std::vector<std::int64_t> words(static_cast<std::size_t>(more.box.volume()));
    const auto bytes = static_cast<std::int64_t>(words.size() * sizeof(std::int64_t));
    device_->copy(slot.stream, CopyDirection::DeviceToHost, words.data(), more.memory, bytes);
    device_->synchronize(slot.stream);
    ++copies_.fromDevice;
    copies_.fromDeviceBytes += bytes;
    parts_.release(more.memory);
    sums.add(more.box, words);
  }

  std::unique_ptr<DeviceBackend> device_;
  BackendJobOptions options_;
  std::string name_;
  DeviceParts parts_;
  std::vector<BackendSlot> slots_;
  BackendSlot first_;  ///< of the empty tasks that prepare kernels
  std::set<std::pair<const JobKernels*, JobForm>> prepared_;
  std::map<const BackendSlot*, std::vector<std::max_align_t>> blockMemory_;
  std::map<std::pair<const JobKernels*, JobForm>, std::int32_t> blocksOf_;
  std::int32_t blocks_ = 1;  ///< of the last task
  CopyCounts copies_;
};

}  // namespace

std::unique_ptr<JobDevice> makeBackendJobDevice(std::unique_ptr<DeviceBackend> device,
                                                const BackendJobOptions& options) {
  return std::make_unique<BackendJobDevice>(std::move(device), options);
}

}  // namespace tessera::jobs
