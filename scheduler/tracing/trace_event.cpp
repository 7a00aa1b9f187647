#include "scheduler/tracing/trace_event.hpp"

#include <charconv>
#include <cmath>

namespace tessera::detail {
namespace {

void appendNumber(std::string& text, std::int64_t value) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void appendTime(std::string& text, std::int64_t nanoseconds) {
  if (nanoseconds < 0) {
    text += '-';
    nanoseconds = -nanoseconds;
  }
  appendNumber(text, nanoseconds / 1000);
  const auto rest = static_cast<int>(nanoseconds % 1000);
  if (rest == 0) return;
  text += '.';
  for (const int unit : {100, 10, 1}) text += static_cast<char>('0' + rest / unit % 10);
}

void appendQuoted(std::string& text, std::string_view value) {
  text += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    // Names come from C++ sources and decks; what cannot be shown is not worth an escape.
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  text += '"';
}

}  // namespace

TraceEvent::TraceEvent(std::string& text, char phase, int rank, std::int32_t tid) : text_(text) {
  text_ += "{\"ph\":\"";
  text_ += phase;
  text_ += "\",\"pid\":";
  appendNumber(text_, rank);
  text_ += ",\"tid\":";
  appendNumber(text_, tid);
}

void TraceEvent::putKey(std::string_view key) {
  text_ += ",\"";
  text_ += key;
  text_ += "\":";
}

TraceEvent& TraceEvent::put(std::string_view key, std::string_view value) {
  putKey(key);
  appendQuoted(text_, value);
  return *this;
}

TraceEvent& TraceEvent::putTime(std::string_view key, std::int64_t nanoseconds) {
  putKey(key);
  appendTime(text_, nanoseconds);
  return *this;
}

TraceEvent& TraceEvent::id(std::uint64_t value) {
  putKey("id");
  appendNumber(text_, static_cast<std::int64_t>(value));
  return *this;
}

void TraceEvent::openArg(std::string_view key) {
  text_ += hasArgs_ ? ",\"" : ",\"args\":{\"";
  text_ += key;
  text_ += "\":";
  hasArgs_ = true;
}

TraceEvent& TraceEvent::arg(std::string_view key, std::string_view value) {
  openArg(key);
  appendQuoted(text_, value);
  return *this;
}

TraceEvent& TraceEvent::arg(std::string_view key, std::int64_t value) {
  openArg(key);
  appendNumber(text_, value);
  return *this;
}

TraceEvent& TraceEvent::argNumber(std::string_view key, double value) {
  openArg(key);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), std::isfinite(value) ? value : 0.0).ptr;
  text_.append(digits, end);
  return *this;
}

TraceEvent& TraceEvent::argTime(std::string_view key, std::int64_t nanoseconds) {
  openArg(key);
  appendTime(text_, nanoseconds);
  return *this;
}

void TraceEvent::end() { text_ += hasArgs_ ? "}},\n" : "},\n"; }

std::uint64_t arrowId(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  std::uint64_t id = 0;
  for (const std::int64_t part : {a, b, c, d}) {  // splitmix64
    id += static_cast<std::uint64_t>(part) + 0x9e3779b97f4a7c15ULL;
    id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9ULL;
    id = (id ^ (id >> 27)) * 0x94d049bb133111ebULL;
    id ^= id >> 31;
  }
  return id >> 11;
}

}  // namespace tessera::detail
