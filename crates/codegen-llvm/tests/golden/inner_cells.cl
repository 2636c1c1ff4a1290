// All but the cells at the border: the conditions of y and z are shared by all work-items of a row.
kernel void inner_cells(global const float *in, global float *out, int w, int h, int d)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int p = (z * h + y) * w + x;
    if (x > 0 && y > 0 && z > 0 && x < w - 1 && y < h - 1 && z < d - 1)
        out[p] = in[p - 1] + in[p + 1];
}
