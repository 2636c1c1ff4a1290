#!/bin/sh
# Compiles the OpenCL C of the library, the tests and the benchmarks to SPIR-V.
cd "$(dirname "$0")" && clang-22 -cl-std=CL2.0 --target=spirv64 -O1 -c tests.cl -o tests.spv
clang-22 -cl-std=CL2.0 --target=spirv64 -O2 -c reduce.cl -o reduce.spv
clang-22 -cl-std=CL2.0 --target=spirv64 -O2 -DDOUBLE -c reduce.cl -o reduce_double.spv
clang-22 -cl-std=CL2.0 --target=spirv64 -O1 -c images.cl -o images.spv
clang-22 -cl-std=CL2.0 --target=spirv64 -O1 -DKERNEL -c linked.cl -o linked_kernel.spv
clang-22 -cl-std=CL2.0 --target=spirv64 -O1 -c linked.cl -o linked_function.spv
