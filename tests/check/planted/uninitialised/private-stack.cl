// run walk global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(6)
// note: a stack is popped from one element above its top
kernel void walk(global const int *in, global int *out, int pushes) {
  int i = get_global_id(0);
  int stack[8], top = 0, sum = 0;
  for (int k = 0; k < pushes; k++)
    stack[top++] = in[(i + k) & 63];
  while (top > 0)
    sum += stack[top--]; //~ uninitialised-value
  out[i] = sum; //~^other
}
