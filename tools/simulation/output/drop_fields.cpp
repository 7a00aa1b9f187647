#include <charconv>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/simulation/output/run_fields.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxSeriesBytes = std::int64_t{256} << 20;

/// 120 of "fields_000120.hdf" with `start` "fields_", -1 of any other name.
std::int64_t stepOf(const std::string& name, const std::string& start) {
  static const std::string end = ".hdf";
  if (name.size() <= start.size() + end.size() || name.rfind(start, 0) != 0 ||
      name.compare(name.size() - end.size(), end.size(), end) != 0) {
    return -1;
  }
  std::int64_t step = -1;
  const char* last = name.data() + name.size() - end.size();
  const auto [stop, error] = std::from_chars(name.data() + start.size(), last, step);
  return error == std::errc() && stop == last ? step : -1;
}

void dropFromSeries(const FolderHandle& out, const std::string& file, const std::set<std::string>& dropped) {
  if (!out.has(file)) return;
  Json series = Json::parse(shallowJson(out.read(file, kMaxSeriesBytes)), nullptr, false);
  // A series that nobody can read is begun anew with the next file; that is the writer's business.
  if (!series.is_object() || !series["files"].is_array()) return;
  Json kept = Json::array();
  for (const Json& entry : series["files"]) {
    const bool named = entry.is_object() && entry.contains("name") && entry["name"].is_string();
    if (!named || dropped.count(entry["name"].get<std::string>()) == 0) kept.push_back(entry);
  }
  series["files"] = kept;
  out.write(file, series.dump(1) + "\n");
}

}  // namespace

void dropFieldsAfter(const FolderHandle& folder, const std::string& name, std::int64_t step, bool keepStep) {
  std::set<std::string> dropped;
  for (const std::string& file : folder.names()) {
    const std::int64_t at = stepOf(file, name + "_");
    if (at > step || (at == step && !keepStep)) dropped.insert(file);
  }
  if (dropped.empty()) return;
  // First the list, then the files: at no instant does the series name a file that is gone.
  dropFromSeries(folder, name + ".hdf.series", dropped);
  for (const std::string& file : dropped) folder.remove(file);
}

}  // namespace tessera
