#include "datawarehouse/archive/detail/hdf5_handle.hpp"

namespace tessera::detail {
namespace {

herr_t keepInnermost(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

}  // namespace

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

std::string hdf5Reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keepInnermost, &text);
  return text.empty() ? "HDF5 reports no reason" : text;
}

hid_t fileType(Scalar scalar) {
  switch (scalar) {
    case Scalar::Float32:
      return H5T_IEEE_F32LE;
    case Scalar::Float64:
      return H5T_IEEE_F64LE;
    case Scalar::Int32:
      return H5T_STD_I32LE;
    case Scalar::Int64:
      return H5T_STD_I64LE;
  }
  return -1;
}

hid_t memoryType(Scalar scalar) {
  switch (scalar) {
    case Scalar::Float32:
      return H5T_NATIVE_FLOAT;
    case Scalar::Float64:
      return H5T_NATIVE_DOUBLE;
    case Scalar::Int32:
      return H5T_NATIVE_INT32;
    case Scalar::Int64:
      return H5T_NATIVE_INT64;
  }
  return -1;
}

}  // namespace tessera::detail
