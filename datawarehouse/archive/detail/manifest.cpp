#include "datawarehouse/archive/detail/manifest.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "datawarehouse/archive/crc32c.hpp"

namespace tessera::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStart = "{\"tessera_checkpoint\": ";
constexpr std::string_view kBeforeCrc = ", \"crc32c\": \"";
constexpr std::string_view kBeforeBody = "\", \"body\":\n";
constexpr std::string_view kEnd = "\n}\n";

std::string hex8(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08" PRIx32, value);
  return text;
}

Json stateToJson(const CheckpointState& state) {
  Json json = Json::object();
  for (const auto& [key, value] : state.values()) {
    if (const auto* text = std::get_if<std::string>(&value)) json[key] = {{"text", *text}};
    if (const auto* whole = std::get_if<std::int64_t>(&value)) json[key] = {{"integer", *whole}};
    if (const auto* real = std::get_if<double>(&value)) json[key] = {{"real", exactText(*real)}};
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
      Json numbers = Json::array();
      for (const double x : *list) numbers.push_back(exactText(x));
      json[key] = {{"reals", numbers}};
    }
  }
  return json;
}

CheckpointState stateFromJson(const Json& json) {
  CheckpointState state;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_object() || value.size() != 1)
      throw InputError("the state's entry '" + key + "' has no value");
    const std::string kind = value.begin().key();
    const Json& content = value.begin().value();
    if (kind == "text") state.set(key, content.get<std::string>());
    if (kind == "integer") state.set(key, content.get<std::int64_t>());
    if (kind == "real") state.set(key, exactDouble(content.get<std::string>()));
    if (kind == "reals") {
      std::vector<double> list;
      for (const Json& x : content) list.push_back(exactDouble(x.get<std::string>()));
      state.set(key, std::move(list));
    }
  }
  return state;
}

Json identityToJson(const CheckpointIdentity& identity) {
  Json labels = Json::array();
  for (const CheckpointLabel& label : identity.labels) {
    labels.push_back({{"name", label.name},
                      {"scalar", static_cast<int>(label.type.scalar)},
                      {"components", label.type.components},
                      {"centering", static_cast<int>(label.centering)}});
  }
  return {{"grid", identity.gridHash},
          {"code_version", identity.codeVersion},
          {"components", identity.components},
          {"labels", labels},
          {"deck", identity.deckText}};
}

CheckpointIdentity identityFromJson(const Json& json) {
  CheckpointIdentity identity;
  identity.gridHash = json.at("grid").get<std::string>();
  identity.codeVersion = json.at("code_version").get<std::string>();
  identity.components = json.at("components").get<std::vector<std::string>>();
  identity.deckText = json.at("deck").get<std::string>();
  for (const Json& label : json.at("labels")) {
    identity.labels.push_back(
        {label.at("name").get<std::string>(),
         {static_cast<Scalar>(label.at("scalar").get<int>()), label.at("components").get<int>()},
         static_cast<Centering>(label.at("centering").get<int>())});
  }
  return identity;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what, std::size_t at,
                         const std::string& expected, const std::string& found) {
  throw InputError(Message("a checkpoint manifest is damaged: " + what)
                       .line("file      ", file)
                       .line("at byte   ", at)
                       .line("expected  ", expected)
                       .line("found     ", found)
                       .text());
}

// Takes the envelope apart: checks version and CRC, returns the body.
std::string_view openEnvelope(std::string_view text, const std::string& file) {
  if (!text.starts_with(kStart))
    refuse(file, "it does not start like a manifest", 0, std::string(kStart), "other text");
  std::int64_t version = 0;
  const char* digits = text.data() + kStart.size();
  const auto [end, error] = std::from_chars(digits, text.data() + text.size(), version);
  if (error == std::errc() && version != kCheckpointVersion) {
    throw InputError(Message("the checkpoint has another format version")
                         .line("file      ", file)
                         .line("expected  version ", kCheckpointVersion)
                         .line("found     version ", version)
                         .text());
  }
  const std::string frame =
      std::string(kStart) + std::to_string(kCheckpointVersion) + std::string(kBeforeCrc);
  const std::size_t bodyAt = frame.size() + 8 + kBeforeBody.size();
  const bool whole = text.starts_with(frame) && text.size() >= bodyAt + kEnd.size() &&
                     text.substr(frame.size() + 8).starts_with(kBeforeBody) && text.ends_with(kEnd);
  if (!whole)
    refuse(file, "it is cut or changed", text.size(), "a whole manifest",
           std::to_string(text.size()) + " bytes");
  const std::string_view body = text.substr(bodyAt, text.size() - bodyAt - kEnd.size());
  const std::string stored(text.substr(frame.size(), 8));
  const std::string computed = hex8(crc32c(asBytes(body)));
  if (stored != computed) refuse(file, "its text changed", bodyAt, "CRC32C " + stored, "CRC32C " + computed);
  return body;
}

Manifest fromJson(const Json& json) {
  Manifest manifest;
  manifest.step = json.at("step").get<std::int64_t>();
  manifest.sequence = json.at("sequence").get<std::int64_t>();
  manifest.generation = json.at("generation").get<std::string>();
  for (const Json& entry : json.at("files")) {
    const auto rank = static_cast<std::int64_t>(manifest.files.size());
    if (entry.at("name").get<std::string>() != rankFileName(rank))
      throw InputError("its list of files is out of order");
    manifest.files.push_back({entry.at("bytes").get<std::int64_t>(), entry.at("blocks").get<std::int64_t>(),
                              entry.at("tail_crc32c").get<std::uint32_t>()});
  }
  manifest.identity = identityFromJson(json.at("identity"));
  manifest.state = stateFromJson(json.at("state"));
  return manifest;
}

}  // namespace

std::string exactText(double value) {
  char text[64];
  if (!std::isfinite(value)) {
    std::snprintf(text, sizeof text, "bits:%016" PRIx64, std::bit_cast<std::uint64_t>(value));
    return text;
  }
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::hex).ptr;
  const std::string digits(text, end);
  return digits.front() == '-' ? "-0x" + digits.substr(1) : "0x" + digits;
}

double exactDouble(const std::string& text) {
  const char* end = text.data() + text.size();
  if (text.starts_with("bits:")) {
    std::uint64_t bits = 0;
    const auto result = std::from_chars(text.data() + 5, end, bits, 16);
    if (result.ec == std::errc() && result.ptr == end) return std::bit_cast<double>(bits);
  }
  const bool negative = text.starts_with("-0x");
  if (negative || text.starts_with("0x")) {
    double value = 0.0;
    const auto result = std::from_chars(text.data() + (negative ? 3 : 2), end, value, std::chars_format::hex);
    if (result.ec == std::errc() && result.ptr == end) return negative ? -value : value;
  }
  throw InputError("'" + text + "' is not a hexadecimal number");
}

std::string encodeManifest(const Manifest& manifest) {
  Json files = Json::array();
  for (std::size_t r = 0; r < manifest.files.size(); ++r) {
    const BlockFileSummary& file = manifest.files[r];
    files.push_back({{"name", rankFileName(static_cast<std::int64_t>(r))},
                     {"bytes", file.bytes},
                     {"blocks", file.blocks},
                     {"tail_crc32c", file.tailCrc}});
  }
  const Json json = {{"step", manifest.step},
                     {"sequence", manifest.sequence},
                     {"generation", manifest.generation},
                     {"files", files},
                     {"identity", identityToJson(manifest.identity)},
                     {"state", stateToJson(manifest.state)}};
  const std::string body = json.dump(1);
  return std::string(kStart) + std::to_string(kCheckpointVersion) + std::string(kBeforeCrc) +
         hex8(crc32c(asBytes(body))) + std::string(kBeforeBody) + body + std::string(kEnd);
}

Manifest decodeManifest(std::string_view text, const std::string& file) {
  const std::string_view body = openEnvelope(text, file);
  try {
    return fromJson(Json::parse(body));
  } catch (const std::exception& problem) {
    refuse(file, "its text does not have the form of a manifest", 0, "a manifest", problem.what());
  }
}

std::string checkpointName(std::int64_t step) {
  char text[40];
  std::snprintf(text, sizeof text, "ckpt-%06" PRId64, step);
  return text;
}

std::int64_t stepOfName(std::string_view name) {
  constexpr std::string_view kPrefix = "ckpt-";
  if (!name.starts_with(kPrefix)) return -1;
  std::int64_t step = -1;
  const auto result = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  if (result.ec != std::errc() || result.ptr != name.data() + name.size()) return -1;
  return checkpointName(step) == name ? step : -1;
}

Manifest readManifest(const Folder& folder, const FileOps& ops) {
  const File file = folder.openForReading(kManifestName, ops);
  const std::int64_t size = file.size();
  if (size > kMaxManifestBytes) {
    throw InputError("the manifest " + file.path() + " has " + std::to_string(size) +
                     " bytes; the limit is " + std::to_string(kMaxManifestBytes));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  const std::int64_t got = file.readAt(std::as_writable_bytes(std::span(text.data(), text.size())), 0);
  text.resize(static_cast<std::size_t>(got));
  return decodeManifest(text, file.path());
}

}  // namespace tessera::detail
