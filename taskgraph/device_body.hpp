#pragma once

#include <string_view>

#include "core/exec/exec.hpp"

namespace tessera {

// What a kernel sees; defined in datawarehouse/task_context.hpp, which every component includes.
struct TaskFrame;
template <class Exec>
class PatchTask;

/// A task's body as a device runs it. A build with CUDA compiles components with the compiler of the host,
/// whose loops are fast there, and bodies for devices with nvcc, which takes the sources whose names end in
/// _kernels.cpp. So a body is a named type in a header, and a source of kernels says that it is for devices:
///
///   struct AdvanceHeat {                                            // heat_kernels.hpp
///     HeatLabels labels;
///     template <class Task>
///     void operator()(const Task& task) const { ... forEach(...) ... }
///   };
///   extern template struct DeviceBody<AdvanceHeat>;
///
///   template struct DeviceBody<AdvanceHeat>;                        // heat_kernels.cpp
///
///   step.task("Heat::advance")....runs<Cpu, Gpu>(AdvanceHeat{...})  // heat.cpp
///
/// A linker that misses `DeviceBody<AdvanceHeat>::run` misses the second of these. Without CUDA any callable
/// will do.
template <class Body, class Place = Gpu, class WithChecks = CheckedGpu>
struct DeviceBody {
  static void run(const Body& body, const TaskFrame& frame);
  /// In checked mode.
  static void runChecked(const Body& body, const TaskFrame& frame);
};

#if defined(__CUDACC__) || !defined(TESSERA_HAVE_CUDA)
template <class Body, class Place, class WithChecks>
void DeviceBody<Body, Place, WithChecks>::run(const Body& body, const TaskFrame& frame) {
  body(PatchTask<Place>(frame));
}
template <class Body, class Place, class WithChecks>
void DeviceBody<Body, Place, WithChecks>::runChecked(const Body& body, const TaskFrame& frame) {
  body(PatchTask<WithChecks>(frame));
}
#endif

namespace detail {

/// Whether one source alone can name the type: a closure, or a type of a function or an unnamed namespace.
template <class Body>
constexpr bool isLocalType() {
  const std::string_view name = __PRETTY_FUNCTION__;
  for (const std::string_view sign : {"<lambda", "(lambda", "{anonymous}", "(anonymous", ")::"}) {
    if (name.find(sign, name.find("Body = ")) != name.npos) return true;
  }
  return false;
}

template <class Body>
constexpr void requireKernelsSource() {
#if defined(TESSERA_HAVE_CUDA) && !defined(__CUDACC__)
  static_assert(!isLocalType<Body>(),
                "a body for Gpu has to be compiled by nvcc: make it a named struct with a template "
                "operator()(const Task&) const in a header, and write `template struct "
                "tessera::DeviceBody<ThatStruct>;` in a source whose name ends in _kernels.cpp; or leave Gpu "
                "out of .runs<Cpu, Gpu>(...)");
#endif
}

}  // namespace detail
}  // namespace tessera
