#include "tools/bench/taskbench/pattern.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "core/text/error.hpp"

namespace tessera::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What each column of a row reads, column by column.
std::vector<std::vector<int>> rowOf(const Pattern& pattern, int step) {
  const Columns row = columnsOf(pattern, step);
  std::vector<std::vector<int>> inputs;
  for (int column = row.first; column < row.end; ++column) inputs.push_back(inputsOf(pattern, step, column));
  return inputs;
}

Pattern four(PatternKind kind, int steps = 5) { return {.kind = kind, .width = 4, .steps = steps}; }

TEST(Patterns, TheFirstRowReadsNothing) {
  for (const std::string& name : patternNames()) {
    for (const auto& inputs : rowOf(four(patternOf(name)), 0)) EXPECT_THAT(inputs, IsEmpty()) << name;
  }
}

TEST(Patterns, TrivialReadsNothingAndNoCommItsOwnColumn) {
  EXPECT_THAT(rowOf(four(PatternKind::Trivial), 1), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(rowOf(four(PatternKind::NoComm), 1),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST(Patterns, AStencilReadsItsNeighboursAndARingGoesRound) {
  EXPECT_THAT(rowOf(four(PatternKind::Stencil1d), 3),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1, 2), ElementsAre(1, 2, 3), ElementsAre(2, 3)));
  EXPECT_THAT(
      rowOf(four(PatternKind::Stencil1dPeriodic), 3),
      ElementsAre(ElementsAre(0, 1, 3), ElementsAre(0, 1, 2), ElementsAre(1, 2, 3), ElementsAre(0, 2, 3)));
  EXPECT_THAT(rowOf({.kind = PatternKind::Stencil1dPeriodic, .width = 2, .steps = 2}, 1),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
}

TEST(Patterns, DomIsAWaveThroughASquare) {
  // Of width 3 in 5 rows: 1, 2, 3, 2 and 1 tasks.
  const Pattern dom{.kind = PatternKind::Dom, .width = 3, .steps = 5};

  EXPECT_THAT(rowOf(dom, 1), ElementsAre(ElementsAre(0), ElementsAre(0)));
  EXPECT_THAT(rowOf(dom, 2), ElementsAre(ElementsAre(0), ElementsAre(0, 1), ElementsAre(1)));
  EXPECT_EQ(columnsOf(dom, 3).first, 1);
  EXPECT_THAT(rowOf(dom, 3), ElementsAre(ElementsAre(0, 1), ElementsAre(1, 2)));
  EXPECT_EQ(columnsOf(dom, 4).first, 2);
  EXPECT_THAT(rowOf(dom, 4), ElementsAre(ElementsAre(1, 2)));
}

TEST(Patterns, ATreeDoublesUntilARowIsFull) {
  const Pattern tree = four(PatternKind::Tree);

  EXPECT_EQ(columnsOf(tree, 0).end, 1);
  EXPECT_THAT(rowOf(tree, 1), ElementsAre(ElementsAre(0), ElementsAre(0)));
  EXPECT_THAT(rowOf(tree, 2), ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1)));
  EXPECT_EQ(rowOf(tree, 4), rowOf(tree, 2));
}

TEST(Patterns, FftReadsTwiceAsFarInEachStageAndBeginsAnew) {
  const Pattern fft = four(PatternKind::Fft);

  EXPECT_THAT(rowOf(fft, 1),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1, 2), ElementsAre(1, 2, 3), ElementsAre(2, 3)));
  EXPECT_THAT(rowOf(fft, 2),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_EQ(rowOf(fft, 3), rowOf(fft, 1));
}

TEST(Patterns, NearestReadsRadixColumns) {
  Pattern nearest = four(PatternKind::Nearest);
  nearest.radix = 1;
  EXPECT_EQ(rowOf(nearest, 1), rowOf(four(PatternKind::NoComm), 1));
  nearest.radix = 2;
  EXPECT_THAT(rowOf(nearest, 1),
              ElementsAre(ElementsAre(0), ElementsAre(0, 1), ElementsAre(1, 2), ElementsAre(2, 3)));
  nearest.radix = 3;
  EXPECT_EQ(rowOf(nearest, 1), rowOf(four(PatternKind::Stencil1d), 1));
  nearest.radix = 4;
  EXPECT_THAT(rowOf(nearest, 1), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1, 2), ElementsAre(0, 1, 2, 3),
                                             ElementsAre(1, 2, 3)));
}

TEST(Patterns, SpreadReadsEqualDistancesThatMoveOn) {
  const Pattern spread{.kind = PatternKind::Spread, .width = 6, .steps = 4, .radix = 3, .period = 2};

  EXPECT_THAT(inputsOf(spread, 2, 1), ElementsAre(1, 3, 5));
  EXPECT_THAT(inputsOf(spread, 1, 1), ElementsAre(0, 1, 4));  // one further: 1, 3 + 1, 5 + 1 round the ring
  EXPECT_EQ(rowOf(spread, 3), rowOf(spread, 1));
}

TEST(Patterns, AllToAllReadsTheWholeRow) {
  EXPECT_THAT(rowOf(four(PatternKind::AllToAll), 1), testing::Each(ElementsAre(0, 1, 2, 3)));
}

TEST(Patterns, RandomNearestIsNearestAtFractionOneAndNoCommAtZero) {
  Pattern random = four(PatternKind::RandomNearest);
  random.fraction = 1.0;
  EXPECT_EQ(rowOf(random, 1), rowOf(four(PatternKind::Nearest), 1));
  random.fraction = 0.0;
  EXPECT_EQ(rowOf(random, 1), rowOf(four(PatternKind::NoComm), 1));
}

TEST(Patterns, RandomNearestHasTheFractionOfEdgesThatWasAskedFor) {
  const Pattern random{.kind = PatternKind::RandomNearest,
                       .width = 100,
                       .steps = 101,
                       .radix = 5,
                       .period = 100,
                       .fraction = 0.25};
  int others = 0;
  for (int step = 1; step <= 100; ++step) {
    for (int column = 2; column < 98; ++column)
      others += static_cast<int>(inputsOf(random, step, column).size()) - 1;
  }
  EXPECT_NEAR(others / (100.0 * 96.0 * 4.0), 0.25, 0.01);
  EXPECT_NE(rowOf(random, 1), rowOf(random, 2));
}

TEST(Patterns, WhoReadsATaskIsWhoHasItAmongItsInputs) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("replay: seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  for (int n = 0; n < 60; ++n) {
    for (const std::string& name : patternNames()) {
      Pattern p{.kind = patternOf(name), .width = draw(1, 40), .steps = draw(2, 12)};
      if (p.kind == PatternKind::Fft) p.width = 1 << draw(0, 5);
      p.radix = draw(1, p.kind == PatternKind::Spread ? p.width : 9);
      p.period = draw(1, 5);
      p.fraction = 0.1 * draw(0, 10);
      expectValid(p);
      for (int step = 0; step + 1 < p.steps; ++step) {
        const Columns row = columnsOf(p, step);
        const Columns next = columnsOf(p, step + 1);
        for (int column = row.first; column < row.end; ++column) {
          std::vector<int> readers;
          for (int c = next.first; c < next.end; ++c) {
            const std::vector<int> inputs = inputsOf(p, step + 1, c);
            if (std::find(inputs.begin(), inputs.end(), column) != inputs.end()) readers.push_back(c);
          }
          ASSERT_EQ(readersOf(p, step, column), readers)
              << name << ", width " << p.width << ", steps " << p.steps << ", radix " << p.radix << ", step "
              << step << ", column " << column;
        }
      }
    }
  }
}

std::string refusal(const Pattern& pattern) {
  try {
    expectValid(pattern);
  } catch (const UsageError& error) {
    return error.message();
  }
  return "accepted";
}

TEST(Patterns, WhatMakesNoSenseIsRefusedWithAFix) {
  EXPECT_EQ(refusal({.kind = PatternKind::Fft, .width = 12}),
            "fft has a row of 2^n columns, but --width is 12; write --width 16");
  EXPECT_EQ(refusal({.kind = PatternKind::Spread, .width = 4, .radix = 5}),
            "spread reads 5 columns, but a row has 4; write --radix 4 or a larger --width");
  EXPECT_THAT(refusal({.kind = PatternKind::RandomNearest, .fraction = 1.5}),
              HasSubstr("write --fraction 0.25"));
  EXPECT_THAT(refusal({.width = 0}), HasSubstr("write --width 1 or more"));
  EXPECT_THAT(refusal({.steps = 0}), HasSubstr("write --steps 1 or more"));
  EXPECT_THAT(refusal({.width = 1 << 20, .steps = 1 << 20}), HasSubstr("write a smaller --steps"));
  EXPECT_EQ(refusal({}), "accepted");
}

TEST(Patterns, AnUnknownNameIsAnsweredWithTheNearest) {
  try {
    patternOf("stencil_1f");
    FAIL() << "the name was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("did you mean 'stencil_1d'?"));
  }
}

}  // namespace
}  // namespace tessera::bench
