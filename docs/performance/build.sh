#!/bin/sh
# Compiles the kernels of docs/performance.md again, with source lines, which clang-22 cannot write into SPIR-V; the .spv
# files are committed, so that the page's test needs no compiler. Needs clang-15 and llvm-spirv-15. Run in this folder.
set -e
here=$PWD
cd ../../tests/kernels
for name in layout rows wrap; do
    clang-15 -cl-std=CL3.0 -target spir64 -O1 -gline-tables-only -fdebug-compilation-dir=. -c -emit-llvm \
        "$name.cl" -o "$here/$name.bc"
    llvm-spirv-15 --spirv-max-version=1.4 "$here/$name.bc" -o "$here/$name.spv"
    rm "$here/$name.bc"
done
