#include "datawarehouse/archive/detail/block_file.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/text/contracts.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/block_format.hpp"

namespace tessera::detail {
namespace {

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08" PRIx32, value);
  return text;
}

std::int64_t sizeOf(std::span<const std::byte> bytes) { return static_cast<std::int64_t>(bytes.size()); }

// The whole size, known before the first byte is written.
std::int64_t plannedBytes(const CheckpointBlocks& content) {
  std::int64_t total = kFileHeaderBytes + kTailBytes;
  for (const BlockDescription& block : content.blocks) {
    const std::int64_t header = encodeBlockHeader(block, 0).size();
    total += 2 * header + 8 + block.bytes();
  }
  return total;
}

[[noreturn]] void damaged(const std::string& file, std::int64_t offset, std::string_view what,
                          std::string_view expected, std::string_view found) {
  throw InputError(Message("a checkpoint file is damaged: " + std::string(what))
                       .line("file      ", file)
                       .line("at byte   ", offset)
                       .line("expected  ", expected)
                       .line("found     ", found)
                       .text());
}

[[noreturn]] void damagedBlock(const std::string& file, const IndexedBlock& block, std::int64_t offset,
                               std::string_view what, std::uint32_t expected, std::uint32_t found) {
  throw InputError(Message("a checkpoint block is damaged: " + std::string(what))
                       .line("file      ", file)
                       .line("block     ", asText(block.block), ", ", asText(block.block.box))
                       .line("at byte   ", offset)
                       .line("expected  CRC32C ", hex(expected))
                       .line("found     CRC32C ", hex(found))
                       .text());
}

std::vector<std::byte> readPart(const File& file, std::int64_t offset, std::int64_t bytes) {
  std::vector<std::byte> part(static_cast<std::size_t>(bytes));
  const std::int64_t got = file.readAt(part, offset);
  if (got != bytes) {
    damaged(file.path(), offset + got, "it ends too early", std::to_string(bytes) + " bytes",
            std::to_string(got));
  }
  return part;
}

BlockFileTail readTail(const File& file, const BlockFileSummary& expected) {
  const std::int64_t at = expected.bytes - kTailBytes;
  const std::vector<std::byte> raw = readPart(file, at, kTailBytes);
  if (!closingCrcHolds(raw) || closingCrc(raw) != expected.tailCrc) {
    damaged(file.path(), at, "its end is not the one that the manifest names",
            "tail CRC32C " + hex(expected.tailCrc),
            "tail CRC32C " +
                hex(closingCrcHolds(raw) ? closingCrc(raw) : crc32c(std::span(raw).first(raw.size() - 4))));
  }
  ByteSource source(raw);
  source.take<std::uint32_t>();
  const auto version = source.take<std::uint32_t>();
  if (version != kBlockFileVersion) {
    damaged(file.path(), at + 4, "it has another format version",
            "version " + std::to_string(kBlockFileVersion), "version " + std::to_string(version));
  }
  BlockFileTail tail;
  tail.indexOffset = source.take<std::int64_t>();
  tail.indexBytes = source.take<std::int64_t>();
  tail.blocks = source.take<std::int64_t>();
  tail.indexCrc = source.take<std::uint32_t>();
  const std::int64_t room = expected.bytes - kTailBytes - kFileHeaderBytes;
  const bool fits = tail.indexBytes >= 0 && tail.indexBytes <= room &&
                    tail.indexOffset == at - tail.indexBytes && tail.blocks >= 0 &&
                    tail.blocks <= tail.indexBytes / kLeastIndexEntry;
  if (!fits || tail.blocks != expected.blocks) {
    damaged(
        file.path(), at, "its index does not fit into the file",
        std::to_string(expected.blocks) + " blocks within " + std::to_string(room) + " bytes",
        std::to_string(tail.blocks) + " blocks in an index of " + std::to_string(tail.indexBytes) + " bytes");
  }
  return tail;
}

void checkFileHeader(const File& file, const BlockFileIdentity& identity) {
  const std::vector<std::byte> found = readPart(file, 0, kFileHeaderBytes);
  const ByteSink expected = encodeFileHeader(identity);
  if (std::equal(found.begin(), found.end(), expected.bytes().begin(), expected.bytes().end())) return;
  ByteSource source(found);
  source.takeText(8);
  source.take<std::uint64_t>();
  const std::string generation = source.takeText(32);
  const auto step = source.take<std::int64_t>();
  const auto rank = source.take<std::int64_t>();
  const auto words = [](const std::string& g, std::int64_t s, std::int64_t r) {
    return "generation " + g + ", step " + std::to_string(s) + ", rank " + std::to_string(r);
  };
  damaged(file.path(), 0, "its header is not the one that the manifest names",
          words(identity.generation, identity.step, identity.rank),
          closingCrcHolds(found) ? words(generation, step, rank) : "a header with a wrong CRC32C");
}

}  // namespace

std::string rankFileName(std::int64_t rank) {
  char text[40];
  std::snprintf(text, sizeof text, "rank-%05" PRId64 ".dat", rank);
  return text;
}

BlockFileSummary writeBlockFile(const Folder& folder, const BlockFileIdentity& identity,
                                const CheckpointBlocks& content, const FileOps& ops) {
  const std::int64_t planned = plannedBytes(content);
  File file = folder.createFile(rankFileName(identity.rank), ops);
  file.allocate(ops, planned);

  std::int64_t at = 0;
  const auto append = [&](std::span<const std::byte> bytes) {
    file.writeAt(ops, bytes, at);
    at += sizeOf(bytes);
  };
  append(encodeFileHeader(identity).bytes());
  ByteSink index;
  for (std::size_t n = 0; n < content.blocks.size(); ++n) {
    const BlockDescription& block = content.blocks[n];
    const std::span<const std::byte> data = content.bytesOf(n);
    TESSERA_EXPECT(sizeOf(data) == block.bytes(),
                   "bytesOf must give exactly the bytes of the block's description");
    const ByteSink header = encodeBlockHeader(block, crc32c(data));
    index.put(at).putBytes(header.bytes());
    append(header.bytes());
    append(data);
  }
  const BlockFileTail tail{at, index.size(), static_cast<std::int64_t>(content.blocks.size()),
                           crc32c(index.bytes())};
  append(index.bytes());
  const ByteSink end = encodeTail(tail);
  append(end.bytes());
  TESSERA_EXPECT(at == planned, "the planned size of a rank file must be the written one");
  file.sync(ops);
  file.close(ops);
  return {planned, tail.blocks, closingCrc(end.bytes())};
}

std::vector<IndexedBlock> readBlockIndex(const Folder& folder, const BlockFileIdentity& identity,
                                         const BlockFileSummary& expected, const FileOps& ops) {
  const File file = folder.openForReading(rankFileName(identity.rank), ops);
  const std::int64_t size = file.size();
  if (size != expected.bytes || size < kFileHeaderBytes + kTailBytes) {
    damaged(file.path(), std::min(size, expected.bytes), "it has another size than the manifest says",
            std::to_string(expected.bytes) + " bytes", std::to_string(size) + " bytes");
  }
  const BlockFileTail tail = readTail(file, expected);
  checkFileHeader(file, identity);
  const std::vector<std::byte> raw = readPart(file, tail.indexOffset, tail.indexBytes);
  if (crc32c(raw) != tail.indexCrc) {
    damaged(file.path(), tail.indexOffset, "its index of blocks is broken", "CRC32C " + hex(tail.indexCrc),
            "CRC32C " + hex(crc32c(raw)));
  }
  std::vector<IndexedBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(tail.blocks));
  ByteSource source(raw);
  std::int64_t next = kFileHeaderBytes;
  for (std::int64_t n = 0; n < tail.blocks; ++n) {
    const std::optional<IndexedBlock> entry = takeIndexEntry(source);
    if (!entry || entry->offset != next || entry->block.bytes() > tail.indexOffset - next) {
      damaged(file.path(), tail.indexOffset, "entry " + std::to_string(n) + " of its index is not possible",
              "a block at byte " + std::to_string(next), entry ? asText(entry->block) : "no block");
    }
    next += encodeBlockHeader(entry->block, 0).size() + entry->block.bytes();
    blocks.push_back(*entry);
  }
  if (next != tail.indexOffset || source.left() != 0) {
    damaged(file.path(), next, "its blocks do not fill it", "the index at byte " + std::to_string(next),
            "the index at byte " + std::to_string(tail.indexOffset));
  }
  return blocks;
}

void readBlockData(const File& file, const IndexedBlock& block, std::span<std::byte> out) {
  const ByteSink header = encodeBlockHeader(block.block, block.dataCrc);
  const std::vector<std::byte> found = readPart(file, block.offset, header.size());
  if (!std::equal(found.begin(), found.end(), header.bytes().begin(), header.bytes().end())) {
    damagedBlock(file.path(), block, block.offset, "its header differs from the index",
                 crc32c(header.bytes()), crc32c(found));
  }
  const std::int64_t dataOffset = block.offset + header.size();
  const std::int64_t got = file.readAt(out, dataOffset);
  if (got != sizeOf(out)) {
    damaged(file.path(), dataOffset + got, "it ends inside " + asText(block.block),
            std::to_string(sizeOf(out)) + " bytes", std::to_string(got));
  }
  const std::uint32_t crc = crc32c(out);
  if (crc != block.dataCrc)
    damagedBlock(file.path(), block, dataOffset, "its values changed", block.dataCrc, crc);
}

}  // namespace tessera::detail
