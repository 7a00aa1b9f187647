#include "datawarehouse/archive/crc32c.hpp"

#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32c, GivesThePublishedCheckValue) {
  EXPECT_EQ(crc32c(bytesOf("123456789")), 0xE3069283u);
  EXPECT_EQ(detail::crc32cByTable(bytesOf("123456789"), 0), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, GivesTheVectorsOfTheIscsiStandard) {
  std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c(zeros), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43u);
}

// crc32c takes the processor's instruction where there is one.
TEST(Crc32c, TableAndInstructionAgreeForEveryLengthAndAlignment) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(100);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  for (std::size_t start = 0; start < 9; ++start) {
    for (std::size_t length = 0; start + length <= bytes.size(); ++length) {
      const auto part = std::span<const std::byte>(bytes).subspan(start, length);
      ASSERT_EQ(detail::crc32cByTable(part, 5), crc32c(part, 5)) << start << " " << length;
    }
  }
}

TEST(Crc32c, PiecesChain) {
  const auto all = bytesOf("123456789");
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), 0xE3069283u);
  }
}

}  // namespace
}  // namespace tessera
