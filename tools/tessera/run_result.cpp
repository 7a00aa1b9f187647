#include "tools/tessera/run_result.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity: they become texts.
Json numberOf(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json tableOf(const std::vector<std::pair<std::string, double>>& values) {
  Json table = Json::object();
  for (const auto& [name, value] : values) table[name] = numberOf(value);
  return table;
}

}  // namespace

void writeResult(const FolderHandle& folder, const RunResult& result) {
  Json json;
  json["status"] = result.outcome.status;
  json["exit_code"] = result.outcome.exitCode;
  json["reason"] = result.outcome.reason;
  json["step"] = result.step;
  json["time"] = numberOf(result.time);
  json["steps_taken"] = result.stepsTaken;
  json["wall_seconds"] = numberOf(result.wallSeconds);
  json["cells_per_second"] = numberOf(result.cellsPerSecond);
  json["checkpoint"] = result.checkpoint;
  json["diagnostics"] = tableOf(result.diagnostics);
  json["statistics"] = tableOf(result.statistics);
  json["warnings"] = result.warnings;
  folder.remove("reserve");  // made for this moment
  folder.write("result.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool claimFailure(const std::filesystem::path& runFolder, const Error& error, std::int64_t step,
                  double time) {
  try {
    const FolderHandle folder = FolderHandle::open(runFolder);
    if (!folder.claim("error.txt")) return false;
    folder.remove("reserve");
    writeAll(folder.openToAppend("error.txt").get(), error.message() + "\n");
    RunResult result;
    result.outcome = {"failed", error.exitCode(), error.message()};
    result.step = step;
    result.time = time;
    writeResult(folder, result);
  } catch (const Error&) {
    // The failure itself is what has to be told; that it could not be written down as well is no news.
  }
  return true;
}

}  // namespace tessera
