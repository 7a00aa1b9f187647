#include "scheduler/step/border_watch.hpp"

#include <cstring>
#include <sstream>
#include <string>

#include "core/text/error.hpp"
#include "datawarehouse/checked/checked_field.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {
namespace {

/// The values of one plane after the other.
std::vector<std::byte> packed(const TaskAccess& access, const ElementType& type) {
  const Box& box = access.declared;
  const auto row = static_cast<std::size_t>(box.extent().i * type.elementBytes());
  std::vector<std::byte> values(static_cast<std::size_t>(box.volume() * type.bytes()));
  std::byte* to = values.data();
  for (std::int32_t c = 0; c < type.planes(); ++c) {
    for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
      for (std::int64_t j = box.lo.j; j < box.hi.j; ++j, to += row) {
        const std::int64_t at = access.layout.at({box.lo.i, j, k}) + c * access.layout.strideC;
        std::memcpy(to, access.data + at * type.elementBytes(), row);
      }
    }
  }
  return values;
}

const std::byte* placeOf(const std::vector<std::byte>& values, const Box& box, Index x, std::int32_t plane,
                         const ElementType& type) {
  const Extent n = box.extent();
  const Index r = x - box.lo;
  return values.data() + (((plane * n.k + r.k) * n.j + r.j) * n.i + r.i) * type.elementBytes();
}

template <class T>
std::string textOfNumber(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

std::string valueAt(const std::byte* at, Scalar scalar) {
  switch (scalar) {
    case Scalar::Float32:
      return textOfNumber<float>(at);
    case Scalar::Float64:
      return textOfNumber<double>(at);
    case Scalar::Int32:
      return textOfNumber<std::int32_t>(at);
    case Scalar::Int64:
      return textOfNumber<std::int64_t>(at);
  }
  return {};
}

/// Two patches, as the first one counts: what both have of a label.
struct Pair {
  const TaskFrame& frame;
  const LabelInfo& info;
  const Patch& other;
  Box mine;
  Box theirs;
  Index shift;  ///< of the other one's image
};

[[noreturn]] void report(const Pair& pair, Index x, std::int32_t plane, const std::byte* mine,
                         const std::byte* theirs) {
  const ElementType& type = pair.info.type;
  const std::string name = pair.info.nameOf(plane);
  throw UndeclaredAccess(
      Message("two patches have different values on the border between them")
          .line("task      ", pair.frame.task, ", declared at ", pair.frame.declaredAt)
          .line("writes    ", name, " at ", asText(pair.info.centering), " ", asText(x), ": ",
                valueAt(mine, type.scalar), " on patch ", asText(*pair.frame.patch), ", ",
                valueAt(theirs, type.scalar), " on patch ", asText(pair.other))
          .line("fix       compute it from the index, level.position(x) and what both patches read, not from "
                "task.patch() or task.interior()")
          .text(),
      pair.info.name);
}

void comparePair(const Pair& pair, const std::vector<std::byte>& mine, const std::vector<std::byte>& theirs) {
  const ElementType& type = pair.info.type;
  const Box common = intersect(pair.mine, shift(pair.theirs, pair.shift));
  for (std::int32_t c = 0; c < type.planes(); ++c) {
    for (std::int64_t k = common.lo.k; k < common.hi.k; ++k) {
      for (std::int64_t j = common.lo.j; j < common.hi.j; ++j) {
        for (std::int64_t i = common.lo.i; i < common.hi.i; ++i) {
          const Index x{i, j, k};
          const std::byte* a = placeOf(mine, pair.mine, x, c, type);
          const std::byte* b = placeOf(theirs, pair.theirs, x - pair.shift, c, type);
          if (std::memcmp(a, b, static_cast<std::size_t>(type.elementBytes())) != 0) report(pair, x, c, a, b);
        }
      }
    }
  }
}

}  // namespace

void BorderWatch::compare(const TaskFrame& frame, const void* unit, std::int64_t replay) {
  for (const TaskAccess& access : frame.accesses) {
    const LabelInfo& info = frame.labels->info(access.label);
    if (!isOutput(access.mode) || info.centering == Centering::Cell) continue;
    std::vector<std::byte> values = packed(access, info.type);
    const Level& level = *frame.level;
    const Patch& patch = *frame.patch;
    const std::lock_guard lock(mutex_);
    Table& table = tables_[unit];
    Kept& own = table[{access.label, patch.id}];
    own = {replay, std::move(values)};
    const Box around = grow(patch.cells, uniformHalo(1));
    forEachImage(imagesOf(level, around), [&](Index period) {
      const Index by = shiftOf(level, period);
      level.forEachOverlapping(shift(around, Index{} - by), [&](const Patch& other) {
        const auto kept = table.find({access.label, other.id});
        if (kept == table.end() || kept->second.replay != replay) return;
        comparePair({frame, info, other, access.declared, level.closedBox(other, info.centering), by},
                    own.values, kept->second.values);
      });
    });
  }
}

}  // namespace tessera::detail
