#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace tessera {

/// Does `work`, which reads these files and folders, in a process of its own, and returns the exit code that
/// it returns. They may come from anywhere, and a crafted one may crash the library that reads it or ask for
/// memory without end: where that process throws, the Error is thrown here; where it crashes, or takes many
/// times more memory than the files have bytes, an InputError that names them. One thread only in the
/// process.
int inOwnProcess(const std::vector<std::filesystem::path>& files, const std::function<int()>& work);

}  // namespace tessera
