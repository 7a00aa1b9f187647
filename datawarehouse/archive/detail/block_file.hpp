#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datawarehouse/archive/checkpoint_content.hpp"
#include "datawarehouse/archive/detail/posix_file.hpp"

// The file of one rank in a checkpoint (little-endian, no padding):
//
//   file header   magic, version, byte order mark, generation id, step, rank, ranks, CRC
//   block         header (magic, type, level, patch, box, bytes, CRC of the data, label, CRC), then the data
//   ...           one after another without a gap
//   index         for each block: its offset and a copy of its header
//   tail          magic, version, place and CRC of the index, number of blocks, CRC
//
// The manifest holds the size and the tail's CRC. So every byte of the file is covered by a chain of CRCs
// that starts in the manifest: tail -> index -> block headers -> data, and the file header is known from the
// manifest.
namespace tessera::detail {

inline constexpr std::uint32_t kBlockFileVersion = 1;

/// Which file of which checkpoint it is.
struct BlockFileIdentity {
  std::string generation;  ///< 32 hexadecimal digits, drawn for each checkpoint
  std::int64_t step = 0;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
};

/// What the manifest keeps of a finished file.
struct BlockFileSummary {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::uint32_t tailCrc = 0;
};

/// A block and where it is.
struct IndexedBlock {
  BlockDescription block;
  std::int64_t offset = 0;  ///< of its header
  std::uint32_t dataCrc = 0;
};

/// "rank-00003.dat"
std::string rankFileName(std::int64_t rank);

/// Writes the whole file `rankFileName(identity.rank)` into `folder` and makes it durable.
/// Throws IoError for failures of the system and InternalError when a block's bytes have another size.
BlockFileSummary writeBlockFile(const Folder& folder, const BlockFileIdentity& identity,
                                const CheckpointBlocks& content, const FileOps& ops);

/// Verifies size, tail, index and file header, and returns the index. Throws InputError (without a fix) or
/// IoError.
std::vector<IndexedBlock> readBlockIndex(const Folder& folder, const BlockFileIdentity& identity,
                                         const BlockFileSummary& expected, const FileOps& ops);

/// Reads the values of one block and verifies its header and data. Same errors.
void readBlockData(const File& file, const IndexedBlock& block, std::span<std::byte> out);

}  // namespace tessera::detail
