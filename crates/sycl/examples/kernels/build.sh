#!/bin/sh
# Compiles the examples' kernels again; the .spv files are committed, so that nobody needs a compiler.
# Needs clang-22. Run in this folder.
set -e
for f in *.cl; do
    clang-22 -target spirv64 -cl-std=CL2.0 -O2 -c "$f" -o "${f%.cl}.spv"
done
# The second module of doubled.cl.
clang-22 -target spirv64 -cl-std=CL2.0 -O2 -DLIBRARY -c doubled.cl -o twice.spv
