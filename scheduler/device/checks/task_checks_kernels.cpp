// Loops that check what tasks do: nvcc compiles this source in a build with CUDA.
#include <cstring>
#include <type_traits>

#include "core/exec/device_exec.hpp"
#include "scheduler/device/checks/task_checks.hpp"

namespace tessera {

namespace detail {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
TESSERA_KERNEL inline BitsOf<T> exponentBits() {
  return sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7FF0000000000000) : static_cast<BitsOf<T>>(0x7F800000);
}

/// std::numeric_limits<T>::signaling_NaN(), which a device has no call for.
template <class T>
TESSERA_KERNEL inline BitsOf<T> signallingNan() {
  return sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7FF4000000000000) : static_cast<BitsOf<T>>(0x7FA00000);
}

/// The numbers of a variable, several an index.
template <class T>
struct Numbers {
  T* data = nullptr;  ///< of index (0, 0, 0)
  std::int64_t strideJ = 0;
  std::int64_t strideK = 0;
  std::int32_t components = 1;

  Numbers(const TaskAccess& access, std::int32_t each)
      : data(reinterpret_cast<T*>(access.data) + access.layout.at(Index{}) * each),
        strideJ(access.layout.strideJ * each),
        strideK(access.layout.strideK * each),
        components(each) {}

  TESSERA_KERNEL T* at(Index x) const { return data + x.i * components + x.j * strideJ + x.k * strideK; }
};

template <class T>
struct Poison {
  Numbers<BitsOf<T>> numbers;

  TESSERA_KERNEL void operator()(Index x) const {
    for (std::int32_t n = 0; n < numbers.components; ++n) numbers.at(x)[n] = signallingNan<T>();
  }
};

struct ClearMarks {
  std::uint8_t* marks;
  TESSERA_KERNEL void operator()(Index x) const { marks[x.i] = 0; }
};

struct FindUnwritten {
  Box box;
  const std::uint8_t* marks;
  KernelErrors findings;

  TESSERA_KERNEL void operator()(Index x) const {
    const Extent n = box.extent();
    const Index r = x - box.lo;
    if (marks[(r.k * n.j + r.j) * n.i + r.i] == 0) findings.note(KernelError::Unwritten, {r});
  }
};

struct FindNonFinite {
  FinalValues values;
  Index corner;

  TESSERA_KERNEL void operator()(Index x) const { lookAt(values, x, corner); }
};

}  // namespace detail

void recordPoison(DeviceLoops& loops, const char* name, const TaskAccess& access, const LabelInfo& info) {
  const Gpu gpu{&loops};
  const Box box = access.sharedWindow ? access.declared : access.layout.window;
  const std::int32_t each = info.type.components;
  if (info.type.scalar == Scalar::Float64) {
    forEach(gpu, name, box, detail::Poison<double>{{access, each}});
  } else if (info.type.scalar == Scalar::Float32) {
    forEach(gpu, name, box, detail::Poison<float>{{access, each}});
  }
  if (access.marks == nullptr) return;
  forEach(gpu, name, {{0, 0, 0}, {access.declared.volume(), 1, 1}}, detail::ClearMarks{access.marks});
}

void recordUnwrittenSearch(DeviceLoops& loops, const char* name, const TaskAccess& access) {
  forEach(Gpu{&loops}, name, access.declared,
          detail::FindUnwritten{access.declared, access.marks, access.findings});
}

void recordFiniteSearch(DeviceLoops& loops, const char* name, const TaskAccess& access,
                        const LabelInfo& info) {
  if (!holdsReals(info.type)) return;
  loops.forgetReads();
  forEach(Gpu{&loops}, name, access.declared,
          detail::FindNonFinite{finalValues(access, info.type), access.declared.lo});
}

}  // namespace tessera
