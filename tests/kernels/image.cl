// Images: sampling, reads and writes of whole pixels, a separable blur, a resize.
constant sampler_t whole = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// Turns the picture by an angle whose cosine and sine are c and s; the sampler decides between nearest and linear.
kernel void img_turn(read_only image2d_t in, write_only image2d_t out, sampler_t how, float c, float s)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 p = (convert_float2(at) + 0.5f) / convert_float2(get_image_dim(out)) - 0.5f;
    float2 q = (float2)(c * p.x - s * p.y, s * p.x + c * p.y) + 0.5f;
    write_imagef(out, at, read_imagef(in, how, q));
}

// Reads and writes each pixel once: what a format costs.
kernel void img_pixels(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, 1.0f - read_imagef(in, whole, at));
}
kernel void img_pixels_u(read_only image2d_t in, write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, at, 255u - read_imageui(in, whole, at));
}

// One direction of a separable blur of 9 taps.
kernel void img_blur(read_only image2d_t in, write_only image2d_t out, constant float *weight, int dx, int dy)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = (float4)(0.0f);
    for (int k = -4; k <= 4; k++)
        sum += weight[k + 4] * read_imagef(in, whole, at + (int2)(k * dx, k * dy));
    write_imagef(out, at, sum);
}

// A picture of another size.
kernel void img_resize(read_only image2d_t in, write_only image2d_t out, sampler_t how)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, read_imagef(in, how, (convert_float2(at) + 0.5f) / convert_float2(get_image_dim(out))));
}
