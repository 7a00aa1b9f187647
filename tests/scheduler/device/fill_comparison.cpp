#include "tests/scheduler/device/fill_comparison.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "scheduler/make_data_warehouse.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "tests/scheduler/device/plain_moves.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 30;

DevicePoolOptions poolIn(DeviceSpace space) { return {space, kLimit, std::int64_t{1} << 22}; }

/// The same bits, or both not a number.
template <class T>
bool isSame(const std::byte* a, const std::byte* b) {
  T x{};
  T y{};
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  if (std::memcmp(&x, &y, sizeof(T)) == 0) return true;
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x) && std::isnan(y);
  return false;
}

bool isSame(const ElementType& type, const std::byte* a, const std::byte* b) {
  for (std::int32_t c = 0; c < type.components; ++c) {
    const std::int64_t at = c * type.scalarBytes();
    const bool same = type.scalar == Scalar::Float64   ? isSame<double>(a + at, b + at)
                      : type.scalar == Scalar::Float32 ? isSame<float>(a + at, b + at)
                      : type.scalar == Scalar::Int32   ? isSame<std::int32_t>(a + at, b + at)
                                                       : isSame<std::int64_t>(a + at, b + at);
    if (!same) return false;
  }
  return true;
}

}  // namespace

FillComparison::FillComparison(const CompiledGraphs& graphs, std::size_t plan, Transport& transport,
                               DeviceBackend& device, std::uint64_t seed)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      device_(device),
      random_(seed),
      data_(makeDataWarehouse(graphs, 1, {}, MemoryPieces::Pages)),
      pump_(graph_, transport, {}, nullptr, nullptr),
      onHost_(graphs, plan, *data_, pump_),
      memory_(device, poolIn(DeviceSpace::Device)),
      pinned_(device, poolIn(DeviceSpace::PinnedHost)),
      streams_{device.makeStream(), device.makeStream()},
      storeMemory_(device, memory_, streams_[0]),
      store_(*data_, 0, storeMemory_) {
  for (std::size_t local = 0; local < data_->ownPatches().size(); ++local) {
    for (const LabelId label : labelsOf(local)) store_.addEntry(label, local);
  }
  for (std::size_t p = 0; p < data_->gathers().size(); ++p) {
    for (std::size_t n = 0; n < data_->gathers()[p].size(); ++n) store_.addGather(p, n);
  }
  store_.allocate();
  device.synchronize(streams_[0]);
  pinnedData_.emplace(device, data_->memory());
  fills_.emplace(graphs, plan, *data_, store_, pump_, device, memory_, pinned_);
  fillWithValues();
  bringAll();
}

std::vector<LabelId> FillComparison::labelsOf(std::size_t local) const {
  std::vector<LabelId> labels;
  if (data_->ownPatches()[local] < 0) return labels;
  for (LabelId label = 0; label < data_->labels().count(); ++label) {
    if (data_->has(label, local)) labels.push_back(label);
  }
  return labels;
}

/// Each word is a float of 1 to 2, and two of them a double of about 0.01: all arithmetic stays finite.
void FillComparison::scatter(std::span<std::byte> bytes) {
  for (std::size_t n = 0; n + 4 <= bytes.size(); n += 4) {
    const auto word = static_cast<std::uint32_t>(0x3F800000U | (random_() & 0x7FFFFFU));
    std::memcpy(bytes.data() + n, &word, 4);
  }
}

void FillComparison::fillWithValues() {
  for (std::size_t local = 0; local < data_->ownPatches().size(); ++local) {
    for (const LabelId label : labelsOf(local)) {
      const Box owned = data_->ownedBox(label, local);
      const std::int64_t bytes = data_->labels().info(label).type.bytes();
      std::vector<std::byte> packed(static_cast<std::size_t>(owned.volume() * bytes));
      for (const Generation generation : {Generation::Old, Generation::New}) {
        scatter(packed);
        plainCopy(data_->data(generation, label, local), data_->layout(label, local), packed.data(),
                  Layout(owned, false, false), owned, {}, bytes);
      }
    }
  }
  for (std::size_t receive = 0; receive < graph_.receives.size(); ++receive) {
    const auto buffer = pump_.receiveBuffer(static_cast<std::int32_t>(receive));
    // As if the message had come.
    scatter({const_cast<std::byte*>(buffer.data()), buffer.size()});
  }
}

void FillComparison::bringAll() {
  for (const Range& level : graphs_.localsOfLevel) {
    for (LabelId label = 0; label < data_->labels().count(); ++label) {
      std::vector<std::int32_t> locals;
      for (std::int64_t local = level.begin; local < level.end; ++local) {
        if (data_->has(label, static_cast<std::size_t>(local)))
          locals.push_back(static_cast<std::int32_t>(local));
      }
      for (const Generation generation : {Generation::Old, Generation::New}) {
        fills_->launchCopy(DeviceMoves::CopyTo::Device, label, generation, locals, streams_[0]);
        for (const std::int32_t local : locals) {
          copiedTo(data_->status(generation, label, static_cast<std::size_t>(local)), store_.space());
        }
      }
    }
  }
  device_.synchronize(streams_[0]);
}

std::int32_t FillComparison::rowCount(const FillPlan& fill) const {
  if (fill.reach == Reach::WholeLevel) return 1;
  return static_cast<std::int32_t>(graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].size());
}

void FillComparison::launchInBatches(std::int32_t fill, std::int32_t rows, double time) {
  // Every other launch in the other stream: tables that one has uploaded are there for the other.
  std::vector<std::vector<std::int32_t>> batches(2);
  for (std::int32_t row = 0; row < rows; ++row) batches[random_() % 3 == 0 ? 1 : 0].push_back(row);
  if (random_() % 2 == 0) std::swap(batches[0], batches[1]);
  for (std::size_t n = 0; n < batches.size(); ++n) fills_->launchFill(fill, batches[n], time, streams_[n]);
  for (const DeviceStream stream : streams_) device_.synchronize(stream);
}

void FillComparison::expectSameFills(double time) {
  for (std::size_t number = 0; number < graph_.fills.size(); ++number) {
    const FillPlan& fill = graph_.fills[number];
    const std::int32_t rows = rowCount(fill);
    if (fill.reach == Reach::WholeLevel && graphs_.ownPatchCount() == 0) continue;
    for (std::int32_t row = 0; row < rows; ++row) onHost_.fill(static_cast<std::int32_t>(number), row, time);
    launchInBatches(static_cast<std::int32_t>(number), rows, time);
    for (std::int32_t row = 0; row < rows; ++row) compareRow(number, row);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "fill " << number << " of plan " << plan_;
  }
}

void FillComparison::compareRow(std::size_t number, std::int32_t row) {
  const FillPlan& fill = graph_.fills[number];
  const Level& level = data_->hierarchy().level(fill.sourceLevel);
  const Centering centering = data_->labels().info(fill.label).centering;
  const auto local =
      static_cast<std::size_t>(graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin + row);
  if (fill.firstGather >= 0) {
    const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
    compare(data_->gatherLayout(plan_, buffer).window, fill.label, data_->gatherData(plan_, buffer),
            data_->gatherLayout(plan_, buffer), store_.gatherData(plan_, buffer),
            store_.gatherLayout(plan_, buffer));
    return;
  }
  if (fill.reach == Reach::WholeLevel) return;  // the patches' own windows are read
  const Patch& patch = data_->hierarchy().patch(data_->ownPatches()[local]);
  const Box target = fillTarget(level, patch, centering, fill.halo, Reach::Patch);
  compare(target, fill.label, data_->data(fill.generation, fill.label, local),
          data_->layout(fill.label, local), store_.data(fill.generation, fill.label, local),
          store_.layout(fill.label, local));
}

void FillComparison::compare(const Box& box, LabelId label, const std::byte* host, const Layout& hostLayout,
                             std::byte* there, const Layout& deviceLayout) {
  const LabelInfo& info = data_->labels().info(label);
  const std::int64_t bytes = info.type.bytes();
  std::vector<std::byte> right(static_cast<std::size_t>(box.volume() * bytes));
  plainCopy(right.data(), Layout(box, false, false), host, hostLayout, box, {}, bytes);
  auto* got = static_cast<std::byte*>(pinned_.allocate(streams_[0], box.volume() * bytes, "a comparison"));
  RegionList list;
  list.beginRow();
  list.add(copyOp(Layout(box, false, false), deviceLayout, box, {}, bytes), got, there,
           &RegionCounts::packed);
  RegionTable table(device_, memory_, pinned_, streams_[0], list, "a comparison");
  const std::int32_t row = 0;
  table.launch(streams_[0], "Test::compare", {&row, 1});
  device_.synchronize(streams_[0]);
  for (std::int64_t n = 0; n < box.volume(); ++n, ++compared_) {
    if (isSame(info.type, right.data() + n * bytes, got + n * bytes)) continue;
    ADD_FAILURE() << info.name << " differs at element " << n << " of " << asText(box);
    break;
  }
  pinned_.free(streams_[0], got);
}

void FillComparison::expectSameMessages() {
  std::vector<std::int32_t> sends(graph_.sends.size());
  std::iota(sends.begin(), sends.end(), 0);
  fills_->launchPack(sends, streams_[1]);
  device_.synchronize(streams_[1]);
  for (const std::int32_t send : sends) {
    const Range items = graph_.sends[static_cast<std::size_t>(send)].items;
    for (std::int64_t n = items.begin; n < items.end; ++n) {
      const PackItem& item = graph_.packItems[static_cast<std::size_t>(n)];
      if (item.source < 0) continue;
      const auto source = static_cast<std::size_t>(item.source);
      std::vector<std::byte> right(static_cast<std::size_t>(item.bytes));
      plainCopy(right.data(), Layout(item.region, false, false),
                data_->data(item.generation, item.label, source), data_->layout(item.label, source),
                item.region, {}, data_->labels().info(item.label).type.bytes());
      const auto got = pump_.sendBuffer(send).subspan(static_cast<std::size_t>(item.offset), right.size());
      ASSERT_EQ(std::memcmp(right.data(), got.data(), right.size()), 0)
          << data_->labels().info(item.label).name << " in message " << send;
      compared_ += std::ssize(right);
    }
  }
}

void FillComparison::expectCopiesThereAndBack() {
  for (std::size_t own = 0; own < data_->ownPatches().size(); ++own) {
    for (const LabelId label : labelsOf(own)) {
      const auto local = static_cast<std::int32_t>(own);
      const Box owned = data_->ownedBox(label, own);
      std::vector<std::byte> before(
          static_cast<std::size_t>(owned.volume() * data_->labels().info(label).type.bytes()));
      data_->packOwned(label, own, before);
      std::vector<std::byte> other(before.size());
      data_->unpackOwned(label, own, other);
      fills_->launchCopy(DeviceMoves::CopyTo::Host, label, Generation::Old, {&local, 1}, streams_[0]);
      device_.synchronize(streams_[0]);
      data_->packOwned(label, own, other);
      ASSERT_EQ(before, other) << data_->labels().info(label).name << " on own patch " << local;
    }
  }
}

void FillComparison::promote() { data_->promote(graph_.written); }

}  // namespace tessera::test
