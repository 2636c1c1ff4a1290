// run check global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: assert(): the kernel's own test fails for one work-item. May crash without a checker
void __assert_fail(constant char *expression, constant char *file, uint line, constant char *function);

kernel void check(global const int *in, global int *out) {
  int i = get_global_id(0);
  if (in[i] == 50)
    __assert_fail("in[i] != 50", "assertion.cl", 8, "check"); //~ assertion
  out[i] = in[i];
}
