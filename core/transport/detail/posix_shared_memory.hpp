#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tessera::detail {

/// Where another process finds a piece of memory; plain numbers, to be sent as bytes.
struct SharedMemoryAddress {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;  ///< of that process; -1: there is none
  std::int64_t bytes = 0;
  std::uint64_t device = 0;  ///< these two say that the descriptor is still what it was
  std::uint64_t inode = 0;
};

/// Memory that several processes of one user on one machine see. It has no name and goes away with the last
/// one that has it, however that ends.
class SharedMemory {
 public:
  /// `bytes` zero bytes that are there, not only promised. Nothing where the machine does not give them.
  static std::optional<SharedMemory> make(std::int64_t bytes);
  /// Opens memory that another process has made and not closed yet. Empty where this process may not see it.
  static std::optional<SharedMemory> open(const SharedMemoryAddress& address);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::span<std::byte> memory() const { return {data_, static_cast<std::size_t>(bytes_)}; }
  /// The address for `open` in another process; it holds no descriptor after `close`.
  SharedMemoryAddress address() const;
  /// Removes the name: no other process can open the memory from now on. The memory itself stays.
  void close();

 private:
  SharedMemory(int descriptor, std::byte* data, std::int64_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}

  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// The same number on all processes that may try to open each other's memory: those of one running machine
/// and one name space of processes. 0: unknown, try nothing.
std::uint64_t machineNumber();

}  // namespace tessera::detail
