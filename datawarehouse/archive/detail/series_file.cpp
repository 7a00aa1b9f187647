#include "datawarehouse/archive/detail/series_file.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"

namespace tessera::detail {

std::vector<SeriesEntry> parseSeries(std::string_view text) {
  try {
    std::vector<SeriesEntry> entries;
    const auto json = nlohmann::json::parse(text);
    for (const auto& file : json.at("files")) {
      entries.push_back({file.at("name").get<std::string>(), file.at("time").get<double>()});
    }
    return entries;
  } catch (const nlohmann::json::exception& problem) {
    throw InputError(std::string("it is not a .series file: ") + problem.what());
  }
}

std::string formatSeries(const std::vector<SeriesEntry>& entries) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const SeriesEntry& entry : entries) files.push_back({{"name", entry.file}, {"time", entry.time}});
  const nlohmann::ordered_json json = {{"file-series-version", "1.0"}, {"files", files}};
  return json.dump(1) + "\n";
}

namespace {

constexpr std::string_view kSeriesEntry = "\n  {\n";
constexpr std::string_view kSeriesEnd = "\n ]\n}\n";
constexpr std::int64_t kLongestEntry = 1024;
constexpr std::int64_t kMaxSeriesBytes = std::int64_t{256} << 20;

std::string textOf(const File& file, std::int64_t from, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  text.resize(static_cast<std::size_t>(file.readAt(std::as_writable_bytes(std::span(text)), from)));
  return text;
}

/// The entries of the text from the last one on; empty where it does not end as `formatSeries` writes it.
std::vector<SeriesEntry> lastEntryOf(const std::string& tail) {
  const std::size_t start = tail.rfind(kSeriesEntry);
  if (start == std::string::npos || !tail.ends_with(kSeriesEnd)) return {};
  return parseSeries("{\"files\": [" + tail.substr(start, tail.size() - start - kSeriesEnd.size()) + "]}");
}

/// Puts the entry behind the last one, by one short write: a series of many files costs no more than one of
/// few. False where that does not do: the entry replaces others, or the end of the file is not as expected.
bool appended(const Folder& folder, const std::string& name, const SeriesEntry& entry, const FileOps& ops) {
  File file = folder.openForWriting(name, ops);
  const std::int64_t size = file.size();
  const std::int64_t from = std::max<std::int64_t>(0, size - kLongestEntry);
  std::vector<SeriesEntry> last;
  try {
    last = lastEntryOf(textOf(file, from, size - from));
  } catch (const InputError&) {
    return false;
  }
  if (last.size() != 1 || !(last.front().time < entry.time) || last.front().file == entry.file) return false;
  const std::string one = formatSeries({entry});
  file.writeAt(ops, asBytes("," + one.substr(one.find(kSeriesEntry))),
               size - static_cast<std::int64_t>(kSeriesEnd.size()));
  file.sync(ops);
  file.close(ops);
  return true;
}

}  // namespace

std::string extendSeries(const Folder& folder, const std::string& name, const SeriesEntry& entry,
                         const FileOps& ops) {
  std::vector<SeriesEntry> entries;
  std::string warning;
  if (folder.has(name)) {
    try {
      if (appended(folder, name, entry, ops)) return {};
      const File file = folder.openForReading(name, ops);
      if (file.size() > kMaxSeriesBytes)
        throw InputError("it is larger than " + std::to_string(kMaxSeriesBytes) + " bytes");
      entries = parseSeries(textOf(file, 0, file.size()));
    } catch (const InputError& problem) {
      warning = folder.pathOf(name) + " was started again, because " + problem.message();
    }
  }
  std::erase_if(entries,
                [&](const SeriesEntry& old) { return old.file == entry.file || !(old.time < entry.time); });
  entries.push_back(entry);
  replaceFile(folder, name, formatSeries(entries), ops);
  return warning;
}

}  // namespace tessera::detail
