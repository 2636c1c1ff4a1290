// run walk global=64 local=64 args=buffer(i32,64,random),buffer(i32,64),i32(6)
// note: a stack in private memory is popped while it is empty
kernel void walk(global const int *in, global int *out, int pops) {
  int i = get_global_id(0);
  int stack[8];
  int top = 0, sum = 0;
  for (int k = 0; k < 5; k++)
    stack[top++] = in[(i + k) % 64];
  for (int k = 0; k < pops; k++)
    sum += stack[--top]; //~ private-bounds
  out[i] = sum;
}
