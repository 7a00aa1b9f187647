#include "core/memory/available_memory.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/resource.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The number after `key` at the start of a line; -1 where there is none, as of "max".
std::int64_t numberAfter(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::istringstream rest(line.substr(key.size()));
    std::int64_t number = -1;
    return rest >> number ? number : -1;
  }
  return -1;
}

void lower(AvailableMemory& memory, std::int64_t bytes, const char* limit) {
  if (bytes < memory.bytes) memory = {bytes < 0 ? 0 : bytes, limit};
}

/// What files keep in a group is given back on demand.
void lowerByGroup(AvailableMemory& memory, const fs::path& group, const char* most, const char* now,
                  const char* files) {
  const std::int64_t limit = numberAfter(textOf(group / most), "");
  const std::int64_t used = numberAfter(textOf(group / now), "");
  if (limit < 0 || used < 0) return;
  const std::int64_t kept = numberAfter(textOf(group / "memory.stat"), files);
  lower(memory, limit - used + (kept > 0 ? kept : 0), "the limit of the control group");
}

void lowerByGroups(AvailableMemory& memory) {
  std::istringstream groups(textOf("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const std::size_t name = line.find(':');
    const std::size_t path = name == std::string::npos ? name : line.find(':', name + 1);
    if (path == std::string::npos) continue;
    const std::string controllers = line.substr(name + 1, path - name - 1);
    const bool second = controllers.empty();
    if (!second && controllers != "memory") continue;
    const fs::path root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (fs::path group = fs::path(root.string() + line.substr(path + 1));
         group.string().rfind(root.string(), 0) == 0 && group.has_parent_path();
         group = group.parent_path()) {
      if (second) {
        lowerByGroup(memory, group, "memory.max", "memory.current", "inactive_file ");
      } else {
        lowerByGroup(memory, group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
      }
    }
  }
}

void lowerByLimit(AvailableMemory& memory, decltype(RLIMIT_AS) which, const char* used, const char* name) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const std::int64_t kilobytes = numberAfter(textOf("/proc/self/status"), used);
  if (kilobytes < 0) return;
  constexpr auto kMost = static_cast<rlim_t>(std::numeric_limits<std::int64_t>::max());
  lower(memory, static_cast<std::int64_t>(std::min(limit.rlim_cur, kMost)) - kilobytes * 1024, name);
}

}  // namespace

std::int64_t freeBytesOf(const std::string& meminfo) {
  const std::int64_t available = numberAfter(meminfo, "MemAvailable:");
  const std::int64_t swap = numberAfter(meminfo, "SwapFree:");
  return available < 0 ? -1 : (available + (swap > 0 ? swap : 0)) * 1024;
}

AvailableMemory availableOnMachine() {
  AvailableMemory memory{std::numeric_limits<std::int64_t>::max(), "nothing"};
  const std::int64_t machine = freeBytesOf(textOf("/proc/meminfo"));
  if (machine >= 0) lower(memory, machine, "what is free on this machine");
  lowerByGroups(memory);
  return memory;
}

AvailableMemory availableToProcess() {
  AvailableMemory memory{std::numeric_limits<std::int64_t>::max(), "nothing"};
  lowerByLimit(memory, RLIMIT_AS, "VmSize:", "ulimit -v");
  lowerByLimit(memory, RLIMIT_DATA, "VmData:", "ulimit -d");
  return memory;
}

}  // namespace tessera
