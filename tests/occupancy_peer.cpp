// Launches through NVIDIA's occupancy header: int32 rows on stdin, int32 rows on stdout.
// Arguments: how often to repeat. The least nanoseconds for all rows go to stderr.

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_occupancy.h>

namespace {

struct Row {
    // of the device
    std::int32_t major, minor, threads_per_sm, shared_per_sm, shared_default, shared_most, reserved;
    // of the launch; most_dynamic is what cudaFuncSetAttribute would have been given
    std::int32_t threads, registers, fixed, dynamic, opt_in, most_dynamic, carveout, barriers;
};

struct Answer {
    std::int32_t error, blocks, factors, warps, registers, shared, slots, barriers;
    std::int32_t taken_registers, taken_shared;
};

Answer ask(const Row &row) {
    cudaOccDeviceProp device;
    device.computeMajor = row.major;
    device.computeMinor = row.minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = row.threads_per_sm;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.numSms = 1;
    device.sharedMemPerMultiprocessor = row.shared_per_sm;
    device.sharedMemPerBlock = row.shared_default;
    device.sharedMemPerBlockOptin = row.shared_most;
    device.reservedSharedMemPerBlock = row.reserved;

    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = INT_MAX;
    kernel.numRegs = row.registers;
    kernel.sharedSizeBytes = row.fixed;
    kernel.shmemLimitConfig = row.opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    kernel.maxDynamicSharedSizeBytes = row.most_dynamic;
    kernel.numBlockBarriers = row.barriers;

    cudaOccDeviceState state;
    state.carveoutConfig = row.carveout;

    cudaOccResult found = {};
    const int error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &found, &device, &kernel, &state, row.threads, row.dynamic);
    return {error, found.activeBlocksPerMultiprocessor,
            static_cast<std::int32_t>(found.limitingFactors), found.blockLimitWarps,
            found.blockLimitRegs, found.blockLimitSharedMem, found.blockLimitBlocks,
            found.blockLimitBarriers, found.allocatedRegistersPerBlock,
            static_cast<std::int32_t>(found.allocatedSharedMemPerBlock)};
}

}  // namespace

int main(int argc, char **argv) {
    const int repeat = argc > 1 ? std::atoi(argv[1]) : 1;
    std::vector<Row> rows;
    for (Row row; std::fread(&row, sizeof row, 1, stdin) == 1;) rows.push_back(row);
    std::vector<Answer> answers(rows.size());
    long long least = LLONG_MAX;
    for (int i = 0; i < repeat; ++i) {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t j = 0; j < rows.size(); ++j) answers[j] = ask(rows[j]);
        const auto taken = std::chrono::steady_clock::now() - start;
        const long long ns =
            std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
        if (ns < least) least = ns;
    }
    std::fwrite(answers.data(), sizeof(Answer), answers.size(), stdout);
    std::fprintf(stderr, "%lld\n", least);
    return 0;
}
