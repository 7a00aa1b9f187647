#include "datawarehouse/archive/detail/block_format.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/text/contracts.hpp"
#include "datawarehouse/archive/crc32c.hpp"

namespace tessera::detail {
namespace {

constexpr std::string_view kFileMagic = "TESSRANK";
constexpr std::uint32_t kByteOrderMark = 0x01020304u;
constexpr std::uint32_t kBlockMagic = 0x4B4C4254u;  // "TBLK"
constexpr std::uint32_t kTailMagic = 0x4C494154u;   // "TAIL"

void close(ByteSink& sink) { sink.put(crc32c(sink.bytes())); }

bool plausible(const BlockDescription& b) {
  const auto scalar = static_cast<int>(b.type.scalar);
  if (scalar < 1 || scalar > 4 || b.type.components < 1 || b.type.components > (1 << 20)) return false;
  if (static_cast<int>(b.centering) > static_cast<int>(Centering::FaceZ) || b.level < 0 || b.patch < 0)
    return false;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (b.box.lo[axis] < -kMaxCoordinate || b.box.hi[axis] > kMaxCoordinate) return false;
    if (b.box.hi[axis] < -kMaxCoordinate || b.box.lo[axis] > kMaxCoordinate) return false;
  }
  return true;
}

// The size that the box asks for, or -1 when it does not fit into 63 bits.
std::int64_t checkedBytes(const BlockDescription& b) {
  if (b.box.empty()) return 0;
  const Extent n = b.box.extent();
  std::int64_t bytes = b.type.bytes();
  for (int axis = 0; axis < kAxes; ++axis) {
    if (__builtin_mul_overflow(bytes, n[axis], &bytes)) return -1;
  }
  return bytes;
}

}  // namespace

ByteSink encodeFileHeader(const BlockFileIdentity& identity) {
  TESSERA_EXPECT(identity.generation.size() == 32, "a generation id has 32 hexadecimal digits");
  ByteSink sink;
  sink.putText(kFileMagic).put(kBlockFileVersion).put(kByteOrderMark).putText(identity.generation);
  sink.put(identity.step).put(identity.rank).put(identity.ranks);
  close(sink);
  return sink;
}

ByteSink encodeBlockHeader(const BlockDescription& block, std::uint32_t dataCrc) {
  TESSERA_EXPECT(!block.label.empty() && block.label.size() <= kMaxLabelBytes,
                 "label names have 1 to 256 bytes");
  TESSERA_EXPECT(plausible(block), "a block has level and patch >= 0 and indices below 2^40");
  ByteSink sink;
  sink.put(kBlockMagic).put(static_cast<std::uint32_t>(block.label.size()));
  sink.put(static_cast<std::uint8_t>(block.type.scalar)).put(static_cast<std::uint8_t>(block.centering));
  sink.put(static_cast<std::uint16_t>(block.type.order))
      .put(block.type.components)
      .put(block.level)
      .put(block.patch);
  for (const Index& corner : {block.box.lo, block.box.hi}) sink.put(corner.i).put(corner.j).put(corner.k);
  sink.put(block.bytes()).put(dataCrc).putText(block.label);
  close(sink);
  return sink;
}

ByteSink encodeTail(const BlockFileTail& tail) {
  ByteSink sink;
  sink.put(kTailMagic).put(kBlockFileVersion).put(tail.indexOffset).put(tail.indexBytes).put(tail.blocks);
  sink.put(tail.indexCrc);
  close(sink);
  return sink;
}

std::uint32_t closingCrc(std::span<const std::byte> encoded) {
  std::uint32_t crc = 0;
  std::memcpy(&crc, encoded.data() + encoded.size() - sizeof crc, sizeof crc);
  return crc;
}

bool closingCrcHolds(std::span<const std::byte> encoded) {
  return closingCrc(encoded) == crc32c(encoded.first(encoded.size() - sizeof(std::uint32_t)));
}

std::optional<IndexedBlock> takeIndexEntry(ByteSource& source) {
  IndexedBlock entry;
  BlockDescription& b = entry.block;
  entry.offset = source.take<std::int64_t>();
  const auto magic = source.take<std::uint32_t>();
  const auto labelBytes = source.take<std::uint32_t>();
  b.type.scalar = static_cast<Scalar>(source.take<std::uint8_t>());
  b.centering = static_cast<Centering>(source.take<std::uint8_t>());
  const auto order = source.take<std::uint16_t>();
  b.type.order = static_cast<NumberOrder>(order);
  b.type.components = source.take<std::int32_t>();
  b.level = source.take<std::int32_t>();
  b.patch = source.take<std::int64_t>();
  for (Index* corner : {&b.box.lo, &b.box.hi}) {
    for (int axis = 0; axis < kAxes; ++axis) (*corner)[axis] = source.take<std::int64_t>();
  }
  const auto bytes = source.take<std::int64_t>();
  entry.dataCrc = source.take<std::uint32_t>();
  if (source.failed() || magic != kBlockMagic || order > 1 || labelBytes == 0 || labelBytes > kMaxLabelBytes)
    return {};
  b.label = source.takeText(labelBytes);
  source.take<std::uint32_t>();  // the copy's own CRC; the index has one over all entries
  if (source.failed() || !plausible(b) || checkedBytes(b) != bytes) return {};
  return entry;
}

}  // namespace tessera::detail
