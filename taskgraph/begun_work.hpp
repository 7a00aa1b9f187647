#pragma once

#include <string>

namespace tessera {

/// What a task's body has begun and what goes on without a thread of the step: many small tasks of an engine,
/// say. Made by `TaskBody::begins`, then the step's: used by one thread at a time. Its end waits for whatever
/// still touches the task's variables.
class BegunWork {
 public:
  virtual ~BegunWork() = default;
  /// Goes on with it without waiting. True: the work has ended, and the task's variables have their values.
  /// Throws what went wrong.
  virtual bool proceed() = 0;
  /// What it waits for, a part of a sentence for the page about a step that makes no progress.
  virtual std::string text() const = 0;
};

}  // namespace tessera
