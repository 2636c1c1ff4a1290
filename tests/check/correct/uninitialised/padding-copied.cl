// run make global=32 local=32 args=buffer(u8,384,scratch),buffer(u8,384,scratch),buffer(i32,32)
// run copy global=96 local=32 args=same(0),same(1)
// run read global=32 local=32 args=same(1),same(2)
// note: padding that nobody wrote is copied along with the records, word by word
typedef struct {
  uchar tag;
  int value;
  short low;
} Record;

kernel void make(global Record *out, global Record *other, global int *results) {
  int i = get_global_id(0);
  out[i].tag = i;
  out[i].value = 2 * i;
  out[i].low = -i;
}

kernel void copy(global const uint *in, global uint *out) {
  int i = get_global_id(0);
  out[i] = in[i];
}

kernel void read(global const Record *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i].tag + in[i].value + in[i].low;
}
