#include "tools/simulation/run_folder/run_log.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// Text that is not UTF-8 is shown with replacement characters, not refused: a log takes everything.
std::string lineOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json objectOf(std::string_view event, std::span<const LogField> fields) {
  Json json;
  json["event"] = event;
  for (const LogField& field : fields) {
    std::visit([&](const auto& value) { json[std::string(field.name)] = value; }, field.value);
  }
  return json;
}

}  // namespace

std::string utcNow() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  const std::size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + length, sizeof(text) - length, ".%03dZ", static_cast<int>(ms));
  return text;
}

std::string jsonLine(std::string_view event, std::span<const LogField> fields) {
  return lineOf(objectOf(event, fields));
}

RunLog::RunLog(const FolderHandle& folder) : file_(folder, "log.jsonl") {}

void RunLog::event(std::string_view name, std::initializer_list<LogField> fields) {
  Json json;
  json["time"] = utcNow();
  json.update(objectOf(name, std::span(fields.begin(), fields.size())));
  const int error = file_.append(lineOf(json) + "\n");
  if (error != 0 && failure_.empty()) failure_ = "log.jsonl could not be written: " + errorText(error);
}

}  // namespace tessera
