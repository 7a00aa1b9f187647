#include "tools/simulation/run_folder/run_result.hpp"

#include <nlohmann/json.hpp>

#include "core/text/json_number.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json numberOf(double value) { return jsonNumber<Json>(value); }

Json tableOf(const std::vector<std::pair<std::string, double>>& values) {
  Json table = Json::object();
  for (const auto& [name, value] : values) table[name] = numberOf(value);
  return table;
}

Json devicesOf(const RunResult& result) {
  Json json;
  json["used"] = Json::array();
  for (const std::string& device : result.devices) json["used"].push_back(Json::parse(device));
  json["placement"] = result.placement;
  if (!result.cost.used) return json;
  Json cost;
  cost["host_part"] = result.cost.hostPart;
  cost["settled"] = result.cost.settled;
  cost["trial_steps"] = result.cost.trialSteps;
  cost["trials"] = Json::array();
  for (const auto& [part, seconds] : result.cost.trials) {
    cost["trials"].push_back({{"host_part", part}, {"step_seconds", numberOf(seconds)}});
  }
  json["cost"] = cost;
  return json;
}

Json headOf(const RunOutcome& outcome, const std::optional<RunState>& state) {
  Json json;
  json["status"] = outcome.status;
  json["exit_code"] = outcome.exitCode;
  json["reason"] = outcome.reason;
  if (!state) return json;
  json["step"] = state->step;
  json["time"] = numberOf(state->time);
  return json;
}

void writeJson(const FolderHandle& folder, const Json& json) {
  folder.remove("reserve");  // made for this moment
  folder.write("result.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

void writeResult(const FolderHandle& folder, const RunResult& result) {
  Json json = headOf(result.outcome, RunState{result.step, result.time});
  json["steps_taken"] = result.stepsTaken;
  json["wall_seconds"] = numberOf(result.wallSeconds);
  json["cells_per_second"] = numberOf(result.cellsPerSecond);
  json["checkpoint"] = result.checkpoint;
  json["diagnostics"] = tableOf(result.diagnostics);
  json["statistics"] = tableOf(result.statistics);
  Json plans = Json::object();
  for (const PlanTime& plan : result.plans)
    plans[plan.plan] = {{"runs", plan.runs}, {"seconds", numberOf(plan.seconds)}};
  json["plans"] = plans;
  json["warnings"] = result.warnings;
  if (!result.devices.empty()) json["devices"] = devicesOf(result);
  writeJson(folder, json);
}

bool claimFailure(const std::filesystem::path& runFolder, const Error& error, std::optional<RunState> state) {
  try {
    const FolderHandle folder = FolderHandle::open(runFolder);
    if (!folder.claim("error.txt")) return false;
    folder.remove("reserve");
    writeAll(folder.openToAppend("error.txt").get(), error.message() + "\n");
    writeJson(folder, headOf({"failed", error.exitCode(), error.message()}, state));
  } catch (const Error&) {
    // The failure itself is what has to be told; that it could not be written down as well is no news.
  }
  return true;
}

}  // namespace tessera
