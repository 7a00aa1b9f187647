#include "tools/bench/hand_stencil.hpp"

#include <thread>

namespace tessera::bench {

HandStencil::HandStencil(std::int64_t n, int threads)
    : n_(n),
      threads_(threads),
      old_(static_cast<std::size_t>((n + 2) * (n + 2) * (n + 2)), 1.0),
      new_(old_.size(), 1.0) {
  for (std::size_t c = 0; c < old_.size(); ++c) old_[c] = 1.0 + 1e-3 * static_cast<double>(c % 97);
}

void HandStencil::step(double dt) {
  fillHalo();
  std::vector<std::jthread> others;
  for (int t = 1; t < threads_; ++t) {
    others.emplace_back([this, t, dt] { advance(n_ * t / threads_, n_ * (t + 1) / threads_, dt); });
  }
  advance(0, n_ / threads_, dt);
  others.clear();
  old_.swap(new_);
}

void HandStencil::fillHalo() {
  for (std::int64_t b = 0; b < n_; ++b) {
    for (std::int64_t a = 0; a < n_; ++a) {
      old_[at(-1, a, b)] = old_[at(n_ - 1, a, b)];
      old_[at(n_, a, b)] = old_[at(0, a, b)];
      old_[at(a, -1, b)] = old_[at(a, n_ - 1, b)];
      old_[at(a, n_, b)] = old_[at(a, 0, b)];
      old_[at(a, b, -1)] = old_[at(a, b, n_ - 1)];
      old_[at(a, b, n_)] = old_[at(a, b, 0)];
    }
  }
}

void HandStencil::advance(std::int64_t firstK, std::int64_t lastK, double dt) {
  const double w = static_cast<double>(n_ * n_);
  const std::int64_t row = n_ + 2;
  const std::int64_t plane = row * row;
  for (std::int64_t k = firstK; k < lastK; ++k) {
    for (std::int64_t j = 0; j < n_; ++j) {
      const double* u = old_.data() + at(0, j, k);
      double* next = new_.data() + at(0, j, k);
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n_; ++i) {
        const double twice = 2.0 * u[i];
        const double x = w * ((u[i - 1] + u[i + 1]) - twice);
        const double y = w * ((u[i - row] + u[i + row]) - twice);
        const double z = w * ((u[i - plane] + u[i + plane]) - twice);
        next[i] = u[i] + dt * ((x + y) + z);
      }
    }
  }
}

}  // namespace tessera::bench
