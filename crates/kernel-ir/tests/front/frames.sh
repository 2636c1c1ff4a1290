#!/bin/sh
# Compiles frames.cl again, without and with optimisation. Needs clang-15 and llvm-spirv-15. Run in this folder.
set -e
for level in 0 1; do
    clang-15 -w --target=spir64 -x cl -cl-std=CL3.0 -O$level -gline-tables-only -fdebug-prefix-map="$PWD"=. \
        -emit-llvm -c frames.cl -o frames.bc
    llvm-spirv-15 --spirv-max-version=1.3 --spirv-debug-info-version=ocl-100 frames.bc -o "frames.O$level.spv"
done
mv frames.O1.spv frames.spv
rm frames.bc
