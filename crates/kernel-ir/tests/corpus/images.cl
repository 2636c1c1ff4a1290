// Images: reads, writes and samples of every dimension, queries, samplers given and spelled out.

#define AT (get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2)))
#define X ((int)get_global_id(0))
#define Y ((int)get_global_id(1))
#define Z ((int)get_global_id(2))

#define READS(suffix, type, function)                                                                  \
    kernel void read_1d_##suffix(read_only image1d_t in, global type *out) { out[AT] = function(in, X); } \
    kernel void read_1da_##suffix(read_only image1d_array_t in, global type *out) {                     \
        out[AT] = function(in, (int2)(X, Y));                                                           \
    }                                                                                                   \
    kernel void read_2d_##suffix(read_only image2d_t in, global type *out) { out[AT] = function(in, (int2)(X, Y)); } \
    kernel void read_2da_##suffix(read_only image2d_array_t in, global type *out) {                     \
        out[AT] = function(in, (int4)(X, Y, Z, 0));                                                     \
    }                                                                                                   \
    kernel void read_3d_##suffix(read_only image3d_t in, global type *out) {                            \
        out[AT] = function(in, (int4)(X, Y, Z, 0));                                                     \
    }                                                                                                   \
    kernel void read_buffer_##suffix(read_only image1d_buffer_t in, global type *out) { out[AT] = function(in, X); }

READS(f, float4, read_imagef)
READS(i, int4, read_imagei)
READS(u, uint4, read_imageui)

#define WRITES(suffix, type, function)                                                                 \
    kernel void write_1d_##suffix(write_only image1d_t to, global const type *in) { function(to, X, in[AT]); } \
    kernel void write_1da_##suffix(write_only image1d_array_t to, global const type *in) {              \
        function(to, (int2)(X, Y), in[AT]);                                                             \
    }                                                                                                   \
    kernel void write_2d_##suffix(write_only image2d_t to, global const type *in) { function(to, (int2)(X, Y), in[AT]); } \
    kernel void write_2da_##suffix(write_only image2d_array_t to, global const type *in) {              \
        function(to, (int4)(X, Y, Z, 0), in[AT]);                                                       \
    }                                                                                                   \
    kernel void write_3d_##suffix(write_only image3d_t to, global const type *in) {                     \
        function(to, (int4)(X, Y, Z, 0), in[AT]);                                                       \
    }                                                                                                   \
    kernel void write_buffer_##suffix(write_only image1d_buffer_t to, global const type *in) { function(to, X, in[AT]); }

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
WRITES(f, float4, write_imagef)
WRITES(i, int4, write_imagei)
WRITES(u, uint4, write_imageui)

// Each work-item in a place of its own, and one texel too far in every direction.
kernel void add_in_place(read_write image2d_t both) {
    int2 at = (int2)(X - 1, Y - 1);
    uint4 old = read_imageui(both, at);
    write_imageui(both, at, old + (uint4)(1, 2, 3, 4));
}

kernel void sample_1d(read_only image1d_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X].x);
}
kernel void sample_1da(read_only image1d_array_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X].xy);
}
kernel void sample_2d(read_only image2d_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X].xy);
}
kernel void sample_2da(read_only image2d_array_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X]);
}
kernel void sample_3d(read_only image3d_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X]);
}
kernel void sample_2d_i(read_only image2d_t in, sampler_t s, global const float4 *at, global int4 *out) {
    out[X] = read_imagei(in, s, at[X].xy);
}
// Whole coordinates with a sampler.
kernel void sample_2d_whole(read_only image2d_t in, sampler_t s, global const int2 *at, global float4 *out) {
    out[X] = read_imagef(in, s, at[X]);
}

constant sampler_t outside = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
kernel void sample_literal(read_only image2d_t in, global const float4 *at, global float4 *out) {
    const sampler_t inside = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    out[2 * X] = read_imagef(in, outside, at[X].xy);
    out[2 * X + 1] = read_imagef(in, inside, at[X].xy);
}

// Neighbours of each work-item's own texel, some of them outside.
kernel void sample_shifted(read_only image2d_t in, sampler_t s, global float4 *out) {
    const sampler_t inside = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    out[2 * AT] = read_imagef(in, inside, (int2)(X - 2, Y + 1));
    out[2 * AT + 1] = read_imagef(in, s, (int2)(X + 1, Y - 1));
}

// Through a function that is not inlined at -O0: images and samplers as its parameters.
float4 twice(read_only image2d_t in, sampler_t s, float2 at) { return read_imagef(in, s, at) * 2.0f; }
kernel void through_function(read_only image2d_t in, sampler_t s, global const float4 *at, global float4 *out) {
    out[X] = twice(in, s, at[X].xy);
}

kernel void queries(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_t c,
                    read_only image2d_array_t d, read_only image3d_t e, global int *out) {
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = (int)get_image_array_size(b);
    out[3] = get_image_width(c);
    out[4] = get_image_height(c);
    out[5] = get_image_width(d);
    out[6] = get_image_height(d);
    out[7] = (int)get_image_array_size(d);
    out[8] = get_image_width(e);
    out[9] = get_image_height(e);
    out[10] = get_image_depth(e);
    out[11] = get_image_channel_data_type(c);
    out[12] = get_image_dim(d).y;
    out[13] = get_image_dim(e).z;
}

// Some work-items read, others write: images in divergent code.
kernel void divergent(read_only image2d_t in, write_only image2d_t to, sampler_t s) {
    int2 at = (int2)(X, Y);
    float4 v = (float4)(0.25f);
    if ((X + Y) % 3 == 1) v = read_imagef(in, at);
    else if ((X + Y) % 3 == 2) v = read_imagef(in, s, convert_float2(at) + 0.5f);
    if (X % 2 == 0) write_imagef(to, at, v);
}
