#include "core/deck/deck.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/deck/detail/resolved_marks.hpp"
#include "core/deck/detail/toml_reader.hpp"
#include "core/deck/detail/toml_text.hpp"
#include "core/text/error.hpp"
#include "core/text/message_text.hpp"

namespace tessera {

namespace {

DeckNode nodeOf(DeckKind kind, decltype(DeckNode::value) value) {
  DeckNode node;
  node.kind = kind;
  node.value = std::move(value);
  return node;
}

[[noreturn]] void refuseSize(std::string_view name, std::uintmax_t bytes) {
  throw DeckError(detail::printable(name) + ": error: the file has " + std::to_string(bytes) +
                  " bytes; a deck may have at most " + std::to_string(Deck::kMaxBytes) + " (16 MiB)");
}

/// Only regular files: a pipe or a device could be without end.
std::string readAll(const std::filesystem::path& path) {
  const std::string name = detail::printable(path.string());
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    throw InputError(
        name +
        ": error: there is no such file; give the path of a deck, for example inputs/heat/cosine.toml");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(name + ": error: this is a folder; give the path of a deck (a .toml file)");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(name + ": error: this is not a regular file; a deck is read from a file on disk");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (!failure && bytes > Deck::kMaxBytes) refuseSize(path.string(), bytes);
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::array<char, 65536> part{};
  // Some files of the system say that they have no bytes, and have no end.
  while (in.read(part.data(), part.size()), in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > Deck::kMaxBytes) refuseSize(path.string(), text.size());
  }
  if (!in.eof()) throw InputError(name + ": error: cannot read the file; check its permissions");
  return text;
}

/// Puts `from` (a tree with one leaf) over `to`: tables are entered, anything else is replaced.
void overlay(DeckNode& to, DeckNode&& from, std::string_view assignment) {
  for (DeckNode& child : from.children) {
    const auto same = std::find_if(to.children.begin(), to.children.end(),
                                   [&](const DeckNode& old) { return old.key == child.key; });
    if (same == to.children.end()) {
      to.children.push_back(std::move(child));
    } else if (child.kind == DeckKind::Table && same->kind == DeckKind::Table) {
      overlay(*same, std::move(child), assignment);
    } else if (child.kind == DeckKind::Table) {
      throw DeckError("command line: error: --set " + detail::quotedText(assignment) + ": " +
                      detail::quotedKey(child.key) + " is " + std::string(kindText(same->kind)) +
                      " in the deck and has no keys");
    } else {
      child.keyWhere = DeckLocation::onCommandLine();
      *same = std::move(child);
    }
  }
}

void expectOneAssignment(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const bool hasForm = equals != std::string_view::npos && equals > 0 && assignment[0] != '[' &&
                       assignment.find_first_of("\n\r") == std::string_view::npos;
  if (hasForm) return;
  throw DeckError("command line: error: --set " + detail::quotedText(assignment) +
                  ": write table.key=value, for example --set time.cfl=0.2");
}

}  // namespace

std::string_view kindText(DeckKind kind) {
  switch (kind) {
    case DeckKind::Table:
      return "a table";
    case DeckKind::Array:
      return "a list";
    case DeckKind::Integer:
      return "an integer";
    case DeckKind::Real:
      return "a number";
    case DeckKind::Text:
      return "a text";
    case DeckKind::Boolean:
      return "true or false";
  }
  return "";
}

DeckNode DeckNode::of(double number) { return nodeOf(DeckKind::Real, number); }
DeckNode DeckNode::of(std::int64_t number) { return nodeOf(DeckKind::Integer, number); }
DeckNode DeckNode::of(bool value) { return nodeOf(DeckKind::Boolean, value); }
DeckNode DeckNode::of(std::string text) { return nodeOf(DeckKind::Text, std::move(text)); }

const DeckNode* DeckNode::child(std::string_view name) const {
  const auto found =
      std::find_if(children.begin(), children.end(), [&](const DeckNode& node) { return node.key == name; });
  return found == children.end() ? nullptr : &*found;
}

std::string DeckNode::toml() const {
  std::string out;
  switch (kind) {
    case DeckKind::Integer:
      return std::to_string(integer());
    case DeckKind::Real:
      return detail::tomlNumber(real());
    case DeckKind::Text:
      return detail::tomlString(text());
    case DeckKind::Boolean:
      return boolean() ? "true" : "false";
    case DeckKind::Array:
      for (const DeckNode& node : children) out += (out.empty() ? "" : ", ") + node.toml();
      return "[" + out + "]";
    case DeckKind::Table:
      for (const DeckNode& node : children) {
        out += (out.empty() ? "" : ", ") + detail::tomlKey(node.key) + " = " + node.toml();
      }
      return out.empty() ? "{}" : "{ " + out + " }";
  }
  return out;
}

Deck Deck::fromFile(const std::filesystem::path& path) { return fromText(readAll(path), path.string()); }

Deck Deck::fromText(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBytes) refuseSize(name, text.size());
  Deck deck;
  deck.text_ = text;
  deck.name_ = std::make_shared<const std::string>(name);
  deck.root_ = detail::readToml(text, deck.name_);
  detail::recallDefaults(deck.root_, text);
  return deck;
}

void Deck::set(std::string_view assignment) {
  expectOneAssignment(assignment);
  DeckNode tree;
  try {
    tree = detail::readToml(assignment, nullptr);
  } catch (const DeckError& fault) {
    constexpr std::string_view kHead = "command line: error: ";
    const std::string what = fault.message().substr(kHead.size());
    const bool isBareText = what.find("a text needs quotes") != std::string::npos;
    throw DeckError(std::string(kHead) + "--set " + detail::quotedText(assignment) + ": " + what +
                    (isBareText ? "; the shell takes one pair away: --set 'heat.initial=\"sin(x)\"'" : ""));
  }
  overlay(root_, std::move(tree), assignment);
  overrides_.emplace_back(assignment);
}

const DeckNode* Deck::find(std::string_view path) const {
  const DeckNode* node = &root_;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = node->child(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

}  // namespace tessera
