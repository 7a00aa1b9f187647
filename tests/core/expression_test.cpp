#include "core/deck/expression.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace tessera {
namespace {

using ::testing::HasSubstr;

double valueOf(const std::string& text, double x = 0, double y = 0, double z = 0, double t = 0) {
  return Expression::parse(text)(x, y, z, t);
}

TEST(Expression, FollowsTheUsualRulesOfPrecedence) {
  EXPECT_EQ(valueOf("1 + 2 * 3"), 7);
  EXPECT_EQ(valueOf("-2^2"), -4);
  EXPECT_EQ(valueOf("2^3^2"), 512);
  EXPECT_EQ(valueOf("2^-1"), 0.5);
  EXPECT_EQ(valueOf("8 / 4 / 2"), 1);
  EXPECT_EQ(valueOf("1 - 2 - 3"), -4);
  EXPECT_EQ(valueOf("+3 - -2"), 5);
  EXPECT_EQ(valueOf("1 < 2 && 2 < 1 || 1 == 1"), 1);
  EXPECT_EQ(valueOf("1 >= 1 && 1 <= 1 && 1 != 2"), 1);
  EXPECT_EQ(valueOf("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(valueOf(".5e1 + 5.e-1 + 1E2"), 105.5);
  EXPECT_EQ(valueOf(" 1\n+\t1 "), 2);
}

struct Function {
  const char* text;
  double (*exact)(double);
};

TEST(Expression, HasTheFunctionsOfTheMathLibrary) {
  const Function functions[] = {
      {"sin(x)", std::sin},     {"cos(x)", std::cos},   {"tan(x)", std::tan},     {"asin(x)", std::asin},
      {"acos(x)", std::acos},   {"atan(x)", std::atan}, {"sinh(x)", std::sinh},   {"cosh(x)", std::cosh},
      {"tanh(x)", std::tanh},   {"exp(x)", std::exp},   {"log(x)", std::log},     {"log10(x)", std::log10},
      {"sqrt(x)", std::sqrt},   {"abs(x)", std::fabs},  {"floor(x)", std::floor}, {"ceil(x)", std::ceil},
      {"round(x)", std::round},
  };
  for (const Function& f : functions) EXPECT_EQ(valueOf(f.text, 0.7), f.exact(0.7)) << f.text;
  EXPECT_EQ(valueOf("abs(x)", -2), 2);
  EXPECT_EQ(valueOf("round(x)", -2.5), -3);
  EXPECT_EQ(valueOf("atan2(x, y)", -1, -2), std::atan2(-1.0, -2.0));
  EXPECT_EQ(valueOf("pow(x, y)", 2, 0.5), std::pow(2.0, 0.5));
  EXPECT_EQ(valueOf("sign(x) + 10*sign(y) + 100*sign(z)", -3, 0, 5), 99);
  EXPECT_EQ(valueOf("min(x, y, z) + 10*max(x, y, z)", 3, 1, 2), 31);
  EXPECT_EQ(valueOf("mod(x, 3)", -1), 2);
  EXPECT_EQ(valueOf("if(x > 0.5, 10, 20)", 0.6), 10);
  EXPECT_EQ(valueOf("if(x > 0.5, 10, 1/0)", 0.6), 10);
  EXPECT_EQ(valueOf("pi"), std::numbers::pi);
}

TEST(Expression, ANanIsNotHiddenByMinAndMax) {
  EXPECT_TRUE(std::isnan(valueOf("min(1, sqrt(x))", -1)));
  EXPECT_TRUE(std::isnan(valueOf("max(sqrt(x), 1)", -1)));
}

TEST(Expression, UsesConstantsOfTheDeck) {
  const Expression f = Expression::parse("width * x + e", {{"unused", 9}, {"width", 0.5}, {"e", 2}});
  EXPECT_EQ(f(4, 0, 0, 0), 4);
}

TEST(Expression, KnowsWhatItDependsOn) {
  const Expression number = Expression::constant(0.1);
  EXPECT_TRUE(number.isConstant());
  EXPECT_EQ(number.text(), "0.1");
  EXPECT_EQ(Expression()(1, 2, 3, 4), 0);

  const Expression folded = Expression::parse("2*pi*a", {{"a", 3}});
  EXPECT_TRUE(folded.isConstant());
  EXPECT_EQ(folded(9, 9, 9, 9), 6 * std::numbers::pi);

  const Expression wave = Expression::parse("sin(x - t)");
  EXPECT_FALSE(wave.isConstant());
  EXPECT_TRUE(wave.dependsOnTime());
  EXPECT_TRUE(wave.dependsOnPosition());
  EXPECT_FALSE(Expression::parse("z").dependsOnTime());
  EXPECT_FALSE(Expression::parse("t").dependsOnPosition());
  const Expression ofYAndT = Expression::parse("max(y, 1e-3) * exp(t) + k_x", {{"k_x", 2.0}});
  EXPECT_TRUE(ofYAndT.dependsOnAxis(1) && ofYAndT.dependsOnTime());
  EXPECT_FALSE(ofYAndT.dependsOnAxis(0) || ofYAndT.dependsOnAxis(2));
  EXPECT_EQ(wave.text(), "sin(x - t)");
}

TEST(Expression, ARowGivesTheSameBitsAsSinglePoints) {
  const Expression f = Expression::parse("exp(-(x^2 + y^2)/0.03) * cos(z + t) / (1 + x^3)");
  std::vector<double> x, y, z;
  for (int i = 0; i < 100; ++i) {
    x.push_back(0.01 * i);
    y.push_back(0.37);
    z.push_back(-0.02 * i);
  }
  std::vector<double> row(x.size());
  f.evaluator().evaluate(x, y, z, 0.25, row);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(row[i], f(x[i], y[i], z[i], 0.25)) << i;
}

TEST(Expression, ARowOfUnequalLengthsIsTheCallersFault) {
  std::vector<double> three(3), two(2);
  EXPECT_THROW(Expression().evaluator().evaluate(three, three, two, 0, three), InternalError);
}

TEST(Expression, ManyThreadsGetTheSameBits) {
  const Expression f = Expression::parse("sin(10*x) * exp(-y) + mod(x*z, 0.3) + t^1.5");
  std::vector<double> expected;
  for (int i = 0; i < 2000; ++i) expected.push_back(f(0.001 * i, 0.5, 2, 0.1 * i));

  std::vector<std::vector<double>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&mine, f] {
      for (int i = 0; i < 2000; ++i) {
        Expression::Evaluator at = f.evaluator();
        mine.push_back(at(0.001 * i, 0.5, 2, 0.1 * i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : found) {
    EXPECT_EQ(std::memcmp(mine.data(), expected.data(), expected.size() * sizeof(double)), 0);
  }
}

TEST(Expression, AnEvaluatorOutlivesItsExpression) {
  auto evaluator = [] { return Expression::parse("x + 1").evaluator(); }();
  Expression::Evaluator moved = std::move(evaluator);
  EXPECT_EQ(moved(2, 0, 0, 0), 3);
}

std::string refusalOf(const std::string& text, const Variables& variables = {"x", "y", "z", "t"}) {
  try {
    Expression::parse(text, {{"width", 1}}, variables);
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.exitCode(), 2);
    return std::to_string(error.position()) + " " + error.message();
  }
  return "accepted";
}

TEST(Expression, RefusalsNameThePlaceAndTheNames) {
  EXPECT_EQ(refusalOf("sin(foo)"),
            "5 character 5 of \"sin(foo)\": unknown name 'foo'; known names: x, y, z, t, pi, width");
  EXPECT_EQ(refusalOf("x * t", {"x"}), "5 character 5 of \"x * t\": t cannot be used here; only x can");
  EXPECT_EQ(
      refusalOf("x = 1"),
      "3 character 3 of \"x = 1\": '=' would assign; an expression has no assignments, compare with '=='");
}

TEST(Expression, OnlyTheWhiteListPasses) {
  for (const char* text :
       {"x=1",     "x+=1", "x===1", "\"a\"",  "sum(x,y)", "avg(x,y)", "rint(x)", "ln(x)",         "log2(x)",
        "_pi",     "_e",   "e",     "rnd(1)", "x;y",      "x,y",      "x&y",     "x|y",           "!x",
        "~x",      "x%2",  "x!",    "0x10",   "1_000",    "1e",       "1.2.3",   "x.y",           "sin",
        "sin x",   "x(1)", "2x",    "2(x)",   "(x)(y)",   "()",       "sin()",   "max()",         "min(,)",
        "min(x,)", "x y",  "1 2",   "x+",     "*x",       "x ? 1",    "1 : 2",   "x ? 1 : 2 : 3", "(x",
        "x)",      "",     " ",     "nan",    "inf",      "1e400",    "#x",      "x\\y",          "x'",
        "{x}",     "[x]",  "$x",    "@",      "x\x01"}) {
    EXPECT_NE(refusalOf(text), "accepted") << text;
  }
}

TEST(Expression, LengthAndNestingHaveLimits) {
  std::string sum = "x";
  while (sum.size() + 2 <= Expression::kMaxLength) sum += "+x";
  EXPECT_EQ(Expression::parse(sum)(1, 0, 0, 0), static_cast<double>((sum.size() + 1) / 2));
  EXPECT_THAT(refusalOf(sum + "+x"), HasSubstr("at most 4096"));

  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "x" + std::string(depth, ')');
  };
  EXPECT_EQ(Expression::parse(nested(256))(3, 0, 0, 0), 3);
  EXPECT_THAT(refusalOf(nested(257)), HasSubstr("nested more than 256 deep"));
}

TEST(Expression, LongChainsOfOperatorsEndWithoutHarm) {
  for (const std::string part : {"x^", "-", "x?x:", "x<", "x&&", "sin(x)*", "x?"}) {
    std::string text;
    while (text.size() < 16000) text += part;
    try {
      Expression::parse(text + "x")(1, 1, 1, 1);
    } catch (const ExpressionError&) {
      continue;
    }
  }
}

/// A random formula as text and as a function, so that muParser can be held against the compiler.
struct Formula {
  std::string text;
  std::function<double(double, double)> value;
};

Formula randomFormula(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0) {
    const double number = 0.25 * (1 + pick(12));
    const Formula leaves[] = {{"x", [](double x, double) { return x; }},
                              {"t", [](double, double t) { return t; }},
                              {std::to_string(number), [number](double, double) { return number; }}};
    return leaves[pick(3)];
  }
  const Formula a = randomFormula(random, depth - 1);
  const Formula b = randomFormula(random, depth - 1);
  const auto two = [&](const std::string& text, auto f) {
    return Formula{text, [a, b, f](double x, double t) { return f(a.value(x, t), b.value(x, t)); }};
  };
  switch (pick(8)) {
    case 0:
      return two("(" + a.text + " + " + b.text + ")", [](double p, double q) { return p + q; });
    case 1:
      return two("(" + a.text + " - " + b.text + ")", [](double p, double q) { return p - q; });
    case 2:
      return two("(" + a.text + ") * (" + b.text + ")", [](double p, double q) { return p * q; });
    case 3:
      return two("(" + a.text + ") / (2 + abs(" + b.text + "))",
                 [](double p, double q) { return p / (2 + std::fabs(q)); });
    case 4:
      return two("abs(" + a.text + ")^2", [](double p, double) { return p * p; });
    case 5:
      return two("sin(" + a.text + ")", [](double p, double) { return std::sin(p); });
    case 6:
      return two("if(" + a.text + " < " + b.text + ", 1.5, -" + "(" + a.text + "))",
                 [](double p, double q) { return p < q ? 1.5 : -p; });
    default:
      return two("max(" + a.text + ", " + b.text + ")", [](double p, double q) { return std::max(p, q); });
  }
}

TEST(Expression, AgreesWithTheCompilerOnRandomFormulas) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    const Formula formula = randomFormula(random, 4);
    SCOPED_TRACE("replay: seed " + std::to_string(seed) + ": " + formula.text);
    const double expected = formula.value(0.3, 1.7);
    EXPECT_NEAR(Expression::parse(formula.text)(0.3, 0, 0, 1.7), expected, 1e-12 * (1 + std::fabs(expected)));
  }
}

TEST(Expression, RandomTokensAreReadOrRefused) {
  const std::vector<std::string> tokens = {"x",   "t",  "1", "2.5", "+", "-",  "*",   "/",  "^",    "(",
                                           ")",   ",",  "?", ":",   "<", "==", "&&",  "||", "sin(", "max(",
                                           "if(", "pi", " ", "=",   "!", "\"", "1e3", ".",  "é"};
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (unsigned i = 0; i < 1 + seed % 24; ++i) text += tokens[random() % tokens.size()];
    SCOPED_TRACE("replay: seed " + std::to_string(seed) + ": " + text);
    try {
      Expression::parse(text)(0.5, 0, 0, 0.5);
    } catch (const ExpressionError& error) {
      EXPECT_FALSE(error.message().empty());
    }
  }
}

TEST(Expression, IsEvaluatedAsWrittenWithoutFoldingOrReordering) {
  const auto at = [](const char* text, double x) { return Expression::parse(text)(x, 0, 0, 0); };
  const double thirds[] = {0, 1, 2, 2, 3, 4, 4, 5, 6, 6};
  for (int n = 0; n < 10; ++n) EXPECT_EQ(at("floor((x+1)/3)", 2.0 * n + 1.0), thirds[n]) << n;
  EXPECT_EQ(at("0.5 && 0.5", 0.0), 1.0);
  EXPECT_EQ(at("x && x", 0.3), 1.0);
  EXPECT_EQ(at("(x + 1e-17) - x", 1.0), 0.0);
  EXPECT_EQ(at("x * 3 / 3 - x", 0.1), 0.1 * 3 / 3 - 0.1);
}

}  // namespace
}  // namespace tessera
