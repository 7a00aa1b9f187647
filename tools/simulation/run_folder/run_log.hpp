#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "tools/simulation/run_folder/file_sums.hpp"

namespace tessera {

/// One name with its value, for a line of the log.
struct LogField {
  std::string_view name;
  std::variant<std::string, std::int64_t, double, bool> value;

  LogField(std::string_view n, std::string v) : name(n), value(std::move(v)) {}
  LogField(std::string_view n, const char* v) : name(n), value(std::string(v)) {}
  LogField(std::string_view n, double v) : name(n), value(v) {}
  LogField(std::string_view n, bool v) : name(n), value(v) {}
  LogField(std::string_view n, std::int64_t v) : name(n), value(v) {}
  LogField(std::string_view n, int v) : name(n), value(std::int64_t{v}) {}
};

/// {"event": "checkpoint", "step": 120} on one line, without line break; control characters are escaped.
std::string jsonLine(std::string_view event, std::span<const LogField> fields);
inline std::string jsonLine(std::string_view event, std::initializer_list<LogField> fields) {
  return jsonLine(event, std::span(fields.begin(), fields.size()));
}

/// RUN/log.jsonl: one JSON object a line, first its wall time and its event. A disk that is full does not
/// stop a run: `failure` says what was lost. One thread at a time.
class RunLog {
 public:
  explicit RunLog(const FolderHandle& folder);
  void event(std::string_view name, std::initializer_list<LogField> fields);
  /// Empty, or a sentence on the first line that could not be written.
  const std::string& failure() const { return failure_; }
  const FileSum& sum() const { return file_.sum(); }

 private:
  SummedFile file_;
  std::string failure_;
};

/// "2026-11-28T01:02:03.456Z"
std::string utcNow();

}  // namespace tessera
