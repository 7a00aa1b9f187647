#include "tools/simulation/run_folder/provenance.hpp"

#include <nlohmann/json.hpp>

#include "core/build_info.hpp"
#include "core/text/error.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"
#include "tools/simulation/run_folder/run_log.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json programFacts() {
  const BuildInfo info = buildInfo();
  Json json;
  json["version"] = info.version;
  json["revision"] = info.revision;
  json["compiler"] = info.compiler;
  json["build_type"] = info.buildType;
  json["flags"] = info.flags;
  Json dependencies = Json::object();
  for (const DependencyInfo& dependency : info.dependencies) {
    dependencies[dependency.name] = dependency.version.empty() ? "not in this build" : dependency.version;
  }
  json["dependencies"] = dependencies;
  return json;
}

Json startFacts(const RunFacts& facts) {
  Json json;
  json["started"] = utcNow();
  json["command_line"] = facts.commandLine;
  json["ranks"] = facts.processes.size();
  json["threads"] = facts.threads;
  json["executor"] = facts.executor;
  json["checked"] = facts.checked;
  json["processes"] = facts.processes;
  if (!facts.devices.empty()) {
    json["devices"] = Json::array();
    for (const std::string& device : facts.devices) json["devices"].push_back(Json::parse(device));
  }
  json["program"] = programFacts();
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A run that is restarted for ever forgets the oldest restarts, and says how many.
std::string dumpedWithin(Json json) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  std::string text = dumped(json);
  Json& restarts = json["restarts"];
  while (text.size() > kMostBytes && restarts.size() > 1) {
    const auto half = static_cast<std::ptrdiff_t>(restarts.size() / 2);
    const std::int64_t before = json.contains("restarts_left_out") && json["restarts_left_out"].is_number()
                                    ? json["restarts_left_out"].get<std::int64_t>()
                                    : 0;
    restarts.erase(restarts.begin(), restarts.begin() + half);
    json["restarts_left_out"] = before + half;
    text = dumped(json);
  }
  return text;
}

Json parsed(const std::string& text) {
  Json json = Json::parse(shallowJson(text), nullptr, false);
  if (json.is_object()) return json;
  throw InputError("provenance.json of the run folder is damaged: it is not a JSON object");
}

}  // namespace

std::string provenanceText(const RunFacts& facts) {
  Json json;
  json["deck"] = {{"name", facts.deckName}, {"sha256", facts.deckSha256}};
  json["run_id"] = facts.runId;
  json["overrides"] = facts.overrides;
  json["start"] = startFacts(facts);
  json["restarts"] = Json::array();
  return dumped(json);
}

std::string provenanceText(const RunFacts& facts, const std::string& before, std::int64_t step) {
  Json json = parsed(before);
  Json restart = startFacts(facts);
  restart["from_step"] = step;
  restart["deck_sha256"] = facts.deckSha256;
  restart["run_id"] = facts.runId;
  json["overrides"] = facts.overrides;
  if (!json["restarts"].is_array()) json["restarts"] = Json::array();
  json["restarts"].push_back(restart);
  return dumpedWithin(std::move(json));
}

std::vector<std::string> overridesIn(const std::string& provenance) {
  const Json json = parsed(provenance);
  std::vector<std::string> overrides;
  const auto list = json.find("overrides");
  if (list == json.end() || !list->is_array()) return overrides;
  for (const Json& entry : *list) {
    if (entry.is_string()) overrides.push_back(entry.get<std::string>());
  }
  return overrides;
}

}  // namespace tessera
