#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

/// The graph of the replay benchmark: `steps` rows of `width` tasks; task (t, i) waits for (t-1, i-1..i+1).
struct StencilCase {
  int width = 64;
  int steps = 1000;
  int threads = 2;
  int spinNs = 0;      ///< length of a task; 0: empty
  bool check = false;  ///< every task looks whether its inputs are there

  std::int64_t tasks() const { return std::int64_t{width} * steps; }
};

/// What the tasks do. With `check` each leaves its row's number in its column, and looks for the numbers of
/// its inputs; plain memory, so that a missing edge is a wrong number, and a race under ThreadSanitizer.
class StencilBody {
 public:
  explicit StencilBody(const StencilCase& shape) : shape_(shape) { reset(); }

  void reset();
  void operator()(int step, int column) {
    if (shape_.spinNs > 0) spin();
    if (shape_.check) checkInputs(step, column);
  }
  bool ok() const;

 private:
  void spin() const {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::nanoseconds(shape_.spinNs)) {
    }
  }
  void checkInputs(int step, int column);

  const StencilCase shape_;
  std::vector<int> rows_[2];
  std::vector<char> wrong_;  ///< a cache line a column
};

/// One runtime that replays the graph. It is made outside of the measured time.
class StencilSystem {
 public:
  virtual ~StencilSystem() = default;
  virtual std::string name() const = 0;
  /// Around each measured replay.
  virtual void enter() {}
  virtual void leave() {}
  virtual void replay() = 0;
};

/// `body` outlives the system.
std::unique_ptr<StencilSystem> makeTessera(const StencilCase& shape, StencilBody& body);
/// The peers that this build found, each by the fastest way that it has for such a graph.
std::vector<std::unique_ptr<StencilSystem>> makePeers(const StencilCase& shape, StencilBody& body);

}  // namespace tessera::bench
