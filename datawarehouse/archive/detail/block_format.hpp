#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "datawarehouse/archive/detail/block_file.hpp"
#include "datawarehouse/archive/detail/byte_stream.hpp"

namespace tessera::detail {

/// The end of a rank file.
struct BlockFileTail {
  std::int64_t indexOffset = 0;
  std::int64_t indexBytes = 0;
  std::int64_t blocks = 0;
  std::uint32_t indexCrc = 0;
};

inline constexpr std::int64_t kFileHeaderBytes = 8 + 4 + 4 + 32 + 3 * 8 + 4;
inline constexpr std::int64_t kTailBytes = 4 + 4 + 3 * 8 + 4 + 4;
/// The least an index entry takes: an offset and a block header with a label of one byte.
inline constexpr std::int64_t kLeastIndexEntry = 8 + 92 + 1;
inline constexpr std::uint32_t kMaxLabelBytes = 256;
inline constexpr std::int64_t kMaxCoordinate = std::int64_t{1} << 40;

/// Each encoding ends in the CRC of its own bytes.
ByteSink encodeFileHeader(const BlockFileIdentity& identity);
ByteSink encodeBlockHeader(const BlockDescription& block, std::uint32_t dataCrc);
ByteSink encodeTail(const BlockFileTail& tail);

/// The CRC at the end of an encoding.
std::uint32_t closingCrc(std::span<const std::byte> encoded);
/// True when the closing CRC is that of the bytes before it.
bool closingCrcHolds(std::span<const std::byte> encoded);

/// One index entry; nothing when it is cut, or holds values that no writer writes.
std::optional<IndexedBlock> takeIndexEntry(ByteSource& source);

}  // namespace tessera::detail
