#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/exec/device_exec.hpp"
#include "core/kernel.hpp"
#include "core/known_kernels.hpp"
#include "datawarehouse/moves/condition_values.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// An index of the halo, as a coded condition sees it.
struct HaloPoint {
  Index x;         ///< in the halo
  Index mirrored;  ///< its mirror image in the interior
  Index edge;      ///< the last interior index in front of it
  Real3 position;  ///< of x
  double time = 0.0;
  int side = 0;
};

/// A part of the halo beyond one side, in one piece of memory. Trivially copyable.
struct HaloRegion {
  std::byte* data = nullptr;  ///< element 0 of the layout
  Layout layout;
  std::int32_t components = 1;
  Box region;
  int side = 0;
  std::int64_t about = 0;  ///< along the axis of the side: x + mirrored
  std::int64_t edge = 0;
  Real3 first;  ///< position of index (0, 0, 0)
  Real3 spacing;
  double time = 0.0;
  const double* timeThere = nullptr;  ///< where not null: in memory of the device

  TESSERA_KERNEL HaloPoint point(Index x) const {
    HaloPoint p{x, x, x, {}, timeThere != nullptr ? *timeThere : time, side};
    p.mirrored[side / 2] = about - x[side / 2];
    p.edge[side / 2] = edge;
    for (int d = 0; d < kAxes; ++d) p.position[d] = first[d] + static_cast<double>(x[d]) * spacing[d];
    return p;
  }
};

/// What `move`, one of a condition of a variable, covers in memory of a layout.
HaloRegion haloRegion(const Box& region, int side, const LabelInfo& info, const Level& level, std::byte* data,
                      const Layout& layout, double time);

namespace detail {

/// The fields that a coded condition reads and writes.
template <class T>
auto haloFields(const HaloRegion& at) {
  using View = ViewFor<Cpu, T>;
  using Number = typename View::Number;
  const Field<Number> first(reinterpret_cast<Number*>(at.data), at.layout);
  if constexpr (View::kHasComponents) {
    return ComponentFields<Field<Number>>(first, at.layout, at.components);
  } else {
    return first;
  }
}

/// A kernel with what it works on.
template <class T, class Kernel>
struct CodedArguments {
  HaloRegion at;
  decltype(haloFields<T>(HaloRegion{})) fields;
  Kernel kernel;

  TESSERA_KERNEL void run(std::int64_t n) const {
    const std::int64_t rows = at.region.hi.j - at.region.lo.j;
    const std::int64_t row = at.region.hi.i - at.region.lo.i;
    const Index x{at.region.lo.i + n % row, at.region.lo.j + n / row % rows,
                  at.region.lo.k + n / (row * rows)};
    kernel(at.point(x), fields);
  }
};

#if defined(__CUDACC__)
template <class T, class Kernel>
__global__ void __launch_bounds__(256)
    runCodedKernel(const __grid_constant__ CodedArguments<T, Kernel> arguments, std::int64_t count) {
  const std::int64_t n = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (n < count) arguments.run(n);
}
#endif

template <class T, class Kernel>
void runCoded(const void* self, [[maybe_unused]] void* cudaStream) {
  using Arguments = CodedArguments<T, Kernel>;
  alignas(Arguments) std::byte memory[sizeof(Arguments)];  // NOLINT: may be no default-constructible type
  std::memcpy(static_cast<void*>(memory), self, sizeof(Arguments));
  const auto& arguments = *reinterpret_cast<const Arguments*>(memory);
  const std::int64_t count = arguments.at.region.volume();
#if defined(__CUDACC__)
  keepKnown<&runCodedKernel<T, Kernel>>();
  if (cudaStream != nullptr) {
    runCodedKernel<T, Kernel>
        <<<static_cast<std::uint32_t>((count + 255) / 256), 256, 0, static_cast<cudaStream_t>(cudaStream)>>>(
            arguments, count);
    return;
  }
#endif
  for (std::int64_t n = 0; n < count; ++n) arguments.run(n);
}

// As with bodies of tasks: a source of kernels is compiled once for each Exec, and has the functions of that
// one alone.
template <class T, class Kernel>
void runCodedAt(Cpu, const Kernel& kernel, const HaloRegion& at);
template <class T, class Kernel>
CodedCondition::Call runCodedAt(Gpu, const Kernel& kernel, const HaloRegion& at);

#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_CPU)
template <class T, class Kernel>
void runCodedAt(Cpu, const Kernel& kernel, const HaloRegion& at) {
  const CodedArguments<T, Kernel> arguments{at, haloFields<T>(at), kernel};
  for (std::int64_t n = 0; n < at.region.volume(); ++n) arguments.run(n);
}
#endif
#if !defined(TESSERA_KERNELS) || defined(TESSERA_KERNELS_GPU)
template <class T, class Kernel>
CodedCondition::Call runCodedAt(Gpu, const Kernel& kernel, const HaloRegion& at) {
  requireNvcc<Kernel>();
  const CodedArguments<T, Kernel> arguments{at, haloFields<T>(at), kernel};
  const auto bytes = std::as_bytes(std::span(&arguments, 1));
  return {&runCoded<T, Kernel>, {bytes.begin(), bytes.end()}};
}
#endif

}  // namespace detail

/// A condition from a kernel, for all components of a variable at once: it is called for each index of the
/// halo beyond a side, on the host and on devices, and gives the variable its values there.
///
///   struct Wall {
///     template <class Fields>
///     TESSERA_KERNEL void operator()(const HaloPoint& p, const Fields& u) const {
///       u[0](p.x) = u[0](p.mirrored);
///       u[1](p.x) = u[2](p.edge) * p.time;
///     }
///   };
///   labels.setBoundary(gas, sideOf(0, false), codedCondition<Cpu, Gpu>(gas, Wall{}));
///
/// It reads the variable at `mirrored` and `edge` and nothing else of it, and writes it at `x`. Trivially
/// copyable, at most 3 KiB. `Cpu` stands for runs on the host, `Gpu` for runs on devices: then it belongs in
/// a source of kernels, as bodies of tasks do (taskgraph/task_body.hpp). Checked mode does not look into it.
template <class... Places, class T, Centering C, class Kernel>
CodedCondition codedCondition(Label<T, C>, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "capture numbers and labels, by value");
  static_assert(sizeof(Kernel) <= 3072, "keep large tables in memory of their own");
  static_assert((std::is_same_v<Places, Cpu> || ...),
                "say where it runs: codedCondition<Cpu, Gpu>(u, kernel)");
  CodedCondition made;
  void (*const onHost)(Cpu, const Kernel&, const HaloRegion&) = &detail::runCodedAt<T, Kernel>;
  made.onHost = [=](const HaloRegion& at) { onHost({}, kernel, at); };
  if constexpr ((std::is_same_v<Places, Gpu> || ...)) {
    CodedCondition::Call (*const onDevice)(Gpu, const Kernel&, const HaloRegion&) =
        &detail::runCodedAt<T, Kernel>;
    made.onDevice = [=](const HaloRegion& at) { return onDevice({}, kernel, at); };
  }
  return made;
}

}  // namespace tessera
