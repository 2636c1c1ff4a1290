// One step of diffusion on a torus: neighbours by remainder, and by a frame of copied cells around the grid.
kernel void wrap_remainder(global const float *in, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int up = (y + height - 1) % height, down = (y + 1) % height;
    float around = in[y * width + left] + in[y * width + right] + in[up * width + x] + in[down * width + x];
    out[y * width + x] = 0.6f * in[y * width + x] + 0.1f * around;
}
kernel void wrap_frame(global const float *in, global float *out, int width, int height)
{
    int pitch = width + 2, at = (get_global_id(1) + 1) * pitch + get_global_id(0) + 1;
    float around = in[at - 1] + in[at + 1] + in[at - pitch] + in[at + pitch];
    out[at] = 0.6f * in[at] + 0.1f * around;
}
