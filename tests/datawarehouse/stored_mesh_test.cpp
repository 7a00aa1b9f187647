#include "datawarehouse/archive/stored_mesh.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Geometry kSquare{{}, {1.0, 1.0, 0.1}, {8, 8, 1}, {true, false, false}};

/// Two patches of unequal size, the upper one first, and a refined level that no deck can say: two boxes that
/// are cut at odd places.
std::vector<StoredLevel> twoLevels() {
  return {{{1, 1, 1}, {{{0, 5, 0}, {8, 8, 1}}, {{0, 0, 0}, {8, 5, 1}}}},
          {{2, 2, 1}, {{{4, 4, 0}, {7, 9, 1}}, {{7, 4, 0}, {12, 9, 1}}}}};
}

std::string refusalOf(const Geometry& geometry, const std::vector<StoredLevel>& levels) {
  return inputErrorOf([&] { meshOf(geometry, levels); });
}

TEST(StoredMesh, KeepsPatchesInTheirOrder) {
  const auto mesh = meshOf(kSquare, twoLevels());
  EXPECT_EQ(mesh->patchCount(), 4);
  EXPECT_EQ(mesh->level(1).domain(), (Box{{}, {16, 16, 1}}));
  for (std::size_t level = 0; level < 2; ++level) {
    const auto patches = mesh->levels()[level].patches();
    EXPECT_EQ(boxesOfText(textOfBoxes(patches)), twoLevels()[level].patches);
  }
  EXPECT_EQ(textOfBoxes(mesh->level(0).patches()), "0 5 0 8 8 1 0 0 0 8 5 1");
}

TEST(StoredMesh, ARefinedLevelMayBeEmpty) {
  auto levels = twoLevels();
  levels[1].patches = boxesOfText("");
  const auto mesh = meshOf(kSquare, levels);
  EXPECT_EQ(mesh->levels().size(), 2U);
  EXPECT_EQ(mesh->level(1).cellCount(), 0);
}

TEST(StoredMesh, NumbersThatAreNoMeshAreRefusedByASentence) {
  auto levels = twoLevels();
  levels[0].patches[0].hi.j = 7;
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("level 0 does not cover the domain"));
  levels[0].patches[0] = {{0, 4, 0}, {8, 8, 1}};
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("L0/P0000 [0,4,0]..[7,7,0] overlaps another patch"));
  levels[0].patches[0].hi.i = 9;
  EXPECT_THAT(refusalOf(kSquare, levels),
              HasSubstr("level 0 has a patch that is empty or leaves the domain"));
  levels[0].patches.clear();
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("level 0 has no patch"));
  EXPECT_THAT(refusalOf(kSquare, {}), HasSubstr("it has no level"));

  levels = twoLevels();
  levels[1].ratio = {2, 0, 1};
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("level 1 has a ratio of 0 along axis y"));
  levels[1].ratio = {2, 2, 2};
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("a ratio of 2 along axis z"));
  levels = twoLevels();
  levels.push_back({{2, 2, 1}, {{{0, 8, 0}, {4, 12, 1}}}});
  EXPECT_THAT(refusalOf(kSquare, levels), HasSubstr("L2/P0004 [0,8,0]..[3,11,0] leaves the level below"));
}

TEST(StoredMesh, ADomainThatCannotBeCountedIsRefused) {
  Geometry large = kSquare;
  large.cells = {std::int64_t{1} << 40, std::int64_t{1} << 40, 1};
  EXPECT_THAT(refusalOf(large, twoLevels()), HasSubstr("more cells than can be counted"));
  large.cells = {std::int64_t{1} << 62, 1, 1};
  EXPECT_THAT(refusalOf(large, twoLevels()), HasSubstr("cells along axis x"));
  large.cells = {8, -8, 1};
  EXPECT_THAT(refusalOf(large, twoLevels()), HasSubstr("level 0 has -8 cells along axis y"));
  Geometry flat = kSquare;
  flat.upper.y = flat.lower.y;
  EXPECT_THAT(refusalOf(flat, twoLevels()), HasSubstr("its domain has no length along axis y"));
  flat.upper.y = std::nan("");
  EXPECT_THAT(refusalOf(flat, twoLevels()), HasSubstr("its domain has no length along axis y"));
}

TEST(StoredMesh, TextThatIsNoListOfBoxesIsRefused) {
  for (const char* text :
       {"0 0 0 1 1", "0 0 0 1 1 x", "0,0,0,1,1,1", " ", "0 0 0 1 1 1 ", "0 0 0 1 1 99999999999999999999"}) {
    EXPECT_THAT(inputErrorOf([&] { static_cast<void>(boxesOfText(text)); }), HasSubstr("six whole numbers"))
        << text;
  }
  EXPECT_THAT(boxesOfText("0 0 0 1 1 1"), ElementsAre(Box{{}, {1, 1, 1}}));
  EXPECT_TRUE(boxesOfText("").empty());
}

/// Whatever the numbers are, there is a mesh or a sentence.
TEST(StoredMesh, RandomNumbersAreAMeshOrASentence) {
  int meshes = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<StoredLevel> levels = twoLevels();
    StoredLevel& level = levels[random() % 2];
    Box& box = level.patches[random() % 2];
    Index& which = random() % 8 == 0 ? level.ratio : (random() % 2 == 0 ? box.lo : box.hi);
    const std::int64_t numbers[] = {-1, 0, 1, 2, 3, 5, 7, 8, 9, std::int64_t{1} << 50, INT64_MAX, INT64_MIN};
    which[static_cast<int>(random() % kAxes)] = numbers[random() % std::size(numbers)];
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      meshes += meshOf(kSquare, levels)->patchCount() == 4 ? 1 : 0;
    } catch (const InputError& refusal) {
      EXPECT_THAT(refusal.message(), HasSubstr("it holds no mesh"));
    }
  }
  EXPECT_GT(meshes, 20);
}

}  // namespace
}  // namespace tessera::test
