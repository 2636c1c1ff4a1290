// run pack global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: even and odd work-items write different fields of one record
typedef struct {
  short low, high;
  uchar tag, other;
} Record;

kernel void pack(global const int *in, global int *out) {
  local Record records[32];
  int l = get_local_id(0);
  if (l % 2 == 0) {
    records[l / 2].low = in[l];
    records[l / 2].tag = l;
  } else {
    records[l / 2].high = in[l];
    records[l / 2].other = l;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Record record = records[l / 2];
  out[l] = record.low + record.high + record.tag + record.other;
}
