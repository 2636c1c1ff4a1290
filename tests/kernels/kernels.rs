// The kernels in Rust: module, file, names. Programs that include this define the macro `kernels`.
kernels! {
    bitonic "bitonic.rs": bitonic;
    bits "bits.rs": bits;
    blackscholes "blackscholes.rs": blackscholes;
    bytesearch "bytesearch.rs": bytesearch;
    conv "conv.rs": conv5x5;
    empty "empty.rs": empty;
    fft "fft.rs": fft256;
    gemm "gemm.rs": gemm_naive gemm_tiled;
    hash64 "hash64.rs": hash64;
    histogram "histogram.rs": hist_local hist_global;
    image "image.rs": img_turn img_pixels img_pixels_u img_blur img_resize;
    interp "interp.rs": interp;
    layout "layout.rs": step_aos step_soa;
    mandelbrot "mandelbrot.rs": mandelbrot;
    manyargs "manyargs.rs": manyargs;
    matvec4 "matvec4.rs": matvec4;
    montecarlo "montecarlo.rs": mc_pi;
    nbody "nbody.rs": nbody;
    privarr "privarr.rs": pa_sort pa_count;
    reduce "reduce.rs": reduce_f32;
    rows "rows.rs": row_by_item row_by_group;
    saxpy "saxpy.rs": saxpy;
    scan "scan.rs": scan_block;
    spmv "spmv.rs": spmv;
    stencil "stencil.rs": stencil2d stencil3d;
    subgroup "subgroup.rs": sg_reduce sg_scan sg_butterfly;
    transpose "transpose.rs": transpose;
    vadd "vadd.rs": vadd_f32 vadd_f64;
    vaddh "vaddh.rs": vadd_f16;
    wrap "wrap.rs": wrap_remainder wrap_frame;
}
