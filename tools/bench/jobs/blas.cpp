// tessera_jobs_blas_bench [N]: the rate of cuBLAS for C = A B of N x N numbers in double precision, to be
// shown beside that of the job `matrix_product`, which does not use it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

namespace {

void need(bool isWell, const char* what) {
  if (isWell) return;
  std::fprintf(stderr, "error: cuBLAS cannot %s\n", what);
  std::exit(1);
}

double* matrixOf(const std::vector<double>& values) {
  void* matrix = nullptr;
  const std::size_t bytes = values.size() * sizeof(double);
  need(cudaMalloc(&matrix, bytes) == cudaSuccess, "have memory for its matrices");
  need(cudaMemcpy(matrix, values.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy a matrix");
  return static_cast<double*>(matrix);
}

}  // namespace

int main(int count, char** words) {
  const int n = count > 1 ? std::atoi(words[1]) : 4096;
  if (n < 1 || n > 32768) {
    std::fprintf(stderr, "usage: tessera_jobs_blas_bench [N], N from 1 to 32768\n");
    return 2;
  }
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<double> values(size);
  for (std::size_t k = 0; k < size; ++k) values[k] = static_cast<double>(k % 17) - 8.0;
  double* a = matrixOf(values);
  double* b = matrixOf(values);
  double* c = matrixOf(values);
  cublasHandle_t handle = nullptr;
  need(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "begin");
  const double one = 1.0;
  const double zero = 0.0;
  double least = 1e300;
  for (int round = 0; round < 6; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const cublasStatus_t status =
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
    need(status == CUBLAS_STATUS_SUCCESS && cudaDeviceSynchronize() == cudaSuccess, "multiply");
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (round > 0) least = std::min(least, time.count());
  }
  std::printf("cuBLAS, %d x %d doubles: %.0f GFLOP/s\n", n, n, 2.0 * n * n * n / least * 1e-9);
  cublasDestroy(handle);
}
