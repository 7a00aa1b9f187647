#include "datawarehouse/checked/finite_watch.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One patch of 20 x 30 x 40 cells, with one layer around it, and a task that writes two variables.
class FiniteWatchTest : public ::testing::Test {
 protected:
  FiniteWatchTest() {
    std::int64_t number = 0;
    for (std::vector<double>* values : {&a_, &b_}) {
      values->assign(22 * 32 * 42, 1.0);
      TaskAccess& access = accesses_[static_cast<std::size_t>(number++)];
      access.mode = AccessMode::Write;
      access.label = values == &a_ ? first_.id : second_.id;
      access.data = reinterpret_cast<std::byte*>(values->data());
      access.layout = Layout(grow(patch_.cells, uniformHalo(1)), false, false);
      access.declared = patch_.cells;
    }
    frame_.task = "Test::write";
    frame_.patch = &patch_;
    frame_.labels = &labels_;
    frame_.accesses = accesses_;
    frame_.finalLoops = finalLoops_;
    frame_.watch = &watch_;
  }

  std::string complaint() const {
    try {
      expectFinite(frame_);
    } catch (const NumericalError& error) {
      return error.what();
    }
    return "";
  }

  LabelTable labels_;
  Label<double, Cell> first_ = labels_.variable<double, Cell>("first");
  Label<double, Cell> second_ = labels_.variable<double, Cell>("second");
  Patch patch_{0, 0, {{0, 0, 0}, {20, 30, 40}}};
  std::vector<double> a_, b_;
  std::vector<TaskAccess> accesses_{2};
  std::vector<FinalLoop> finalLoops_{{first_.id, "w"}, {first_.id, "both"}, {second_.id, "both"}};
  FiniteWatch watch_{accesses_, finalLoops_, labels_};
  TaskFrame frame_;
  PatchTask<Cpu> task_{frame_};
};

TEST_F(FiniteWatchTest, NeedsNoSecondLookAfterALoopOverAllThatWasDeclared) {
  const auto out = task_.write(first_);
  forEach(task_.exec(), "w", task_.interior(), [=](Index x) { out(x) = 2.0; });
  EXPECT_TRUE(watch_.settled(accesses_[0]));
  EXPECT_FALSE(watch_.settled(accesses_[1]));
  EXPECT_EQ(complaint(), "");
}

TEST_F(FiniteWatchTest, NamesOneBadCellWhereverItIs) {
  const auto out = task_.write(first_);
  for (const Index bad : {Index{0, 0, 0}, Index{19, 29, 39}, Index{7, 11, 20}}) {
    forEach(task_.exec(), "w", task_.interior(), [=](Index x) { out(x) = x == bad ? kNan : 1.0; });
    EXPECT_THAT(complaint(), ::testing::HasSubstr("cell " + asText(bad))) << asText(bad);
  }
}

TEST_F(FiniteWatchTest, EveryOutputOfALoopIsLookedAt) {
  const auto a = task_.write(first_);
  const auto b = task_.write(second_);
  forEach(task_.exec(), "both", task_.interior(), [=](Index x) {
    a(x) = 1.0;
    b(x) = x == Index{3, 4, 5} ? kNan : 1.0;
  });
  EXPECT_THAT(complaint(), ::testing::HasSubstr("second = "));
}

TEST_F(FiniteWatchTest, ALoopOverAPartLeavesTheRestToBeReadAgain) {
  const auto out = task_.write(first_);
  out({19, 29, 39}) = kNan;
  forEach(task_.exec(), "w", {{0, 0, 0}, {20, 30, 39}}, [=](Index x) { out(x) = 1.0; });
  EXPECT_FALSE(watch_.settled(accesses_[0]));
  EXPECT_THAT(complaint(), ::testing::HasSubstr("cell (19, 29, 39)"));
}

TEST_F(FiniteWatchTest, WhatIsWrittenInALoopThatWasNotDeclaredIsReadAgain) {
  const auto a = task_.write(first_);
  const auto b = task_.write(second_);
  forEach(task_.exec(), "w", task_.interior(), [=](Index x) { a(x) = 1.0; });
  forEach(task_.exec(), "another", task_.interior(), [=](Index x) { b(x) = kNan; });
  EXPECT_TRUE(watch_.settled(accesses_[0]));
  EXPECT_FALSE(watch_.settled(accesses_[1]));
  EXPECT_THAT(complaint(), ::testing::HasSubstr("second = "));
}

TEST_F(FiniteWatchTest, TheLargestNumbersAreFinite) {
  const auto out = task_.write(first_);
  forEach(task_.exec(), "w", task_.interior(), [=](Index x) { out(x) = std::numeric_limits<double>::max(); });
  EXPECT_EQ(complaint(), "");
}

TEST(ForEach, VisitsEachIndexOnceWhetherSomebodyWatchesOrNot) {
  struct Count : LoopWatch {
    bool begins(const char* loop) override { return loop == std::string("count"); }
    void passed(const Box& part) override { indices += part.volume(); }
    void finished(const Box& box) override { boxes.push_back(box); }
    std::int64_t indices = 0;
    std::vector<Box> boxes;
  };
  for (const Box& box :
       {Box{{0, 0, 0}, {5000, 3, 2}}, Box{{-1, 2, 3}, {64, 80, 8}}, Box{{0, 0, 0}, {8, 8, 70}},
        Box{{0, 0, 0}, {100, 1, 1}}, Box{{0, 0, 0}, {4, 0, 4}}}) {
    const Layout layout(box, false, false);
    std::vector<int> visits(static_cast<std::size_t>(layout.elements()), 0);
    const Field<int> field(visits.data(), layout);
    Count count;
    forEach(Cpu{&count}, "count", box, [=](Index x) { ++field(x); });
    forEach(Cpu{&count}, "not looked at", box, [=](Index x) { ++field(x); });
    forEach(Cpu{}, "count", box, [=](Index x) { ++field(x); });
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 3)) << asText(box);
    EXPECT_EQ(count.indices, box.volume());
    EXPECT_EQ(count.boxes, std::vector<Box>{box});
  }
}

}  // namespace
}  // namespace tessera
