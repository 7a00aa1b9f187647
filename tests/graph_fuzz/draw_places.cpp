#include "tests/graph_fuzz/draw_places.hpp"

#include <utility>

namespace tessera::fuzz {
namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The same on every machine, unlike std::hash.
std::uint64_t numberOf(const std::string& name) {
  std::uint64_t number = 0;
  for (const char c : name) number = mixed(number, static_cast<unsigned char>(c));
  return number;
}

}  // namespace

PlaceTask drawPlaces(std::uint64_t seed) {
  const std::uint64_t manner = mixed(seed, 0);
  const bool byTask = manner % 4 != 0;
  const bool byPatch = manner % 4 == 0 || manner / 4 % 2 == 0;
  const std::uint64_t devices = manner / 8 % 3 == 0 ? 1 + manner / 24 % 3 : 1;
  const std::uint64_t onHost = manner / 72 % 3;  // none, or as many as on one device, or twice
  return [=](const TaskDeclaration& task, LevelId level, std::int32_t local) {
    std::uint64_t lot = seed;
    if (byTask) lot = mixed(mixed(lot, numberOf(task.name)), static_cast<std::uint64_t>(level + 1));
    if (byPatch) lot = mixed(lot, static_cast<std::uint64_t>(local + 1));
    const std::uint64_t side = lot % (devices + onHost);
    return side < devices ? static_cast<DeviceAssignment>(side) : kOnHost;
  };
}

std::vector<DeviceAssignment> drawHomes(std::uint64_t seed, std::size_t patches) {
  const std::uint64_t devices = 2 + mixed(seed, 1) % 2;
  std::vector<DeviceAssignment> homes;
  for (std::size_t n = 0; n < patches; ++n)
    homes.push_back(static_cast<DeviceAssignment>(mixed(seed, n + 2) % devices));
  return homes;
}

PlaceTask drawAtHome(std::uint64_t seed, std::vector<DeviceAssignment> homes) {
  const bool byPatch = mixed(seed, 0) % 2 == 0;
  return [=, homes = std::move(homes)](const TaskDeclaration& task, LevelId level, std::int32_t local) {
    if (local < 0) return kOnHost;
    std::uint64_t lot = mixed(mixed(seed, numberOf(task.name)), static_cast<std::uint64_t>(level + 1));
    if (byPatch) lot = mixed(lot, static_cast<std::uint64_t>(local + 1));
    return lot % 4 == 0 ? kOnHost : homes[static_cast<std::size_t>(local)];
  };
}

}  // namespace tessera::fuzz
