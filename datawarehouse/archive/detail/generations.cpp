#include "datawarehouse/archive/detail/generations.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

namespace tessera::detail {
namespace {

bool isRankFileName(std::string_view name) {
  if (!name.starts_with("rank-") || !name.ends_with(".dat")) return false;
  const std::string_view digits = name.substr(5, name.size() - 9);
  return !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "ckpt-000120" from "ckpt-000120.tmp"; empty when the name is not one of ours with that ending.
std::string stemOf(const std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return {};
  const std::string stem = name.substr(0, name.size() - ending.size());
  return stepOfName(stem) >= 0 ? stem : std::string();
}

// A rename that is not durable is no commit: it is undone, and the failure goes on.
void syncOrTakeBack(const Folder& root, const FileOps& ops, const std::function<void()>& takeBack) {
  try {
    root.sync(ops);
  } catch (const Error&) {
    takeBack();
    throw;
  }
}

// Deleting comes after the commit, so its failure is only worth a warning.
std::vector<std::string> warningsOf(const std::function<void()>& removal) {
  try {
    removal();
    return {};
  } catch (const Error& failure) {
    return {"an old checkpoint could not be deleted: " + failure.message()};
  }
}

}  // namespace

std::vector<Generation> committedGenerations(const Folder& root, const FileOps& ops) {
  std::vector<Generation> found;
  for (const std::string& name : root.names()) {
    if (stepOfName(name) < 0) continue;
    try {
      found.push_back({name, readManifest(root.openFolder(name, ops), ops).sequence});
    } catch (const Error&) {
      continue;
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.sequence > b.sequence; });
  return found;
}

void removeGeneration(const Folder& root, const std::string& name, const FileOps& ops) {
  const Folder folder = root.openFolder(name, ops);
  for (const std::string& entry : folder.names()) {
    if (entry == kManifestName || isRankFileName(entry)) folder.unlinkFile(entry, ops);
  }
  root.removeFolder(name, ops);
}

void clearLeftovers(const Folder& root, const FileOps& ops) {
  for (const std::string& name : root.names()) {
    if (!stemOf(name, kUnfinished).empty()) removeGeneration(root, name, ops);
    const std::string replaced = stemOf(name, kReplaced);
    if (replaced.empty()) continue;
    if (root.has(replaced)) {
      removeGeneration(root, name, ops);
    } else {
      root.rename(name, replaced, ops);
    }
  }
}

std::vector<std::string> commitGeneration(const Folder& root, const std::string& name, const FileOps& ops) {
  const std::string unfinished = name + std::string(kUnfinished);
  std::string predecessor;
  if (!root.has(name)) {
    root.rename(unfinished, name, ops);
    syncOrTakeBack(root, ops, [&] { root.rename(name, unfinished, ops); });
  } else if (root.exchange(unfinished, name, ops)) {
    predecessor = unfinished;
    syncOrTakeBack(root, ops, [&] { root.exchange(unfinished, name, ops); });
  } else {
    predecessor = name + std::string(kReplaced);
    root.rename(name, predecessor, ops);
    root.rename(unfinished, name, ops);
    syncOrTakeBack(root, ops, [&] {
      root.rename(name, unfinished, ops);
      root.rename(predecessor, name, ops);
    });
  }
  if (predecessor.empty()) return {};
  return warningsOf([&] { removeGeneration(root, predecessor, ops); });
}

std::vector<std::string> deleteOldGenerations(const Folder& root, int keep, const FileOps& ops) {
  std::vector<std::string> problems;
  const std::vector<Generation> all = committedGenerations(root, ops);
  for (std::size_t n = static_cast<std::size_t>(keep); n < all.size(); ++n) {
    const std::vector<std::string> more = warningsOf([&] {
      // Under the unfinished name it cannot be taken for a checkpoint while its files go one by one.
      const std::string doomed = all[n].name + std::string(kUnfinished);
      root.rename(all[n].name, doomed, ops);
      removeGeneration(root, doomed, ops);
    });
    problems.insert(problems.end(), more.begin(), more.end());
  }
  return problems;
}

}  // namespace tessera::detail
