#include "datawarehouse/archive/detail/series_file.hpp"

#include <charconv>
#include <cmath>

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

std::string extendSeries(const Folder& folder, const std::string& name, const SeriesEntry& entry,
                         const FileOps& ops) {
  std::vector<SeriesEntry> entries;
  std::string warning;
  if (folder.has(name)) {
    try {
      const File file = folder.openForReading(name, ops);
      std::string text(static_cast<std::size_t>(file.size()), '\0');
      file.readAt(std::as_writable_bytes(std::span(text.data(), text.size())), 0);
      entries = parseSeries(text);
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
