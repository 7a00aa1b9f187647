#pragma once

#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// What kind of failure it is; the value is the exit code of the program (docs/user/exit_codes.md).
enum class ErrorKind : int {
  Usage = 2,      ///< command line or deck
  Input = 3,      ///< a missing or damaged input file or checkpoint
  Numerical = 4,  ///< NaN, divergence
  Output = 5,     ///< cannot write
  Internal = 6,   ///< MPI, device, memory, or a fault of Tessera itself
};

/// Base of every exception that Tessera throws: a whole sentence with a fix, and the exit code it leads to.
/// The text never ends in a newline; further lines are indented by two blanks. A worker thread hands a
/// failure on as a plain value: `copy()` there, `raise()` where it is reported.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const noexcept { return text_; }
  ErrorKind kind() const noexcept { return kind_; }
  int exitCode() const noexcept { return static_cast<int>(kind_); }

  virtual std::unique_ptr<Error> copy() const { return std::make_unique<Error>(*this); }
  [[noreturn]] virtual void raise() const { throw *this; }

 private:
  ErrorKind kind_;
  std::string text_;
};

/// What every class of error derives from, so that `copy` and `raise` keep its type.
template <class Derived>
class ErrorClass : public Error {
 public:
  using Error::Error;
  std::unique_ptr<Error> copy() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  [[noreturn]] void raise() const override { throw static_cast<const Derived&>(*this); }
};

/// One class for each kind of mistake, so that a test and a caller can tell them apart.
struct UsageError : ErrorClass<UsageError> {
  explicit UsageError(std::string text) : ErrorClass(ErrorKind::Usage, std::move(text)) {}
};
struct DeckError : ErrorClass<DeckError> {
  explicit DeckError(std::string text) : ErrorClass(ErrorKind::Usage, std::move(text)) {}
};
struct InputError : ErrorClass<InputError> {
  explicit InputError(std::string text) : ErrorClass(ErrorKind::Input, std::move(text)) {}
};
struct NumericalError : ErrorClass<NumericalError> {
  explicit NumericalError(std::string text) : ErrorClass(ErrorKind::Numerical, std::move(text)) {}
};
struct OutputError : ErrorClass<OutputError> {
  explicit OutputError(std::string text) : ErrorClass(ErrorKind::Output, std::move(text)) {}
};
struct InternalError : ErrorClass<InternalError> {
  explicit InternalError(std::string text) : ErrorClass(ErrorKind::Internal, std::move(text)) {}
};

/// Builds a message of a headline and aligned lines:
///
///   throw InputError(Message("checkpoint block is damaged")
///                        .line("file ", path).line("fix  ", "restart from the older generation").text());
class Message {
 public:
  explicit Message(std::string_view headline) { out_ << headline; }
  template <class... Parts>
  Message& line(const Parts&... parts) {
    out_ << "\n  ";
    (out_ << ... << parts);
    return *this;
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

}  // namespace tessera
