// run fields global=32 local=32 args=buffer(u8,164,iota),buffer(i32,32)
// note: records of five bytes hold an int behind a byte, read through an int pointer
kernel void fields(global const uchar *records, global int *out) {
  int i = get_global_id(0);
  global const uchar *record = records + 5 * i;
  int value = *(global const int *)(record + 1); //~ misaligned
  out[i] = value + record[0];
}
