#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/id.hpp"

namespace tessera {

/// The ids from one up to another, the last one not included, to loop over.
template <class Key>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Key;
    using difference_type = std::ptrdiff_t;

    constexpr Iterator() = default;
    constexpr explicit Iterator(Key at) : at_(at) {}
    constexpr Key operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr Iterator operator++(int) { return Iterator(at_++); }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    Key at_;
  };

  constexpr IdRange(Key begin, Key end) : begin_(begin), end_(end) {}
  constexpr Iterator begin() const { return Iterator(begin_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  Key begin_;
  Key end_;
};

/// A view of a list with one element for each id of a kind.
template <class Key, class T>
class IdSpan {
 public:
  using value_type = std::remove_cv_t<T>;
  using const_iterator = typename std::span<T>::iterator;

  constexpr IdSpan() = default;
  constexpr explicit IdSpan(std::span<T> all) : all_(all) {}

  constexpr T& operator[](Key id) const { return all_[id.index()]; }
  constexpr std::size_t size() const { return all_.size(); }
  constexpr bool empty() const { return all_.empty(); }
  /// Ids of all elements.
  constexpr IdRange<Key> ids() const { return {Key(0), Key(all_.size())}; }
  constexpr auto begin() const { return all_.begin(); }
  constexpr auto end() const { return all_.end(); }
  /// The elements by position, for code that does not care what their numbers mean.
  constexpr std::span<T> all() const { return all_; }

 private:
  std::span<T> all_;
};

/// A vector with one element for each id of a kind, which nothing but an id of that kind subscripts.
///
///   IdVector<NodeId, std::int32_t> counts(graph.nodeCount());
///   for (const NodeId node : counts.ids()) counts[node] = 1;
template <class Key, class T>
class IdVector {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  IdVector() = default;
  template <std::integral Count>
  explicit IdVector(Count count, const T& value = T()) : all_(static_cast<std::size_t>(count), value) {}
  IdVector(std::initializer_list<T> all) : all_(all) {}
  explicit IdVector(std::vector<T> all) : all_(std::move(all)) {}

  decltype(auto) operator[](Key id) { return all_[id.index()]; }
  decltype(auto) operator[](Key id) const { return all_[id.index()]; }
  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  /// The id that the next element gets.
  Key endId() const { return Key(all_.size()); }
  /// Ids of all elements.
  IdRange<Key> ids() const { return {Key(0), endId()}; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  T& back() { return all_.back(); }
  const T& back() const { return all_.back(); }

  void clear() { all_.clear(); }
  template <std::integral Count>
  void reserve(Count count) {
    all_.reserve(static_cast<std::size_t>(count));
  }
  template <std::integral Count>
  void resize(Count count, const T& value = T()) {
    all_.resize(static_cast<std::size_t>(count), value);
  }
  template <std::integral Count>
  void assign(Count count, const T& value) {
    all_.assign(static_cast<std::size_t>(count), value);
  }
  void push_back(T value) { all_.push_back(std::move(value)); }
  /// The elements by position, for code that does not care what their numbers mean.
  std::vector<T>& all() { return all_; }
  const std::vector<T>& all() const { return all_; }

  operator IdSpan<Key, const T>() const { return IdSpan<Key, const T>(all_); }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> all_;
};

}  // namespace tessera
