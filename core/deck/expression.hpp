#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.hpp"

namespace tessera {

/// A named number of the deck's [constants].
struct Constant {
  std::string name;
  double value = 0.0;
};
using Constants = std::vector<Constant>;

/// Which of x, y, z and t an expression may use; each name is one letter, for example {"x", "y", "z", "t"}.
using Variables = std::vector<std::string>;

/// An expression that cannot be read. `position()` counts characters from 1 inside the text of the
/// expression; 0 where no single place is to blame.
class ExpressionError : public DeckError {
 public:
  ExpressionError(std::string text, std::size_t position) : DeckError(std::move(text)), position_(position) {}
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// A formula of position and time, f(x, y, z, t), from the deck. A handle: copies share one immutable
/// program, and the same arguments give the same bits on every thread and rank of one kind of machine.
///
/// Names: x y z t, pi, the constants given. Functions: sin cos tan asin acos atan atan2 sinh cosh tanh exp
/// log (natural) log10 sqrt abs sign min max floor ceil round pow mod if(condition, a, b). Operators: + - * /
/// ^ (right to left), < <= > >= == !=, && ||, a ? b : c. Nothing else: no assignment, no text, no lists.
///
///   Expression f = Expression::parse("exp(-x^2 / width^2) * sin(2*pi*t)", {{"width", 0.1}});
///   Expression::Evaluator at = f.evaluator();             // one for each task
///   for (...) out = at(x, y, z, t);
class Expression {
 public:
  static constexpr std::size_t kMaxLength = 4096;  ///< the library takes time with the square of it
  static constexpr int kMaxNesting = 256;

  class Evaluator;

  /// The constant 0.
  Expression();

  /// A number in the place of a formula.
  static Expression constant(double value);

  /// Reads a formula. Throws ExpressionError with the position and the names that are known.
  static Expression parse(std::string_view text, const Constants& constants = {},
                          const Variables& variables = {"x", "y", "z", "t"});

  /// A formula of formulas: in `formula` $0, $1 ... $9 stand for the parts, in their order. "$0 * $1" is the
  /// product of two parts.
  static Expression ofParts(std::string_view formula, std::span<const Expression> parts);

  /// One value. Safe from any thread; for many values take an evaluator, which asks for the program once.
  double operator()(double x, double y, double z, double t) const;

  /// Returns what a task uses for many points. Takes an idle program, without a lock; makes one, which costs
  /// memory and some ten microseconds, where all are in use.
  Evaluator evaluator() const;

  /// Makes sure that so many evaluators (128 at most) may live at once before another program has to be made.
  void prepare(int evaluators) const;

  /// Uses none of x, y, z, t.
  bool isConstant() const;
  bool dependsOnTime() const;
  bool dependsOnPosition() const;
  bool dependsOnAxis(int axis) const;  ///< on x, y or z

  /// The text as written in the deck; a number is written so that it reads back with its exact bits.
  const std::string& text() const;

 private:
  struct Shared;
  explicit Expression(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

/// Owns one program of its expression for its lifetime. One thread at a time.
class Expression::Evaluator {
 public:
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  double operator()(double x, double y, double z, double t);

  /// A row of points: out[i] = f(x[i], y[i], z[i], t). All spans have the length of `out`.
  void evaluate(std::span<const double> x, std::span<const double> y, std::span<const double> z, double t,
                std::span<double> out);

 private:
  friend class Expression;
  struct Program;
  Evaluator(std::shared_ptr<Shared> shared, std::unique_ptr<Program> program);
  void giveBack() noexcept;

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Program> program_;  ///< empty for a plain number
};

}  // namespace tessera
