#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datawarehouse/archive/checkpoint_content.hpp"
#include "datawarehouse/archive/detail/block_file.hpp"

// manifest.json, the one file that makes a checkpoint a checkpoint. It is one JSON object of three entries:
//   {"tessera_checkpoint": 2, "crc32c": "e3069283", "body":
//   {...}
//   }
// The CRC is that of the body's bytes, everything around the body is compared byte by byte.
namespace tessera::detail {

inline constexpr std::int64_t kCheckpointVersion = 2;
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr std::int64_t kMaxManifestBytes = std::int64_t{256} << 20;

struct Manifest {
  std::int64_t step = 0;
  std::int64_t sequence = 0;            ///< one more than any earlier checkpoint in the folder
  std::string generation;               ///< 32 hexadecimal digits, repeated in each rank file
  std::vector<BlockFileSummary> files;  ///< files[r] is rank r's
  CheckpointIdentity identity;
  CheckpointState state;
};

std::string encodeManifest(const Manifest& manifest);
/// InputError naming `file` when the text is not exactly what `encodeManifest` writes.
Manifest decodeManifest(std::string_view text, const std::string& file);

/// "0x1.8p+1" for finite numbers, "bits:7ff8000000000001" for the others: every bit comes back.
std::string exactText(double value);
double exactDouble(const std::string& text);

/// "ckpt-000120", and the step of such a name or -1.
std::string checkpointName(std::int64_t step);
std::int64_t stepOfName(std::string_view name);

/// Reads and verifies the manifest inside `folder`. InputError or IoError.
Manifest readManifest(const Folder& folder, const FileOps& ops);

}  // namespace tessera::detail
