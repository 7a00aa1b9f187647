#pragma once

#include <exception>
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
/// The text never ends in a newline; further lines are indented by two blanks.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const noexcept { return text_; }
  ErrorKind kind() const noexcept { return kind_; }
  int exitCode() const noexcept { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
  std::string text_;
};

/// One class for each kind of mistake, so that a test and a caller can tell them apart.
struct UsageError : Error {
  explicit UsageError(std::string text) : Error(ErrorKind::Usage, std::move(text)) {}
};
struct DeckError : Error {
  explicit DeckError(std::string text) : Error(ErrorKind::Usage, std::move(text)) {}
};
struct InputError : Error {
  explicit InputError(std::string text) : Error(ErrorKind::Input, std::move(text)) {}
};
struct NumericalError : Error {
  explicit NumericalError(std::string text) : Error(ErrorKind::Numerical, std::move(text)) {}
};
struct OutputError : Error {
  explicit OutputError(std::string text) : Error(ErrorKind::Output, std::move(text)) {}
};
struct InternalError : Error {
  explicit InternalError(std::string text) : Error(ErrorKind::Internal, std::move(text)) {}
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
