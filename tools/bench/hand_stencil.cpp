#include "tools/bench/hand_stencil.hpp"

namespace tessera::bench {
namespace {

class HandHeat : public HandStencil {
 public:
  HandHeat(std::int64_t n, int threads) : n_(n), slabs_(threads), old_(n, 1), new_(n, 1) {}

  void step(double dt) override {
    old_.fillHalo();
    slabs_.run(n_, [&](std::int64_t first, std::int64_t last) { advance(first, last, dt); });
    old_.swap(new_);
  }

 private:
  void advance(std::int64_t firstK, std::int64_t lastK, double dt) {
    const double w = static_cast<double>(n_ * n_);
    const std::int64_t row = old_.row();
    const std::int64_t plane = old_.plane();
    for (std::int64_t k = firstK; k < lastK; ++k) {
      for (std::int64_t j = 0; j < n_; ++j) {
        const double* u = old_.at(0, j, k);
        double* next = new_.at(0, j, k);
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

  std::int64_t n_;
  Slabs slabs_;
  HandArray old_;
  HandArray new_;
};

double smaller(double a, double b) { return a < b ? a : b; }
double larger(double a, double b) { return a > b ? a : b; }

/// Half the limited slope of q[0], whose neighbours along the axis are `s` away.
inline double halfSlope(const double* q, std::int64_t s) {
  const double a = q[0] - q[-s];
  const double b = q[s] - q[0];
  const double mean = 0.5 * (a + b);
  return 0.5 *
         (larger(0.0, smaller(2.0 * smaller(a, b), mean)) + smaller(0.0, larger(2.0 * larger(a, b), mean)));
}

/// What enters less what the slope takes away, for a positive velocity.
inline double gain(const double* q, std::int64_t s, double c) {
  return c * (q[-s] + halfSlope(q - s, s)) - halfSlope(q, s) * c;
}

class HandAdvection : public HandStencil {
 public:
  HandAdvection(std::int64_t n, int threads) : n_(n), slabs_(threads), old_(n, 2), stage_(n, 2), new_(n, 2) {}

  void step(double dt) override {
    const double c = dt * static_cast<double>(n_);
    old_.fillHalo();
    slabs_.run(n_, [&](std::int64_t first, std::int64_t last) {
      forEachRow(old_, stage_, first, last,
                 [c](const double* q, double* to, std::int64_t row, std::int64_t plane) {
                   *to = euler(q, row, plane, c);
                 });
    });
    stage_.fillHalo();
    slabs_.run(n_, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t away = old_.at(0, 0, 0) - stage_.at(0, 0, 0);
      forEachRow(stage_, new_, first, last,
                 [c, away](const double* q, double* to, std::int64_t row, std::int64_t plane) {
                   *to = 0.5 * (q[away] + euler(q, row, plane, c));
                 });
    });
    old_.swap(new_);
  }

 private:
  static double euler(const double* q, std::int64_t row, std::int64_t plane, double c) {
    return (1.0 - ((c + c) + c)) * q[0] + ((gain(q, 1, c) + gain(q, row, c)) + gain(q, plane, c));
  }
  template <class Cell>
  void forEachRow(HandArray& from, HandArray& to, std::int64_t firstK, std::int64_t lastK, Cell cell) {
    const std::int64_t row = from.row();
    const std::int64_t plane = from.plane();
    for (std::int64_t k = firstK; k < lastK; ++k) {
      for (std::int64_t j = 0; j < n_; ++j) {
        const double* q = from.at(0, j, k);
        double* result = to.at(0, j, k);
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n_; ++i) cell(q + i, result + i, row, plane);
      }
    }
  }

  std::int64_t n_;
  Slabs slabs_;
  HandArray old_;
  HandArray stage_;
  HandArray new_;
};

}  // namespace

std::unique_ptr<HandStencil> makeHandHeat(std::int64_t n, int threads) {
  return std::make_unique<HandHeat>(n, threads);
}

std::unique_ptr<HandStencil> makeHandAdvection(std::int64_t n, int threads) {
  return std::make_unique<HandAdvection>(n, threads);
}

HandArray::HandArray(std::int64_t n, std::int64_t halo)
    : n_(n), halo_(halo), values_(static_cast<std::size_t>(row() * plane()), 1.0) {
  for (std::size_t c = 0; c < values_.size(); ++c) values_[c] = 1.0 + 1e-3 * static_cast<double>(c % 97);
}

void HandArray::fillHalo() {
  for (std::int64_t b = 0; b < n_; ++b) {
    for (std::int64_t a = 0; a < n_; ++a) {
      for (std::int64_t h = 1; h <= halo_; ++h) {
        *at(-h, a, b) = *at(n_ - h, a, b);
        *at(n_ - 1 + h, a, b) = *at(h - 1, a, b);
        *at(a, -h, b) = *at(a, n_ - h, b);
        *at(a, n_ - 1 + h, b) = *at(a, h - 1, b);
        *at(a, b, -h) = *at(a, b, n_ - h);
        *at(a, b, n_ - 1 + h) = *at(a, b, h - 1);
      }
    }
  }
}

Slabs::Slabs(int threads) : threads_(threads), begin_(threads), end_(threads) {
  for (int n = 1; n < threads; ++n) {
    others_.emplace_back([this, n] {
      while (true) {
        begin_.arrive_and_wait();
        if (work_ == nullptr) return;
        part(n);
        end_.arrive_and_wait();
      }
    });
  }
}

Slabs::~Slabs() {
  work_ = nullptr;
  begin_.arrive_and_wait();
  for (std::thread& other : others_) other.join();
}

void Slabs::run(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& work) {
  n_ = n;
  work_ = &work;
  begin_.arrive_and_wait();
  part(0);
  end_.arrive_and_wait();
}

}  // namespace tessera::bench
