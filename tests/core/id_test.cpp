#include "core/id.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/id_vector.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;
using Apples = IdVector<AppleId, int>;

template <class List, class Key>
concept Subscripted = requires(List list, Key key) {
  list[key];
};
template <class A, class B>
concept Added = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtracted = requires(A a, B b) {
  a - b;
};

// What mixes up two kinds of numbers does not compile.
static_assert(!std::convertible_to<AppleId, PearId> && !std::constructible_from<AppleId, PearId>);
static_assert(!std::convertible_to<int, AppleId> && !std::convertible_to<AppleId, int>);
static_assert(!std::is_assignable_v<AppleId&, PearId> && !std::is_assignable_v<AppleId&, int>);
static_assert(!std::equality_comparable_with<AppleId, PearId> &&
              !std::equality_comparable_with<AppleId, int>);
static_assert(!Subtracted<AppleId, PearId> && !Added<AppleId, AppleId> && !Added<AppleId, PearId>);
static_assert(!std::is_invocable_v<void (*)(AppleId), PearId> &&
              !std::is_invocable_v<void (*)(AppleId), int>);
static_assert(Subscripted<Apples, AppleId> && !Subscripted<Apples, PearId>);
static_assert(!Subscripted<Apples, int> && !Subscripted<Apples, std::size_t>);
static_assert(!Subscripted<IdSpan<AppleId, int>, PearId> && !Subscripted<IdSpan<AppleId, int>, int>);

// An id costs what its integer costs.
static_assert(sizeof(AppleId) == sizeof(std::int32_t) && std::is_trivially_copyable_v<AppleId>);

TEST(Id, CountsLikeAPointerAndKnowsNone) {
  AppleId id(6);

  EXPECT_EQ((++id).value(), 7);
  EXPECT_EQ(id + 2, AppleId(9));
  EXPECT_EQ(AppleId(9) - id, 2);
  EXPECT_LT(id, AppleId(8));
  EXPECT_TRUE(AppleId().isNone());
  EXPECT_EQ(AppleId(), AppleId(-1));
  EXPECT_TRUE(AppleId(0).isSome());
}

TEST(Id, HashesLikeItsNumber) {
  EXPECT_EQ(std::hash<AppleId>()(AppleId(5)), std::hash<std::int32_t>()(5));
  EXPECT_EQ((std::unordered_set<AppleId>{AppleId(1), AppleId(2), AppleId(1)}.size()), 2U);
}

TEST(IdVector, HasAnElementForEachIdAndGivesTheIdOfTheNext) {
  Apples apples{10, 11};
  EXPECT_EQ(apples.endId(), AppleId(2));

  apples.push_back(12);

  std::vector<std::int32_t> numbers;
  for (const AppleId id : apples.ids()) numbers.push_back(id.value());
  EXPECT_THAT(numbers, ElementsAre(0, 1, 2));
  EXPECT_EQ(apples[AppleId(2)], 12);
  EXPECT_THAT((IdSpan<AppleId, const int>(apples).all()), ElementsAre(10, 11, 12));
}

TEST(IdVector, FalseAndTrueCanBeElements) {
  IdVector<AppleId, bool> eaten(3);

  eaten[AppleId(1)] = true;

  EXPECT_THAT(eaten.all(), ElementsAre(false, true, false));
}

}  // namespace
}  // namespace tessera
