// Kernels of the tests of images; kernels/build.sh compiles them.
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
kernel void brighten(read_only image2d_t from, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, at) + 0.2f);
}
kernel void invert(read_write image2d_t picture)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(picture, at, 1.0f - read_imagef(picture, at));
}
kernel void look_up(read_only image2d_t from, sampler_t sampler, global const float2 *at, global float4 *to)
{
    size_t i = get_global_id(0);
    to[i] = read_imagef(from, sampler, at[i]);
}
kernel void number(write_only image1d_t to)
{
    int x = get_global_id(0);
    write_imageui(to, x, (uint4)(x, x + 1, x + 2, x + 3));
}
kernel void number_3d(read_only image3d_t from, write_only image3d_t to)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int4 step = (int4)(at.x, 10 * at.y, 100 * at.z, 1);
    write_imagei(to, at, read_imagei(from, at) + step);
}
kernel void floats(read_only image2d_t from, global float4 *to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    to[at.y * get_global_size(0) + at.x] = read_imagef(from, at);
}
