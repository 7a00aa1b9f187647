#include "tools/tessera/device_choice.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/error.hpp"
#include "scheduler/device/cuda_device.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--device " + text +
                   " names no devices; give none, cuda (or cuda:0,2 for these GPUs alone), or emulated");
}

std::int32_t numberOf(std::string_view digits, const std::string& text) {
  std::int32_t number = -1;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size() || number < 0) refuse(text);
  return number;
}

std::vector<std::int32_t> numbersOf(std::string_view list, const std::string& text) {
  std::vector<std::int32_t> numbers;
  while (true) {
    const std::size_t comma = list.find(',');
    numbers.push_back(numberOf(list.substr(0, comma), text));
    if (std::count(numbers.begin(), numbers.end(), numbers.back()) > 1) {
      throw UsageError("--device " + text + " names a GPU twice; name each once");
    }
    if (comma == std::string_view::npos) return numbers;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

DeviceChoice parseDeviceChoice(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool more = colon != std::string::npos;
  const std::string rest = more ? text.substr(colon + 1) : "";
  DeviceChoice choice;
  if (kind == "none" && !more) return choice;
  if (kind == "cuda") {
    choice.kind = DeviceKind::Cuda;
    if (more) choice.numbers = numbersOf(rest, text);
    return choice;
  }
  if (kind != "emulated" || more) refuse(text);
  choice.kind = DeviceKind::Emulated;
  return choice;
}

DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place) {
  DeviceOptions options;
  options.kind = choice.kind;
  if (!choice.numbers.empty()) {
    options.numbers = {choice.numbers[static_cast<std::size_t>(place) % choice.numbers.size()]};
  } else if (choice.kind == DeviceKind::Cuda) {
    // Without a GPU number 0 is asked for, and the backend says why there is none.
    options.numbers = {place % std::max(cudaDeviceCount(), 1)};
  }
  return options;
}

std::string asText(const std::vector<DeviceInfo>& devices) {
  std::ostringstream out;
  for (const DeviceInfo& info : devices) {
    if (&info != &devices.front()) out << "\n";
    out << asText(info) << ", " << info.processors << " multiprocessors, " << (info.memoryBytes >> 30)
        << " GiB";
  }
  return out.str();
}

}  // namespace tessera
