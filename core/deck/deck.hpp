#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/deck/deck_location.hpp"

namespace tessera {

/// The six things a deck can hold. Dates and times of TOML are refused while reading.
enum class DeckKind { Table, Array, Integer, Real, Text, Boolean };

/// "a table", "an array", "an integer", "a number", "text" or "true/false", for messages.
std::string_view kindText(DeckKind kind);

/// One key with its value, or one element of an array (then `key` is empty). Children stand in the order of
/// the file. A plain value: copy it, compare it, read it from any thread.
struct DeckNode {
  std::string key;
  DeckKind kind = DeckKind::Table;
  std::variant<std::monostate, std::int64_t, double, std::string, bool> value;  ///< empty for Table and Array
  std::vector<DeckNode> children;
  DeckLocation keyWhere;  ///< the place of the key; of the value where there is no key
  DeckLocation where;     ///< the place of the value

  /// A node made by hand, without key and place: a number, true/false, a text, or a list of them.
  static DeckNode of(double number);
  static DeckNode of(std::int64_t number);
  static DeckNode of(int number) { return of(static_cast<std::int64_t>(number)); }
  static DeckNode of(bool value);
  static DeckNode of(std::string text);
  static DeckNode of(const char* text) { return of(std::string(text)); }
  template <class T>
  static DeckNode of(const std::vector<T>& values);

  std::int64_t integer() const { return std::get<std::int64_t>(value); }
  double real() const { return std::get<double>(value); }
  const std::string& text() const { return std::get<std::string>(value); }
  bool boolean() const { return std::get<bool>(value); }

  /// The child of that name, or nullptr.
  const DeckNode* child(std::string_view name) const;

  /// The value as TOML on one line; numbers are the shortest text that reads back to the same bits.
  std::string toml() const;
};

template <class T>
DeckNode DeckNode::of(const std::vector<T>& values) {
  DeckNode list;
  list.kind = DeckKind::Array;
  for (const T& value : values) list.children.push_back(of(value));
  return list;
}

/// An input deck as it was written: an ordered tree that knows where each key stands. It knows nothing of
/// what the keys mean; that is the business of a Schema (core/deck/schema.hpp).
///
///   Deck deck = Deck::fromFile("inputs/heat/cosine.toml");
///   deck.set("time.cfl=0.2");
///   check(deck, schema).throwIfErrors();
///   ParameterValues heat = valuesOf(deck, schema, "heat");
class Deck {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  static constexpr int kMaxDepth = 64;
  static constexpr std::size_t kMaxValues = 1'000'000;  ///< lists and tables count too

  /// Reads a TOML file. Throws InputError where it cannot be read (missing, a folder, a pipe), and DeckError,
  /// with file:line:column, where it is not a deck: TOML syntax, a key given twice, a date, or a limit
  /// passed.
  static Deck fromFile(const std::filesystem::path& path);

  /// The same for a text in memory; `name` takes the place of the file name in messages.
  static Deck fromText(std::string_view text, std::string_view name);

  /// One override "key.path=value", the right side in TOML syntax ("0.2", "[64, 64, 64]", "\"text\"").
  /// Replaces the value or adds it. Throws DeckError if the text is not of that form.
  void set(std::string_view assignment);

  /// The top of the tree: a table without key.
  const DeckNode& root() const { return root_; }

  /// The node of a dotted path such as "simulation.components", or nullptr.
  const DeckNode* find(std::string_view path) const;

  /// The text as it was read, byte by byte, without the overrides.
  const std::string& text() const { return text_; }

  /// The name of the file, as given; messages begin with it.
  const std::string& name() const { return *name_; }

  /// The overrides in the order in which they were set.
  const std::vector<std::string>& overrides() const { return overrides_; }

 private:
  Deck() = default;

  std::string text_;
  std::shared_ptr<const std::string> name_;
  DeckNode root_;
  std::vector<std::string> overrides_;
};

}  // namespace tessera
