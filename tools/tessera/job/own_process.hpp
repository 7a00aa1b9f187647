#pragma once

#include <functional>
#include <string>

namespace tessera {

/// Does `work`, which reads files that may come from anywhere through a library that a crafted file may
/// crash, in a process of its own, and returns the exit code that it returns. Where that process throws, the
/// Error is thrown here; where it crashes, an InputError that names `files`. One thread only in the process.
int inOwnProcess(const std::string& files, const std::function<int()>& work);

}  // namespace tessera
