#!/bin/sh
# Compiles every source of the corpus again; the .spv files are committed, so that tests need no compiler.
# Needs clang-22 and spirv-as. Run in this folder.
set -e
for f in *.cl; do
    clang-22 -c -target spirv64 -cl-std=CL2.0 -O2 -x cl "$f" -o "${f%.cl}.spv"
done
for f in *.cpp; do
    clang-22 -c -target spirv64 -O2 -x c++ "$f" -o "${f%.cpp}.spv"
done
# The same kernels as a compiler without optimisation leaves them: every variable in memory.
for f in control memory barrier_local sub_group globals linking_a meeting group_ops atomics vector vector16 images opencl_c; do
    clang-22 -c -target spirv64 -cl-std=CL2.0 -O0 -x cl "$f.cl" -o "$f.O0.spv"
done
for f in *.spvasm; do
    case "$f" in
    linkonce_*) version=1.0 ;;
    imports.*) version=1.1 ;;
    *) version=1.4 ;;
    esac
    spirv-as --target-env "spv$version" "$f" -o "${f%.spvasm}.spv"
done
