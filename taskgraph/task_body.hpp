#pragma once

#include <functional>
#include <memory>
#include <type_traits>

#include "core/exec/exec.hpp"

namespace tessera {

// What a kernel sees; defined in datawarehouse/task_context.hpp, which every source of bodies includes.
struct TaskFrame;
template <class Exec>
class PatchTask;
class BegunWork;  // taskgraph/begun_work.hpp

/// A task's body for each place it can run; empty where it cannot. A component makes one with `taskBody` and
/// gives it to `TaskBuilder::runs`.
struct TaskBody {
  std::function<void(const TaskFrame&)> cpu;
  std::function<void(const TaskFrame&)> checked;
  std::function<void(const TaskFrame&)> device;
  std::function<void(const TaskFrame&)> deviceChecked;
  /// In place of `cpu` and `checked`: begins work that goes on without a thread of the step. The frame and
  /// what it points to stay until that work has ended.
  std::function<std::unique_ptr<BegunWork>(const TaskFrame&)> begins;

  bool runsOnHost() const { return cpu != nullptr || begins != nullptr; }
};

/// How a place beside Cpu and Gpu makes bodies: specialised where that place is known, for example in
/// scheduler/engine_step/runs_engine.hpp, with a static function `make`.
template <class Place>
struct BodyAt;

/// A callable that takes a task which runs at `Exec`.
template <class Body, class Exec>
concept BodyFor = requires(const Body& body, const PatchTask<Exec>& task) {
  body(task);
};

namespace detail {

template <class Exec, class Body>
void callBody(const Body& body, const TaskFrame& frame) {
  body(PatchTask<Exec>(frame));
}

// A body as each Exec runs it. A source of kernels is compiled several times (TESSERA_KERNELS), each time for
// the Execs of which there is a macro, and has the functions of those alone; a source that is compiled once
// has them all.
template <class Body>
void runBody(Cpu, const Body& body, const TaskFrame& frame);
template <class Body>
void runBody(Checked, const Body& body, const TaskFrame& frame);
template <class Body>
void runBody(Gpu, const Body& body, const TaskFrame& frame);
template <class Body>
void runBody(CheckedGpu, const Body& body, const TaskFrame& frame);

#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_CPU)
template <class Body>
void runBody(Cpu, const Body& body, const TaskFrame& frame) {
  callBody<Cpu>(body, frame);
}
#endif
#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_CHECKED)
template <class Body>
void runBody(Checked, const Body& body, const TaskFrame& frame) {
  callBody<Checked>(body, frame);
}
#endif
#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_GPU)
template <class Body>
void runBody(Gpu, const Body& body, const TaskFrame& frame) {
  callBody<Gpu>(body, frame);
}
#endif
#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_CHECKEDGPU)
template <class Body>
void runBody(CheckedGpu, const Body& body, const TaskFrame& frame) {
  callBody<CheckedGpu>(body, frame);
}
#endif

/// A body and how `Exec` runs it. By its address, so that an object which has the function keeps it for the
/// others even where it could inline each call.
template <class Body, class Exec>
struct BoundBody {
  Body body;
  void (*run)(Exec, const Body&, const TaskFrame&) = &runBody<Body>;

  void operator()(const TaskFrame& frame) const { run({}, body, frame); }
};

}  // namespace detail

/// The body of a task at the listed places, from one callable: `Cpu` stands for runs on the host, plain and
/// checked, `Gpu` for runs on devices. `body` is copied.
///
/// Kernels that take the compiler long, and all that run on devices in a build with CUDA, belong in sources
/// whose names end in _kernels.cpp. CMake (`tessera_component`) compiles each of those once per Exec, host
/// code with the compiler of the host and code of devices with nvcc:
///
///   TaskBody advanceHeat(const HeatLabels& labels, const HeatParams& params);        // heat_kernels.hpp
///
///   struct AdvanceHeat {                                                             // heat_kernels.cpp
///     HeatLabels labels;
///     HeatParams params;
///     template <class Task>
///     void operator()(const Task& task) const { ... forEach(...) ... }
///   };
///   [[gnu::weak]] TaskBody advanceHeat(const HeatLabels& labels, const HeatParams& params) {
///     return taskBody<Cpu, Gpu>(AdvanceHeat{labels, params});
///   }
///
///   step.task("Heat::advance").reads(...).writes(...).runs(advanceHeat(labels_, params_));   // heat.cpp
///
/// Every object of the source has the function, the same one; [[gnu::weak]] lets the linker take any of them.
/// The struct is named alike in all objects, so it is a member of no unnamed namespace.
template <class... Places, class Body>
TaskBody taskBody(const Body& body) {
  static_assert(sizeof...(Places) > 0,
                "say where the task's body runs: runs<Cpu>(body) or runs<Cpu, Gpu>(body)");
  static_assert(((std::is_same_v<Places, Cpu> || std::is_same_v<Places, Gpu>)&&...),
                "the places of a task's body are Cpu and Gpu: runs<Cpu, Gpu>(body)");
  static_assert(
      (BodyFor<Body, Places> && ...),
      "a task's body is called with its task: a closure [...](const auto& task) {...}, or a struct with "
      "template <class Task> void operator()(const Task& task) const");
  TaskBody result;
  if constexpr ((BodyFor<Body, Places> && ...)) {  // else the message above is followed by more
    if constexpr ((std::is_same_v<Places, Cpu> || ...)) {
      result.cpu = detail::BoundBody<Body, Cpu>{body};
      result.checked = detail::BoundBody<Body, Checked>{body};
    }
    if constexpr ((std::is_same_v<Places, Gpu> || ...)) {
      result.device = detail::BoundBody<Body, Gpu>{body};
      result.deviceChecked = detail::BoundBody<Body, CheckedGpu>{body};
    }
  }
  return result;
}

}  // namespace tessera
