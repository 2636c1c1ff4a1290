// The callbacks that intel-pti gets its buffers by, for pti_views.py. The library holds a lock while it calls them: a
// callback in Python would wait for the interpreter, whose thread waits for that lock.
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST = 4096, BYTES = 1 << 20 };
struct {
  unsigned char *at;
  size_t used;
} buffers[MOST];
atomic_int count;

void asked(unsigned char **at, size_t *size) {
  *at = malloc(BYTES);
  *size = *at ? BYTES : 0;
}

void full(unsigned char *at, size_t size, size_t used) {
  (void)size;
  int number = atomic_fetch_add(&count, 1);
  if (number >= MOST)
    abort();
  buffers[number].at = at;
  buffers[number].used = used;
}
