#include "core/deck/expression.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <muParser.h>

#include "core/deck/detail/expression_scan.hpp"
#include "core/deck/detail/toml_text.hpp"
#include "core/memory/idle_slots.hpp"
#include "core/text/contracts.hpp"
#include "core/text/message_text.hpp"

namespace tessera {

namespace {

double signOf(double a) { return a > 0 ? 1.0 : (a < 0 ? -1.0 : a); }

// The result has the sign of b, so that mod(x, length) wraps a periodic axis also below zero.
double moduloOf(double a, double b) { return a - b * std::floor(a / b); }

double ifOf(double condition, double a, double b) { return condition != 0.0 ? a : b; }

// A NaN among the arguments is the result: hiding it would hide where it came from.
double minOf(const double* values, int count) {
  double least = values[0];
  for (int i = 1; i < count; ++i) least = values[i] < least || std::isnan(values[i]) ? values[i] : least;
  return least;
}

double maxOf(const double* values, int count) {
  double most = values[0];
  for (int i = 1; i < count; ++i) most = values[i] > most || std::isnan(values[i]) ? values[i] : most;
  return most;
}

using One = double (*)(double);
using Two = double (*)(double, double);

/// Only what expressionFunctions() lists; muParser's own set has more, and other meanings (round, sign).
void defineFunctions(mu::Parser& parser) {
  parser.ClearFun();
  parser.DefineFun("sin", static_cast<One>(std::sin));
  parser.DefineFun("cos", static_cast<One>(std::cos));
  parser.DefineFun("tan", static_cast<One>(std::tan));
  parser.DefineFun("asin", static_cast<One>(std::asin));
  parser.DefineFun("acos", static_cast<One>(std::acos));
  parser.DefineFun("atan", static_cast<One>(std::atan));
  parser.DefineFun("atan2", static_cast<Two>(std::atan2));
  parser.DefineFun("sinh", static_cast<One>(std::sinh));
  parser.DefineFun("cosh", static_cast<One>(std::cosh));
  parser.DefineFun("tanh", static_cast<One>(std::tanh));
  parser.DefineFun("exp", static_cast<One>(std::exp));
  parser.DefineFun("log", static_cast<One>(std::log));
  parser.DefineFun("log10", static_cast<One>(std::log10));
  parser.DefineFun("sqrt", static_cast<One>(std::sqrt));
  parser.DefineFun("abs", static_cast<One>(std::fabs));
  parser.DefineFun("sign", signOf);
  parser.DefineFun("min", minOf);
  parser.DefineFun("max", maxOf);
  parser.DefineFun("floor", static_cast<One>(std::floor));
  parser.DefineFun("ceil", static_cast<One>(std::ceil));
  parser.DefineFun("round", static_cast<One>(std::round));
  parser.DefineFun("pow", static_cast<Two>(std::pow));
  parser.DefineFun("mod", moduloOf);
  parser.DefineFun("if", ifOf);
}

}  // namespace

/// muParser's compiled form with the storage of its variables; for one thread at a time.
struct Expression::Evaluator::Program {
  Program(const std::string& text, const Constants& constants) {
    // The optimizer folds and reorders: it changes results, and other versions of the library do it
    // differently.
    parser.EnableOptimizer(false);
    defineFunctions(parser);
    parser.ClearConst();
    parser.DefineConst("pi", std::numbers::pi);
    for (const Constant& constant : constants) parser.DefineConst(constant.name, constant.value);
    parser.DefineVar("x", &x);
    parser.DefineVar("y", &y);
    parser.DefineVar("z", &z);
    parser.DefineVar("t", &t);
    parser.SetExpr(text);
    parser.Eval();  // compiles, so that a fault shows here
  }

  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  double t = 0.0;
  mu::Parser parser;
};

/// Text and constants never change; the idle programs are the only thing that threads share.
struct Expression::Shared {
  std::string text;
  detail::ExpressionUse use;
  bool isNumber = false;
  double number = 0.0;
  /// As many threads of a process as this evaluate without making new programs.
  static constexpr std::size_t kKept = 128;
  detail::IdleSlots<Evaluator::Program, kKept> idle;

  std::unique_ptr<Evaluator::Program> take() {
    if (isNumber) return nullptr;
    if (auto program = idle.take()) return program;
    return std::make_unique<Evaluator::Program>(text, use.constants);
  }
};

namespace {

/// The scan has seen all names, numbers and parentheses; what muParser still finds is the order of things.
[[noreturn]] void refuse(const mu::Parser::exception_type& fault, const std::string& text) {
  const bool hasPlace = fault.GetPos() >= 0;
  const std::size_t position =
      hasPlace ? std::min(text.size(), static_cast<std::size_t>(fault.GetPos())) + 1 : 0;
  std::string what;
  switch (fault.GetCode()) {
    case mu::ecUNEXPECTED_EOF:
      what = "the expression ends where a value is expected";
      break;
    case mu::ecUNEXPECTED_OPERATOR:
      what = "the operator '" + fault.GetToken() + "' has no value before it";
      break;
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      what = "an operator is missing before this value";
      break;
    case mu::ecUNEXPECTED_ARG_SEP:
      what = "a value is missing before the comma";
      break;
    case mu::ecMISSING_ELSE_CLAUSE:
      what = "'?' needs a ':' with the value for the other case";
      break;
    case mu::ecMISPLACED_COLON:
      what = "':' has no '?' before it";
      break;
    case mu::ecUNEXPECTED_PARENS:
      what = "an operator or a value is missing at this parenthesis";
      break;
    default:
      what = fault.GetMsg();
  }
  const std::string place = hasPlace ? "near character " + std::to_string(position) + " of " : "in ";
  throw ExpressionError(place + detail::quotedText(text) + ": " + what, position);
}

}  // namespace

Expression::Expression() : Expression(constant(0.0)) {}

Expression Expression::constant(double value) {
  auto shared = std::make_shared<Shared>();
  shared->text = detail::tomlNumber(value);
  shared->isNumber = true;
  shared->number = value;
  return Expression(std::move(shared));
}

Expression Expression::parse(std::string_view text, const Constants& constants, const Variables& variables) {
  auto shared = std::make_shared<Shared>();
  shared->text = text;
  shared->use = detail::scanExpression(text, constants, variables);
  try {
    auto program = std::make_unique<Evaluator::Program>(shared->text, shared->use.constants);
    const detail::ExpressionUse& use = shared->use;
    shared->isNumber = !(use.x || use.y || use.z || use.t);
    if (shared->isNumber) {
      shared->number = program->parser.Eval();
    } else {
      shared->idle.giveBack(std::move(program));
    }
  } catch (const mu::Parser::exception_type& fault) {
    refuse(fault, shared->text);
  }
  return Expression(std::move(shared));
}

Expression Expression::ofParts(std::string_view formula, std::span<const Expression> parts) {
  std::string text;
  Constants constants;
  for (std::size_t n = 0; n < formula.size(); ++n) {
    if (formula[n] != '$') {
      text += formula[n];
      continue;
    }
    const auto part = static_cast<std::size_t>(formula[++n] - '0');
    text += "(" + parts[part].text() + ")";
    for (const Constant& constant : parts[part].shared_->use.constants) {
      const auto isThere = [&](const Constant& known) { return known.name == constant.name; };
      if (std::none_of(constants.begin(), constants.end(), isThere)) constants.push_back(constant);
    }
  }
  return parse(text, constants);
}

Expression::Evaluator Expression::evaluator() const { return Evaluator(shared_, shared_->take()); }

void Expression::prepare(int evaluators) const {
  std::vector<Evaluator> together;
  for (int n = 0; n < std::min(evaluators, static_cast<int>(Shared::kKept)); ++n) {
    together.push_back(evaluator());
  }
}

double Expression::operator()(double x, double y, double z, double t) const {
  return evaluator()(x, y, z, t);
}

bool Expression::isConstant() const { return shared_->isNumber; }
bool Expression::dependsOnTime() const { return shared_->use.t; }
bool Expression::dependsOnPosition() const { return shared_->use.x || shared_->use.y || shared_->use.z; }
bool Expression::dependsOnAxis(int axis) const {
  return axis == 0 ? shared_->use.x : axis == 1 ? shared_->use.y : shared_->use.z;
}
const std::string& Expression::text() const { return shared_->text; }

Expression::Evaluator::Evaluator(std::shared_ptr<Shared> shared, std::unique_ptr<Program> program)
    : shared_(std::move(shared)), program_(std::move(program)) {}

Expression::Evaluator::Evaluator(Evaluator&&) noexcept = default;

Expression::Evaluator& Expression::Evaluator::operator=(Evaluator&& other) noexcept {
  std::swap(shared_, other.shared_);
  std::swap(program_, other.program_);
  return *this;
}

Expression::Evaluator::~Evaluator() { giveBack(); }

void Expression::Evaluator::giveBack() noexcept {
  if (program_) shared_->idle.giveBack(std::move(program_));
}

double Expression::Evaluator::operator()(double x, double y, double z, double t) {
  if (!program_) return shared_->number;
  program_->x = x;
  program_->y = y;
  program_->z = z;
  program_->t = t;
  return program_->parser.Eval();
}

void Expression::Evaluator::evaluate(std::span<const double> x, std::span<const double> y,
                                     std::span<const double> z, double t, std::span<double> out) {
  const std::size_t count = out.size();
  TESSERA_EXPECT(x.size() == count && y.size() == count && z.size() == count,
                 "give x, y, z and out of the same length");
  for (std::size_t i = 0; i < count; ++i) out[i] = (*this)(x[i], y[i], z[i], t);
}

}  // namespace tessera
