#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datawarehouse/archive/detail/manifest.hpp"
#include "datawarehouse/archive/detail/posix_file.hpp"

// The folders inside `checkpoints`:
//   ckpt-000120       committed: its manifest verifies
//   ckpt-000120.tmp   being written, or being deleted; removed by the next writer
//   ckpt-000120.old   a predecessor of the same step that is being replaced, on file systems without an
//   exchange
namespace tessera::detail {

inline constexpr std::string_view kUnfinished = ".tmp";
inline constexpr std::string_view kReplaced = ".old";

/// A committed checkpoint of a folder.
struct Generation {
  std::string name;
  std::int64_t sequence = 0;
};

/// All folders with a valid manifest, newest first. Damaged ones are left out: they count for nothing, and
/// nobody deletes them.
std::vector<Generation> committedGenerations(const Folder& root, const FileOps& ops);

/// Deletes what is inside the folder `name` as far as it has the names a writer gives, then the folder.
void removeGeneration(const Folder& root, const std::string& name, const FileOps& ops);

/// Clears what a crash left behind: unfinished folders, and a predecessor that was half replaced.
void clearLeftovers(const Folder& root, const FileOps& ops);

/// Gives the finished folder "<name>.tmp" its name and makes that durable; a predecessor of the same step is
/// replaced and deleted. When it throws, the folder has its unfinished name again. Returns warnings.
std::vector<std::string> commitGeneration(const Folder& root, const std::string& name, const FileOps& ops);

/// Deletes the oldest generations beyond `keep`; returns a sentence for each one that could not be deleted.
std::vector<std::string> deleteOldGenerations(const Folder& root, int keep, const FileOps& ops);

}  // namespace tessera::detail
