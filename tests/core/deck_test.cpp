#include "core/deck/deck.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gmock/gmock.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

template <class Failure, class Action>
std::string messageOf(Action action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.message();
  }
  return "nothing was thrown";
}

std::vector<std::string> keysOf(const DeckNode& table) {
  std::vector<std::string> keys;
  for (const DeckNode& child : table.children) keys.push_back(child.key);
  return keys;
}

TEST(Deck, KeepsTheOrderOfTheFile) {
  const Deck deck = Deck::fromText("[zebra]\nb = 1\na = 2\n[ant]\nq.z = 1\nq.a = 2\n", "d.toml");

  EXPECT_THAT(keysOf(deck.root()), ElementsAre("zebra", "ant"));
  EXPECT_THAT(keysOf(*deck.find("zebra")), ElementsAre("b", "a"));
  EXPECT_THAT(keysOf(*deck.find("ant.q")), ElementsAre("z", "a"));
}

TEST(Deck, KnowsTheTypeOfEachValue) {
  const Deck deck = Deck::fromText(
      "i = -9223372036854775808\nr = 0.1\nt = \"ü\"\nb = true\nl = [1, 2]\ns = { k = 1 }\n", "d");

  EXPECT_EQ(deck.find("i")->integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(deck.find("r")->real(), 0.1);
  EXPECT_EQ(deck.find("t")->text(), "ü");
  EXPECT_TRUE(deck.find("b")->boolean());
  EXPECT_EQ(deck.find("l")->kind, DeckKind::Array);
  EXPECT_EQ(deck.find("s.k")->kind, DeckKind::Integer);
  EXPECT_EQ(deck.find("s.missing"), nullptr);
  EXPECT_EQ(deck.find("i.k"), nullptr);
}

TEST(Deck, KnowsWhereKeysAndValuesStand) {
  const Deck deck =
      Deck::fromText("[grid]\n# a comment\n  cells   = [8,\n 9]\nname = \"größe\" # x\n", "d.toml");

  EXPECT_EQ(deck.find("grid.cells")->keyWhere.text(), "d.toml:3:3");
  EXPECT_EQ(deck.find("grid.cells")->where.text(), "d.toml:3:13");
  EXPECT_EQ(deck.find("grid.cells")->children[1].where.text(), "d.toml:4:2");
  EXPECT_EQ(deck.find("grid.name")->where.shortText(), "d.toml:5");
}

TEST(Deck, KeepsTheTextByteByByte) {
  const std::string text = "# a \r\n[a]\r\nb=1";
  EXPECT_EQ(Deck::fromText(text, "d").text(), text);
}

TEST(Deck, OverrideReplacesAValueAndRemembersWhereItCameFrom) {
  Deck deck = Deck::fromText("[time]\ncfl = 0.9\nend = 1\n", "d");
  deck.set("time.cfl=0.2");

  EXPECT_EQ(deck.find("time.cfl")->real(), 0.2);
  EXPECT_EQ(deck.find("time.cfl")->where.text(), "command line");
  EXPECT_EQ(deck.find("time.cfl")->where.origin(), DeckLocation::Origin::CommandLine);
  EXPECT_THAT(keysOf(*deck.find("time")), ElementsAre("cfl", "end"));
  EXPECT_THAT(deck.overrides(), ElementsAre("time.cfl=0.2"));
}

TEST(Deck, OverrideAddsTablesOnTheWay) {
  Deck deck = Deck::fromText("", "d");
  deck.set("heat.boundary.x_low = { type = \"dirichlet\", value = 3 }");
  deck.set("heat.title = \"a # b\"");

  EXPECT_EQ(deck.find("heat.boundary.x_low.value")->integer(), 3);
  EXPECT_EQ(deck.find("heat.title")->text(), "a # b");
}

TEST(Deck, OverrideTakesOneAssignmentOnly) {
  Deck deck = Deck::fromText("", "d");
  for (const char* text :
       {"", "=", "a", "a=1\nb=2", "[a]", "a=", "a=1 b=2", "a=\"", "=1", "a=[1", "a=1979-05-27"}) {
    EXPECT_THROW(deck.set(text), DeckError) << text;
  }
  EXPECT_TRUE(deck.root().children.empty());
}

TEST(Deck, MissingFileFolderAndPipeAreInputErrors) {
  const fs::path folder = fs::path(::testing::TempDir()) / "deck_test_folder.toml";
  fs::create_directories(folder);

  EXPECT_EQ(messageOf<InputError>([&] { Deck::fromFile(folder); }),
            folder.string() + ": error: this is a folder; give the path of a deck (a .toml file)");
  EXPECT_EQ(
      messageOf<InputError>([&] { Deck::fromFile(folder / "none.toml"); }),
      (folder / "none.toml").string() +
          ": error: there is no such file; give the path of a deck, for example inputs/heat/cosine.toml");
  EXPECT_EQ(messageOf<InputError>([&] { Deck::fromFile("/dev/zero"); }),
            "/dev/zero: error: this is not a regular file; a deck is read from a file on disk");
}

TEST(Deck, FileOfSixteenMebibytesIsTheLargest) {
  std::string text(Deck::kMaxBytes - 1, ' ');
  text += '\n';
  EXPECT_NO_THROW(Deck::fromText(text, "d"));
  text += '\n';
  EXPECT_EQ(messageOf<DeckError>([&] { Deck::fromText(text, "d.toml"); }),
            "d.toml: error: the file has 16777217 bytes; a deck may have at most 16777216 (16 MiB)");
}

TEST(Deck, SixtyFourLevelsAreTheDeepest) {
  const auto nested = [](std::size_t depth) {
    return "a = " + std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(Deck::fromText(nested(64), "d"));
  EXPECT_THROW(Deck::fromText(nested(65), "d"), DeckError);
  EXPECT_THROW(Deck::fromText(nested(10'000'000), "d"), DeckError);
}

TEST(Deck, BracketsInTextsAndCommentsAreNotNesting) {
  const std::string many(200, '[');
  EXPECT_NO_THROW(Deck::fromText("a = \"" + many + "\\\"" + many + "\"\nb = '" + many + "'\n# " + many +
                                     "\nc = '''\n" + many + "''" + many + "'''\nd = \"\"\"" + many +
                                     "\\\"\"\"" + many + "\"\"\"\n",
                                 "d"));
}

TEST(Deck, AMillionValuesAreTheMost) {
  std::string text = "a = [1";
  for (std::size_t i = 0; i < Deck::kMaxValues; ++i) text += ",1";
  EXPECT_THAT(messageOf<DeckError>([&] { Deck::fromText(text + "]", "d"); }),
              HasSubstr("at most 1000000 values, lists and tables"));
}

TEST(Deck, EveryTruncationOfADeckIsReadOrRefused) {
  const std::string text =
      "[a]\nb = \"x\\u00e9\"\nc.d = { e = [1, 2.5e3], f = '''g''' } # h\n[[i]]\nj = true\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    try {
      Deck::fromText(text.substr(0, length), "d");
    } catch (const DeckError& error) {
      EXPECT_THAT(error.message(), HasSubstr("d:")) << length;
    }
  }
}

TEST(Deck, AByteOrderMarkIsNoPartOfTheFirstKey) {
  EXPECT_NE(Deck::fromText("\xEF\xBB\xBF"
                           "a = 1\n",
                           "d")
                .find("a"),
            nullptr);
}

TEST(Deck, ValuesPrintAsTomlThatReadsBack) {
  const std::string text =
      "a = [0.1, 1e+300, -0.0, 5.0, 9007199254740993, 1e-320, true, \"q\\\"\\\\\\n\\u0001é\", { \"b c\" = "
      "[], d = {} }]";
  const Deck deck = Deck::fromText(text, "d");
  const std::string printed = deck.find("a")->toml();
  const Deck again = Deck::fromText("a = " + printed, "d");

  EXPECT_EQ(again.find("a")->toml(), printed);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(again.find("a")->children[i].value, deck.find("a")->children[i].value) << i;
  }
  EXPECT_EQ(again.find("a")->children[7].text(), "q\"\\\n\x01é");
}

}  // namespace
}  // namespace tessera
