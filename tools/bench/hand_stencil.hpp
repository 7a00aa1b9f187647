#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::bench {

/// What a person writes who needs no runtime: loop nests over whole arrays of n^3 cells, periodic, with halo
/// layers that each step refreshes. The same arithmetic as the component, cell by cell. Slabs along z go to
/// threads that live as long as the object.
class HandStencil {
 public:
  virtual ~HandStencil() = default;
  virtual void step(double dt) = 0;
};

/// As components/heat with one conductivity.
std::unique_ptr<HandStencil> makeHandHeat(std::int64_t n, int threads);
/// As components/advection with one velocity (1, 1, 1) and the limiter "mc": piecewise linear, two stages.
std::unique_ptr<HandStencil> makeHandAdvection(std::int64_t n, int threads);

/// n^3 doubles with `halo` layers around them.
class HandArray {
 public:
  HandArray(std::int64_t n, std::int64_t halo);

  double* at(std::int64_t i, std::int64_t j, std::int64_t k) {
    return values_.data() + ((k + halo_) * row() + (j + halo_)) * row() + (i + halo_);
  }
  std::int64_t row() const { return n_ + 2 * halo_; }
  std::int64_t plane() const { return row() * row(); }
  /// Edges and corners stay: no stencil here reads them.
  void fillHalo();
  void swap(HandArray& other) { values_.swap(other.values_); }

 private:
  std::int64_t n_;
  std::int64_t halo_;
  std::vector<double> values_;
};

/// Runs a function for each of some slabs at once.
class Slabs {
 public:
  explicit Slabs(int threads);
  ~Slabs();
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  /// Calls `work(first, last)` for `threads` parts of [0, n); returns when all are done.
  void run(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& work);

 private:
  void part(int number) const { (*work_)(n_ * number / threads_, n_ * (number + 1) / threads_); }

  int threads_;
  std::int64_t n_ = 0;
  const std::function<void(std::int64_t, std::int64_t)>* work_ = nullptr;  ///< null: leave
  std::barrier<> begin_;
  std::barrier<> end_;
  std::vector<std::thread> others_;
};

}  // namespace tessera::bench
