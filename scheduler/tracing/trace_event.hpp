#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::detail {

/// The lanes of a rank: the `tid` of its events. Those of messages and reductions are the first of as many as
/// overlap. Behind them are those of devices.
enum class TraceLane : std::int32_t {
  Steps = 0,
  FirstWorker = 1,
  Reductions = 10'000,
  Messages = 20'000,
  Devices = 30'000
};

/// Writes one event of the Chrome trace-event format: an object, and the comma and newline after it. Times
/// are nanoseconds; the format wants microseconds, so three decimals lose nothing.
///
///   TraceEvent(text, 'X', rank, tid).name("Heat::advance").at(begin).lasts(end - begin).arg("patch",
///   3).end();
class TraceEvent {
 public:
  TraceEvent(std::string& text, char phase, int rank, std::int32_t tid);

  TraceEvent& name(std::string_view value) { return put("name", value); }
  TraceEvent& category(std::string_view value) { return put("cat", value); }
  TraceEvent& at(std::int64_t nanoseconds) { return putTime("ts", nanoseconds); }
  TraceEvent& lasts(std::int64_t nanoseconds) { return putTime("dur", nanoseconds); }
  /// Joins the two ends of an arrow: category, name and id are the same at both.
  TraceEvent& id(std::uint64_t value);
  /// The arrow ends at the slice around it.
  TraceEvent& endsInSlice() { return put("bp", std::string_view("e")); }
  // Arguments come last.
  TraceEvent& arg(std::string_view key, std::string_view value);
  TraceEvent& arg(std::string_view key, std::int64_t value);
  TraceEvent& argNumber(std::string_view key, double value);
  TraceEvent& argTime(std::string_view key, std::int64_t nanoseconds);
  void end();

 private:
  TraceEvent& put(std::string_view key, std::string_view value);
  TraceEvent& putTime(std::string_view key, std::int64_t nanoseconds);
  void putKey(std::string_view key);
  void openArg(std::string_view key);

  std::string& text_;
  bool hasArgs_ = false;
};

/// A number below 2^53 for the arrow between two ends that `a`, `b`, `c` and `d` name; equal only by a rare
/// chance.
std::uint64_t arrowId(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d);

}  // namespace tessera::detail
