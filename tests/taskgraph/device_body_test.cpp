#include "taskgraph/device_body.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace tessera::test {

struct NamedBody {};
template <class T>
struct GenericBody {};

namespace {

struct HiddenBody {};

TEST(DeviceBody, ATypeThatOtherSourcesCanNameIsNotLocal) {
  EXPECT_FALSE(detail::isLocalType<NamedBody>());
  EXPECT_FALSE(detail::isLocalType<GenericBody<double>>());
}

TEST(DeviceBody, ATypeThatThisSourceAloneCanNameIsLocal) {
  const auto closure = [](const auto&) {};
  EXPECT_TRUE(detail::isLocalType<std::remove_const_t<decltype(closure)>>());
  EXPECT_TRUE(detail::isLocalType<HiddenBody>());
  EXPECT_TRUE(detail::isLocalType<GenericBody<HiddenBody>>());
}

}  // namespace
}  // namespace tessera::test
