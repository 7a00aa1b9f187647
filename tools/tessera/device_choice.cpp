#include "tools/tessera/device_choice.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "core/text/error.hpp"
#include "datawarehouse/status.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/nearest_devices.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--device " + text +
                   " names no devices; give none, cuda (or cuda:0,2 for only these GPUs), or emulated (or "
                   "emulated:3 for three)");
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

[[noreturn]] void refuseCount(const std::string& text) {
  throw UsageError("--device " + text + ": a rank has one to " + std::to_string(kDeviceSlots) +
                   " emulated devices");
}

std::vector<std::int32_t> firstNumbers(std::int32_t count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Without a GPU number 0 is asked for, and the backend says why there is none.
std::vector<std::int32_t> gpusOf(const DeviceChoice& choice) {
  return choice.numbers.empty() ? firstNumbers(std::max(cudaDeviceCount(), 1)) : choice.numbers;
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
  if (kind != "emulated") refuse(text);
  choice.kind = DeviceKind::Emulated;
  if (more) {
    const std::int32_t count = numberOf(rest, text);
    if (count < 1 || count > kDeviceSlots) refuseCount(text);
    choice.numbers = firstNumbers(count);
  }
  return choice;
}

std::vector<int> distancesTo(const DeviceChoice& choice, const std::vector<int>& cores) {
  std::vector<int> distances;
  if (choice.kind != DeviceKind::Cuda) return distances;
  std::vector<std::string> addresses;
  for (const std::int32_t gpu : gpusOf(choice)) addresses.push_back(cudaPciAddress(gpu));
  for (const DeviceNearness& near : nearnessOf(addresses, cores)) distances.push_back(near.distance);
  return distances;
}

DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place, std::int32_t ranks) {
  const std::size_t gpus = choice.kind == DeviceKind::Cuda ? gpusOf(choice).size() : 0;
  const std::vector<int> alike(gpus, DeviceNearness::kUnknown);
  return devicesOf(choice, place, std::vector(static_cast<std::size_t>(ranks), alike));
}

DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place,
                        const std::vector<std::vector<int>>& distances) {
  DeviceOptions options;
  options.kind = choice.kind;
  if (choice.kind == DeviceKind::Cuda) {
    const std::vector<std::int32_t> gpus = gpusOf(choice);
    options.numbers.clear();
    const std::vector<std::vector<std::int32_t>> dealt = dealDevices(distances);
    for (const std::int32_t n : dealt.at(static_cast<std::size_t>(place))) {
      options.numbers.push_back(gpus[static_cast<std::size_t>(n)]);
    }
  } else if (!choice.numbers.empty()) {
    options.numbers = choice.numbers;
  }
  return options;
}

}  // namespace tessera
