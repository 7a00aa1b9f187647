#include "tools/simulation/run_folder/file_sums.hpp"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"

namespace tessera {
namespace {

const char* const kName = "sums.json";

void add(FileSum& sum, std::string_view text) {
  sum.crc = crc32c(std::as_bytes(std::span(text.data(), text.size())), sum.crc);
  sum.bytes += std::ssize(text);
}

}  // namespace

FileSum sumOf(const FolderHandle& folder, const std::string& name, std::int64_t mostBytes) {
  FileSum sum;
  folder.forEachPiece(name, [&](std::string_view piece) {
    const auto left = static_cast<std::size_t>(std::max<std::int64_t>(0, mostBytes - sum.bytes));
    add(sum, piece.substr(0, left));
    return sum.bytes < mostBytes;
  });
  return sum;
}

SummedFile::SummedFile(const FolderHandle& folder, const std::string& name)
    : file_(folder.openToAppend(name)) {
  sum_ = sumOf(folder, name);
}

int SummedFile::append(std::string_view text) {
  const int error = writeAll(file_.get(), text);
  if (error == 0) add(sum_, text);
  return error;
}

void writeSums(const FolderHandle& folder, const std::map<std::string, FileSum>& sums) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, sum] : sums) json[name] = {{"bytes", sum.bytes}, {"crc32c", sum.crc}};
  folder.write(kName, json.dump(1) + "\n");
}

std::map<std::string, FileSum> readSums(const FolderHandle& folder) {
  std::map<std::string, FileSum> sums;
  if (!folder.has(kName)) return sums;
  const auto json = nlohmann::ordered_json::parse(shallowJson(folder.read(kName)), nullptr, false);
  if (!json.is_object())
    throw InputError((folder.path() / kName).string() + " is damaged: it is not a JSON object");
  for (const auto& [name, entry] : json.items()) {
    const bool good = entry.is_object() && entry.contains("bytes") && entry["bytes"].is_number_integer() &&
                      entry.contains("crc32c") && entry["crc32c"].is_number_unsigned();
    if (!good || name.find('/') != std::string::npos)
      throw InputError((folder.path() / kName).string() + " is damaged: its entry of \"" + name +
                       "\" is not a checksum");
    sums[name] = {entry["bytes"].get<std::int64_t>(), entry["crc32c"].get<std::uint32_t>()};
  }
  return sums;
}

}  // namespace tessera
