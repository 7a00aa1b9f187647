#include "tools/tessera/planned_fault.hpp"

#include <charconv>

#include "core/text/error.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--device-fault " + text + " is not a fault; give absent, driver, memory=BYTES or lost=N");
}

std::int64_t numberBehind(std::string_view name, const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(name.size());
  std::int64_t number = -1;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size() || number < 0) refuse(text);
  return number;
}

}  // namespace

void planFault(const std::string& text, EmulatedOptions& device) {
  constexpr std::string_view kMemory = "memory=";
  constexpr std::string_view kLost = "lost=";
  if (text.empty()) return;
  if (text == "absent") {
    device.refuses = DeviceFault::NoDevice;
  } else if (text == "driver") {
    device.refuses = DeviceFault::DriverTooOld;
  } else if (text.starts_with(kMemory)) {
    device.memoryBytes = numberBehind(kMemory, text);
  } else if (text.starts_with(kLost)) {
    device.failsAfter = numberBehind(kLost, text);
  } else {
    refuse(text);
  }
}

}  // namespace tessera
