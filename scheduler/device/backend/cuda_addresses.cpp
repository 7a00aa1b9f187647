#include "scheduler/device/backend/cuda_addresses.hpp"

#if defined(TESSERA_HAVE_CUDA)

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string>
#include <vector>

#include "core/text/contracts.hpp"

namespace tessera::detail {

namespace {

/// Functions of the driver, asked for by name: a program that is linked with the driver would not start
/// where there is none.
struct Driver {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) giveBack = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) setAccess = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
};

[[noreturn]] void fail(const DeviceInfo& info, const char* call, const std::string& reason) {
  throw deviceError({DeviceFault::Failed, asText(info), reason, call, {}});
}

template <class Function>
void find(const DeviceInfo& info, const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kVersion = 11000;  // that all of them are in
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr) {
    static_cast<void>(cudaGetLastError());
    fail(info, name, "the driver cannot remap device memory; give a device.limit that holds all variables");
  }
  function = reinterpret_cast<Function>(found);
}

Driver findDriver(const DeviceInfo& info) {
  Driver driver;
  find(info, "cuMemAddressReserve", driver.reserve);
  find(info, "cuMemAddressFree", driver.giveBack);
  find(info, "cuMemCreate", driver.create);
  find(info, "cuMemRelease", driver.release);
  find(info, "cuMemMap", driver.map);
  find(info, "cuMemUnmap", driver.unmap);
  find(info, "cuMemSetAccess", driver.setAccess);
  find(info, "cuMemGetAllocationGranularity", driver.granularity);
  return driver;
}

class CudaAddresses final : public DeviceAddresses {
 public:
  CudaAddresses(const DeviceInfo& info, std::int64_t bytes, std::int64_t pieceBytes);
  ~CudaAddresses() override;

  std::byte* begin() const override { return reinterpret_cast<std::byte*>(begin_); }
  std::int64_t bytes() const override { return bytes_; }
  std::int64_t pieceBytes() const override { return piece_; }
  void map(std::int64_t offset, std::int64_t bytes) override;
  void unmap(std::int64_t offset, std::int64_t bytes) override;

 private:
  using Handle = CUmemGenericAllocationHandle;

  void check(CUresult status, const char* call) const {
    if (status != CUDA_SUCCESS) fail(info_, call, "error " + std::to_string(status) + " of the driver");
  }
  Handle takePiece();
  CUdeviceptr at(std::int64_t offset) const { return begin_ + static_cast<CUdeviceptr>(offset); }

  const DeviceInfo& info_;
  const Driver driver_;
  CUmemAllocationProp what_{};
  CUmemAccessDesc access_{};
  std::int64_t piece_ = 0;
  std::int64_t bytes_ = 0;
  CUdeviceptr begin_ = 0;
  std::vector<Handle> handles_;  ///< by piece; 0: none
  std::vector<Handle> spare_;    ///< behind no address: to make one takes longer than to move it
};

CudaAddresses::CudaAddresses(const DeviceInfo& info, std::int64_t bytes, std::int64_t pieceBytes)
    : info_(info), driver_(findDriver(info)) {
  what_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  what_.location.id = info.number;
  access_.location = what_.location;
  access_.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granularity = 0;
  check(driver_.granularity(&granularity, &what_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "cuMemGetAllocationGranularity");
  const auto page = static_cast<std::int64_t>(granularity);
  piece_ = (pieceBytes + page - 1) / page * page;
  bytes_ = (bytes + piece_ - 1) / piece_ * piece_;
  check(driver_.reserve(&begin_, static_cast<std::size_t>(bytes_), 0, 0, 0), "cuMemAddressReserve");
  handles_.assign(static_cast<std::size_t>(bytes_ / piece_), 0);
}

CudaAddresses::~CudaAddresses() {
  for (std::size_t n = 0; n < handles_.size(); ++n) {
    if (handles_[n] == 0) continue;
    static_cast<void>(
        driver_.unmap(at(static_cast<std::int64_t>(n) * piece_), static_cast<std::size_t>(piece_)));
    spare_.push_back(handles_[n]);
  }
  for (const Handle handle : spare_) static_cast<void>(driver_.release(handle));
  static_cast<void>(driver_.giveBack(begin_, static_cast<std::size_t>(bytes_)));
}

CudaAddresses::Handle CudaAddresses::takePiece() {
  Handle handle = 0;
  if (!spare_.empty()) {
    handle = spare_.back();
    spare_.pop_back();
    return handle;
  }
  const CUresult status = driver_.create(&handle, static_cast<std::size_t>(piece_), &what_, 0);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(cudaMemGetInfo(&free, &total));
    throw outOfDeviceMemory(asText(info_), "a piece of the memory for variables", piece_,
                            static_cast<std::int64_t>(total - free), static_cast<std::int64_t>(total));
  }
  check(status, "cuMemCreate");
  return handle;
}

void CudaAddresses::map(std::int64_t offset, std::int64_t bytes) {
  TESSERA_EXPECT(offset % piece_ == 0 && bytes % piece_ == 0 && offset + bytes <= bytes_, "map whole pieces");
  for (std::int64_t piece = offset; piece < offset + bytes; piece += piece_) {
    Handle& handle = handles_[static_cast<std::size_t>(piece / piece_)];
    TESSERA_EXPECT(handle == 0, "map what has no memory");
    const Handle taken = takePiece();
    const CUresult status = driver_.map(at(piece), static_cast<std::size_t>(piece_), 0, taken, 0);
    if (status != CUDA_SUCCESS) spare_.push_back(taken);
    check(status, "cuMemMap");
    handle = taken;
  }
  check(driver_.setAccess(at(offset), static_cast<std::size_t>(bytes), &access_, 1), "cuMemSetAccess");
}

void CudaAddresses::unmap(std::int64_t offset, std::int64_t bytes) {
  for (std::int64_t piece = offset; piece < offset + bytes; piece += piece_) {
    Handle& handle = handles_[static_cast<std::size_t>(piece / piece_)];
    TESSERA_EXPECT(handle != 0, "unmap what has memory");
    check(driver_.unmap(at(piece), static_cast<std::size_t>(piece_)), "cuMemUnmap");
    spare_.push_back(handle);
    handle = 0;
  }
}

}  // namespace

std::unique_ptr<DeviceAddresses> makeCudaAddresses(const DeviceInfo& info, std::int64_t bytes,
                                                   std::int64_t pieceBytes) {
  return std::make_unique<CudaAddresses>(info, bytes, pieceBytes);
}

}  // namespace tessera::detail

#endif
