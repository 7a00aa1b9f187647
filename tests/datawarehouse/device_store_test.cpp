#include "datawarehouse/device_store.hpp"

#include <cstring>
#include <map>
#include <new>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

/// Host memory with a limit, and a list of who has asked for it.
class CountedMemory final : public DeviceMemory {
 public:
  explicit CountedMemory(std::int64_t limit = std::int64_t{1} << 30) : limit_(limit) {}
  ~CountedMemory() override { EXPECT_TRUE(pieces_.empty()) << "memory was not given back"; }

  void* allocate(std::int64_t bytes, std::string_view owner) override {
    if (inUse_ + bytes > limit_) {
      throw InternalError(std::string(owner) + " wants " + std::to_string(bytes) + " of " +
                          std::to_string(limit_));
    }
    void* memory = ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{256});
    std::memset(memory, 0xFF, static_cast<std::size_t>(bytes));
    inUse_ += pieces_[memory] = bytes;
    return memory;
  }
  void free(void* memory) override {
    inUse_ -= pieces_.at(memory);
    pieces_.erase(memory);
    ::operator delete (memory, std::align_val_t{256});
  }

  std::size_t pieces() const { return pieces_.size(); }
  std::int64_t inUse() const { return inUse_; }

 private:
  std::int64_t limit_;
  std::int64_t inUse_ = 0;
  std::map<void*, std::int64_t> pieces_;
};

/// Two patches of 8 x 4 x 4 cells side by side, with a halo of one cell.
class DeviceStoreTest : public ::testing::Test {
 protected:
  DeviceStoreTest() {
    Geometry geometry;
    geometry.cells = {16, 4, 4};
    std::vector<Patch> patches{{0, 0, {{0, 0, 0}, {8, 4, 4}}}, {1, 0, {{8, 0, 0}, {16, 4, 4}}}};
    std::vector<Level> levels;
    levels.emplace_back(0, geometry, Box{{0, 0, 0}, {16, 4, 4}}, Extent{1, 1, 1}, std::move(patches));
    hierarchy_ = std::make_shared<const Hierarchy>(geometry, std::move(levels));
    value_ = labels_.variable<double, Cell>("value").id;
    mass_ = labels_.variable<double, Cell>("mass").id;
    flux_ = labels_.variable<float, Cell>("flux").id;
  }
  Box windowOf(PatchId patch) const { return grow(hierarchy_->patch(patch).cells, uniformHalo(1)); }
  EntryLayout entry(LabelId label, PatchId patch) const { return {label, patch, windowOf(patch)}; }
  /// `gathers`: of one plan.
  DataWarehouse& make(const std::vector<EntryLayout>& entries,
                      const std::vector<GatherLayout>& gathers = {}) {
    const std::vector<PatchId> own{0, 1};
    const std::vector<std::vector<GatherLayout>> plans{gathers};
    data_ = std::make_unique<DataWarehouse>(hierarchy_, labels_, own, entries, plans);
    data_->populate();
    return *data_;
  }

  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable labels_;
  LabelId value_ = -1;
  LabelId mass_ = -1;
  LabelId flux_ = -1;
  std::unique_ptr<DataWarehouse> data_;
  CountedMemory memory_;
};

TEST_F(DeviceStoreTest, FollowsTheSwapOfGenerations) {
  DataWarehouse& data = make({entry(value_, 0)});
  DeviceStore store(data, 0, memory_);
  store.addEntry(value_, 0);
  store.allocate();
  std::byte* old = store.data(Generation::Old, value_, 0);
  std::byte* next = store.data(Generation::New, value_, 0);
  ASSERT_NE(old, next);

  const std::vector<LevelLabel> written{{value_, 0}};
  data.promote(written);

  EXPECT_EQ(store.data(Generation::Old, value_, 0), next);
  EXPECT_EQ(store.data(Generation::New, value_, 0), old);
}

TEST_F(DeviceStoreTest, RowsOfOwnedIndicesBeginAtSectorsAndAreUnset) {
  DataWarehouse& data = make({entry(value_, 1), entry(flux_, 1)});
  DeviceStore store(data, 0, memory_);
  for (const LabelId label : {value_, flux_}) {
    store.addEntry(label, 1);
    store.allocate();
    const std::int64_t bytes = labels_.info(label).type.bytes();
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::byte* first =
          store.data(Generation::New, label, 1) + store.layout(label, 1).at({8, j, 3}) * bytes;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 32, 0U);
    }
  }
  double value = 0.0;
  std::memcpy(&value, store.data(Generation::Old, value_, 1), sizeof(value));
  EXPECT_NE(value, value);
}

TEST_F(DeviceStoreTest, EntriesThatShareAWindowTellEachForItselfWhereTheirValuesAre) {
  std::vector<EntryLayout> both{entry(value_, 0), entry(value_, 1)};
  for (EntryLayout& wanted : both) wanted.group = 0;
  DataWarehouse& data = make(both);
  DeviceStore store(data, 0, memory_);
  store.addEntry(value_, 0);
  store.allocate();
  Status& left = data.valueStatus(Generation::New, value_, 0);
  Status& right = data.valueStatus(Generation::New, value_, 1);

  wroteOn(left, store.space());  // a task of the device on the one patch, one of the host on the other
  wroteOn(right, kHost);

  EXPECT_TRUE(needsCopyTo(left, kHost));
  EXPECT_FALSE(needsCopyTo(left, store.space()));
  EXPECT_FALSE(needsCopyTo(right, kHost));
  EXPECT_TRUE(needsCopyTo(right, store.space()));
}

TEST_F(DeviceStoreTest, HasMemoryForWhatWasAddedOnlyAndOnce) {
  DataWarehouse& data = make({entry(value_, 0), entry(value_, 1)});
  {
    DeviceStore store(data, 2, memory_);
    store.addEntry(value_, 1);
    store.addEntry(value_, 1);
    store.allocate();
    EXPECT_FALSE(store.has(value_, 0));
    EXPECT_TRUE(store.has(value_, 1));
    EXPECT_FALSE(store.has(mass_, 1));
    EXPECT_EQ(memory_.pieces(), 2U);
    EXPECT_EQ(store.bytes(), memory_.inUse());
    EXPECT_EQ(data.status(Generation::Old, value_, 1).state(deviceSlot(2)), SpaceState::Allocated);
  }
  EXPECT_EQ(data.status(Generation::Old, value_, 1).state(deviceSlot(2)), SpaceState::None);
}

TEST_F(DeviceStoreTest, EntriesThatShareADescriptionShareOneWindow) {
  EntryLayout first = entry(value_, 0);
  EntryLayout second = entry(value_, 1);
  first.group = second.group = 0;
  DataWarehouse& data = make({first, second});
  DeviceStore store(data, 0, memory_);
  store.addEntry(value_, 1);
  store.allocate();

  EXPECT_TRUE(store.has(value_, 0));
  EXPECT_EQ(store.data(Generation::Old, value_, 0), store.data(Generation::Old, value_, 1));
  EXPECT_EQ(store.layout(value_, 0).window, (Box{{-1, -1, -1}, {17, 5, 5}}));
  EXPECT_EQ(memory_.pieces(), 2U);
}

TEST_F(DeviceStoreTest, VariablesThatTakeTurnsWithMemoryDoSoHere) {
  EntryLayout value = entry(value_, 0);
  EntryLayout flux = entry(flux_, 0);
  value.hasOld = flux.hasOld = false;
  value.slot = flux.slot = 5;
  DataWarehouse& data = make({value, flux});
  DeviceStore store(data, 0, memory_);
  store.addEntry(flux_, 0);
  store.allocate();
  const std::int64_t bytes = store.bytes();
  store.addEntry(value_, 0);
  store.allocate();

  EXPECT_EQ(memory_.pieces(), 1U);
  EXPECT_EQ(store.bytes(), bytes) << "the room was as large as the largest of them from the beginning";
  EXPECT_GE(bytes, 10 * 6 * 6 * 8);
}

TEST_F(DeviceStoreTest, GathersOfOneSlotShareMemory) {
  const Box window{{0, 0, 0}, {4, 4, 4}};
  DataWarehouse& data =
      make({entry(value_, 0)}, {{value_, window, 0}, {value_, window, 1}, {value_, windowOf(0), 0}});
  DeviceStore store(data, 0, memory_);
  EXPECT_FALSE(store.hasGather(0, 0));
  for (std::size_t n = 0; n < 3; ++n) store.addGather(0, n);
  store.allocate();

  EXPECT_TRUE(store.hasGather(0, 0));
  EXPECT_EQ(memory_.pieces(), 2U);
  EXPECT_NE(store.gatherData(0, 0), store.gatherData(0, 1));
  EXPECT_EQ(store.gatherLayout(0, 1).window, window);
}

TEST_F(DeviceStoreTest, MemoryThatDoesNotFitNamesLabelAndPatch) {
  DataWarehouse& data = make({entry(value_, 1)});
  CountedMemory small(4000);
  DeviceStore store(data, 0, small);
  try {
    store.addEntry(value_, 1);
    store.allocate();
    FAIL() << "two windows of 3,456 bytes at least do not fit";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("value on patch L0/P0001"));
  }
  EXPECT_EQ(data.status(Generation::New, value_, 1).state(deviceSlot(0)), SpaceState::None);
}

TEST_F(DeviceStoreTest, TheStatusWordSaysWhereValuesAre) {
  DataWarehouse& data = make({entry(value_, 0)});
  DeviceStore store(data, 1, memory_);
  store.addEntry(value_, 0);
  store.allocate();
  Status& status = data.status(Generation::New, value_, 0);
  EXPECT_TRUE(needsCopyTo(status, store.space()));

  copiedTo(status, store.space());
  copiedTo(status, store.space());
  EXPECT_FALSE(needsCopyTo(status, store.space()));
  EXPECT_FALSE(needsCopyTo(status, kHost));

  wroteOn(status, store.space());
  EXPECT_FALSE(needsCopyTo(status, store.space()));
  EXPECT_TRUE(needsCopyTo(status, kHost));

  copiedTo(status, kHost);
  wroteOn(status, kHost);
  EXPECT_TRUE(needsCopyTo(status, store.space()));
}

TEST_F(DeviceStoreTest, AllMemoryOfTheWarehouseIsListedOnce) {
  DataWarehouse& data = make({entry(value_, 0), entry(value_, 1)}, {{value_, windowOf(0), 0}});
  std::int64_t bytes = 0;
  bool found = false;
  for (const std::span<std::byte> piece : data.memory()) {
    bytes += static_cast<std::int64_t>(piece.size());
    found = found || piece.data() == data.data(Generation::New, value_, 1);
  }
  EXPECT_EQ(bytes, data.allocatedBytes());
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tessera
