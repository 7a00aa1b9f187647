#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

#include "scheduler/engine/task.hpp"

#if defined(__CUDACC__)
// The body of a kind is compiled for host and device; each calls the functions of its own group alone.
#pragma nv_diag_suppress 20011, 20013, 20014, 20015
#endif

namespace tessera::engine {

/// What a type has to be to be a kind of task: written by the user in one header, for host and device alike.
///
///   struct Axpy {
///     static constexpr const char* name = "axpy";
///     static constexpr TaskWidth width = TaskWidth::Warp;
///     struct Arguments { const double* x; double* y; double a; std::int64_t n; };  // at most 40 bytes
///     struct Result { double last; };                                              // at most 48 bytes
///     template <class Group>
///     TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
///       for (std::int64_t i = group.lane(); i < in.n; i += group.width()) in.y[i] += in.a * in.x[i];
///       group.sync();
///       return {in.y[in.n - 1]};
///     }
///   };
///
/// All lanes of the group call `run`; the result is that of lane 0. Group is in scheduler/engine/group.hpp. A
/// program (scheduler/engine/program.hpp) is a list of kinds; the engine itself knows none.
template <class Kind>
concept TaskKind = requires {
  { Kind::name } -> std::convertible_to<const char*>;
  { Kind::width } -> std::convertible_to<TaskWidth>;
  requires std::is_trivially_copyable_v<typename Kind::Arguments>;
  requires std::is_trivially_copyable_v<typename Kind::Result>;
  requires sizeof(typename Kind::Arguments) <= Task::kArgumentBytes;
  requires sizeof(typename Kind::Result) <= Completion::kResultBytes;
};

/// What the host knows of a kind.
struct KindInfo {
  const char* name = "";
  TaskWidth width = TaskWidth::Warp;
  std::uint16_t argumentBytes = 0;
  std::uint16_t resultBytes = 0;
  const void* identity = nullptr;  ///< tells the types of kinds apart
};

/// One object for each type of kind.
template <class Kind>
inline constexpr char kIdentity = 0;

/// A task of `Kind` without ticket; `number` is that of the kind in its program.
template <TaskKind Kind>
TESSERA_KERNEL Task taskOf(std::uint16_t number, const typename Kind::Arguments& arguments) {
  Task task;
  task.kind = number;
  memcpy(task.arguments, &arguments, sizeof(arguments));
  return task;
}

/// A list of kinds as a type; the number of a kind is its place.
template <TaskKind... Kinds>
struct KindList {
  static constexpr std::uint16_t kCount = sizeof...(Kinds);

  template <class Kind>
  TESSERA_KERNEL static constexpr std::uint16_t numberOf() {
    std::uint16_t number = 0;
    std::uint16_t found = kCount;
    ((std::is_same_v<Kind, Kinds> ? (found = number++) : number++), ...);
    return found;
  }

  /// Runs the task if it is of one of the kinds of this width; false: it is not.
  template <TaskWidth kWidth, class Group>
  TESSERA_KERNEL static bool runOne(const Task& task, Group& group, Completion& completion) {
    std::uint16_t number = 0;
    return (runIf<kWidth, Kinds>(task, number++, group, completion) || ...);
  }

  /// Runs the task, whatever its width: on the host, where each group is one thread.
  template <class Group>
  static bool runAny(const Task& task, Group& group, Completion& completion) {
    std::uint16_t number = 0;
    return (runIf<Kinds::width, Kinds>(task, number++, group, completion) || ...);
  }

 private:
  template <TaskWidth kWidth, class Kind, class Group>
  TESSERA_KERNEL static bool runIf(const Task& task, std::uint16_t number, Group& group,
                                   Completion& completion) {
    if constexpr (Kind::width == kWidth) {
      if (task.kind != number) return false;
      typename Kind::Arguments arguments;
      memcpy(&arguments, task.arguments, sizeof(arguments));
      const typename Kind::Result result = Kind::run(arguments, group);
      memcpy(completion.result, &result, sizeof(result));
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace tessera::engine
