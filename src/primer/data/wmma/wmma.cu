// One tile of a matrix product, C = A · B with 16 × 16 numbers each, on a Tensor Core.
//
//     nvcc -arch=native -o wmma wmma.cu && ./wmma
//
// The kernel runs as one warp. The program compares its tile with a loop on the CPU.

#include <cstdio>
#include <cstdlib>

#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void one_tile(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c_frag;

    wmma::fill_fragment(c_frag, 0.0f);
    wmma::load_matrix_sync(a_frag, a, 16);
    wmma::load_matrix_sync(b_frag, b, 16);
    wmma::mma_sync(c_frag, a_frag, b_frag, c_frag);
    wmma::store_matrix_sync(c, c_frag, 16, wmma::mem_row_major);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(2);
    }
}

int main() {
    const int n = 16;
    half *a, *b;
    float *c;
    check(cudaMallocManaged(&a, n * n * sizeof(half)));
    check(cudaMallocManaged(&b, n * n * sizeof(half)));
    check(cudaMallocManaged(&c, n * n * sizeof(float)));
    // Small whole numbers, so that every sum is exact and must agree to the last bit.
    for (int i = 0; i < n * n; ++i) {
        a[i] = __float2half(static_cast<float>(i % 7 - 3));
        b[i] = __float2half(static_cast<float>(i % 5 - 2));
    }

    one_tile<<<1, 32>>>(a, b, c);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k) {
                sum += __half2float(a[i * n + k]) * __half2float(b[k * n + j]);
            }
            wrong += c[i * n + j] != sum;
        }
    }
    std::printf("%d of %d numbers are wrong\n", wrong, n * n);
    check(cudaFree(a));
    check(cudaFree(b));
    check(cudaFree(c));
    return wrong != 0;
}
