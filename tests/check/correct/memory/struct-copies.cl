// run copy global=32 local=32 args=buffer(u8,384,iota),buffer(u8,384)
// note: records with padding are copied whole
typedef struct {
  uchar tag;
  int value;
  short low;
} Record;

kernel void copy(global const Record *in, global Record *out) {
  int i = get_global_id(0);
  Record record = in[i];
  record.value += 1;
  out[31 - i] = record;
}
