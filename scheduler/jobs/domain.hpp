#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>

#include "core/geometry/box.hpp"

namespace tessera::jobs {

/// Data of one to three dimensions that jobs read, write or reduce into: a name, an extent and elements of
/// one size. The host's copy is its home; devices have parts of it while they need them. One thread at a
/// time, and no host code touches the elements while a job that uses them runs. Outlives the runners of such
/// jobs.
class DomainBase {
 public:
  /// All elements are zero bytes. Throws UsageError where an axis has no elements.
  DomainBase(std::string name, Extent extent, std::int64_t elementBytes);
  DomainBase(const DomainBase&) = delete;
  DomainBase& operator=(const DomainBase&) = delete;

  const std::string& name() const { return name_; }
  const Box& box() const { return box_; }
  std::int64_t elementBytes() const { return elementBytes_; }
  std::int64_t bytes() const { return box_.volume() * elementBytes_; }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  /// The address of one element.
  std::byte* at(Index x) { return data_.get() + offset(x) * elementBytes_; }
  const std::byte* at(Index x) const { return data_.get() + offset(x) * elementBytes_; }

  /// Grows with each change, so that copies on devices which are older can be told.
  std::uint64_t version() const { return version_; }
  /// The elements have changed, or are about to: copies on devices are worth nothing any more.
  void markChanged() { ++version_; }

 private:
  std::int64_t offset(Index x) const {
    const Extent n = box_.extent();
    return x.i + n.i * (x.j + n.j * x.k);
  }
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{4096}); }
  };

  std::string name_;
  Box box_;
  std::int64_t elementBytes_;
  std::uint64_t version_ = 1;
  std::unique_ptr<std::byte, Release> data_;
};

/// A domain with elements of the type T, i fastest.
///
///   Domain<double> a("A", {64, 64, 1});
///   for (double& x : a.change()) x = 1.0;
template <class T>
class Domain : public DomainBase {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "elements of domains are copied between devices");
  explicit Domain(std::string name, Extent extent) : DomainBase(std::move(name), extent, sizeof(T)) {}

  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(box().volume())};
  }
  /// The elements, to be changed: what devices have of them is old from here on.
  std::span<T> change() {
    markChanged();
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(box().volume())};
  }
  const T& operator()(Index x) const { return *reinterpret_cast<const T*>(at(x)); }
};

/// Sums that units of a job add to, in fixed point: whole multiples of `resolution`, so that the order of the
/// additions changes no bit. The absolute value of a sum stays below 2^63 resolutions; each addend is rounded
/// to the nearest multiple.
class Sums : public Domain<std::int64_t> {
 public:
  /// `resolution` is a power of two, for example 0x1p-36. Throws UsageError where it is not.
  Sums(std::string name, Extent extent, double resolution);

  double resolution() const { return resolution_; }
  double value(Index x) const { return static_cast<double>((*this)(x)) * resolution_; }
  /// All sums are zero from here on.
  void clear();
  /// Adds whole multiples of the resolution to the sums in `box`, x fastest. A job is under way: its devices
  /// hand over what they have added up, and the version does not change.
  void add(const Box& box, std::span<const std::int64_t> multiples);

 private:
  double resolution_;
};

}  // namespace tessera::jobs
