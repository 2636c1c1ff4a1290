//! Kernels whose accesses take all ways there are.

/// Kernels take `%in`, `%out` and `%n: i32`, which is 37. Indices stay within `WORDS`.
pub(super) const KERNELS: [(&str, &str); 22] = [
    (
        "an address of another block, which alone knows the row that it is in",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %line: i64 = iadd %plane, %y
  %start: i64 = imul %line, %sx
  %id: i64 = iadd %start, %g
  %id32: i32 = to.trunc %id
  %place: i32 = xor %id32, i32 5
  %row: ptr<global> = offset %out [%sx * 4 + 64]
  %w: i64 = to.sext %place
  %p: ptr<global> = offset %row [%w * 4 + 0]
  %v: i32 = load %p align 4
  %c: bool = cmp.ult %n, i32 100
  br_if %c, b1, b2
b1:
  %q: ptr<global> = offset %out [%w * 4 + 32768]
  store %q, %place align 4
  %sum: i32 = iadd %v, %place
  store %p, %sum align 4
  br b2
b2:
  ret
}",
    ),
    (
        "an address behind a loop that work-items leave at turns of their own, each with the row of its last",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %line: i64 = iadd %plane, %y
  %start: i64 = imul %line, %sx
  %id: i64 = iadd %start, %g
  %id32: i32 = to.trunc %id
  %place: i32 = xor %id32, i32 5
  %some: i64 = and %id, i64 3
  br b1
b1:
  %i: i64 = phi b0: i64 0, b1: %i2
  %row: ptr<global> = offset %out [%i * 4096 + 0]
  %w: i64 = to.sext %place
  %p: ptr<global> = offset %row [%w * 4 + 0]
  %v: i32 = load %p align 4
  %i2: i64 = iadd %i, i64 1
  %on: bool = cmp.ule %i2, %some
  br_if %on, b1, b2
b2:
  %q: ptr<global> = offset %out [%w * 4 + 32768]
  store %q, %place align 4
  %sum: i32 = iadd %v, %place
  store %p, %sum align 4
  ret
}",
    ),
    (
        "steps below zero that wrap around in no group: nothing is tested at run time",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %row: i64 = iadd %plane, %y
  %start: i64 = imul %row, %sx
  %id: i64 = iadd %start, %g
  %l: i64 = wi.LocalInvocationId 0
  %l32: i32 = to.trunc %l
  %m32: i32 = imul %l32, i32 4294967293
  %a32: i32 = iadd %m32, i32 200000
  %far: i64 = to.zext %a32
  %a: i64 = iadd %far, i64 -185000
  %b32: i32 = iadd %m32, i32 15000
  %b: i64 = to.sext %b32
  %pa: ptr<global> = offset %in [%a * 4 + 0]
  %pb: ptr<global> = offset %in [%b * 2 + 0]
  %va: i32 = load %pa align 4
  %vb: i16 = load %pb align 2
  %wb: i32 = to.zext %vb
  %r: i32 = xor %va, %wb
  %q: ptr<global> = offset %out [%id * 4 + 0]
  store %q, %r align 4
  ret
}",
    ),
    (
        "steps below zero of several widths, by factors that are written as large numbers",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %row: i64 = iadd %plane, %y
  %start: i64 = imul %row, %sx
  %id: i64 = iadd %start, %g
  %l: i64 = wi.LocalInvocationId 0
  %l32: i32 = to.trunc %l
  %l16: i16 = to.trunc %l
  %m32: i32 = imul %l32, i32 4294967293
  %a32: i32 = iadd %m32, i32 200000
  %far: i64 = to.zext %a32
  %a: i64 = iadd %far, i64 -185000
  %b32: i32 = iadd %m32, i32 15000
  %b: i64 = to.sext %b32
  %m16: i16 = imul %l16, i16 65533
  %a16: i16 = iadd %m16, i16 9000
  %c: i64 = to.zext %a16
  %pa: ptr<global> = offset %in [%a * 4 + 0]
  %pb: ptr<global> = offset %in [%b * 2 + 0]
  %pc: ptr<global> = offset %in [%c * 4 + 0]
  %va: i32 = load %pa align 4
  %vb: i16 = load %pb align 2
  %vc: i32 = load %pc align 4
  %wb: i32 = to.zext %vb
  %r1: i32 = xor %va, %wb
  %r2: i32 = iadd %r1, %vc
  %q: ptr<global> = offset %out [%id * 4 + 0]
  store %q, %r2 align 4
  ret
}",
    ),
    (
        "elements a few places apart, members of structures, bytes and long words, backwards",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %row: i64 = iadd %plane, %y
  %start: i64 = imul %row, %sx
  %id: i64 = iadd %start, %g
  %p2: ptr<global> = offset %in [%id * 8 + 4]
  %a: i32 = load %p2 align 4
  %p3: ptr<global> = offset %in [%id * 12 + 8]
  %b: i32 = load %p3 align 4
  %s: ptr<global> = offset %in [%id * 28 + 0]
  %s1: ptr<global> = offset %s [4]
  %s6: ptr<global> = offset %s [24]
  %s4: ptr<global> = offset %in [%id * 28 + 16]
  %c: i32 = load %s1 align 4
  %d: i32 = load %s6 align 4
  %e: i32 = load %s4 align 4
  %pb: ptr<global> = offset %in [%id * 3 + 1]
  %byte: i8 = load %pb align 1
  %pc: ptr<global> = offset %in [%id * 3 + 2]
  %byte2: i8 = load %pc align 1
  %ph: ptr<global> = offset %in [%id * 10 + 6]
  %half: i16 = load %ph align 2
  %pl: ptr<global> = offset %in [%id * 32 + 8]
  %long: i64 = load %pl align 8
  %pm: ptr<global> = offset %in [%id * 32 + 24]
  %long2: i64 = load %pm align 8
  %back: ptr<global> = offset %in [%id * -4 + 8000]
  %f: i32 = load %back align 4
  %back2: ptr<global> = offset %in [%id * -8 + 8004]
  %h: i32 = load %back2 align 4
  %w1: i32 = to.zext %byte
  %w2: i32 = to.sext %byte2
  %w3: i32 = to.sext %half
  %w4: i32 = to.trunc %long
  %shifted: i64 = lshr %long2, i64 32
  %w5: i32 = to.trunc %shifted
  %m1: i32 = imul %w1, i32 3
  %m2: i32 = imul %w2, i32 5
  %m3: i32 = imul %w3, i32 7
  %r1: i32 = xor %a, %m1
  %r2: i32 = iadd %r1, %b
  %r3: i32 = xor %r2, %m2
  %r4: i32 = iadd %r3, %c
  %r5: i32 = xor %r4, %m3
  %r6: i32 = iadd %r5, %d
  %r7: i32 = xor %r6, %w4
  %r8: i32 = iadd %r7, %e
  %r9: i32 = xor %r8, %w5
  %q: ptr<global> = offset %out [%id * 4 + 0]
  store %q, %r9 align 4
  %ten: i32 = imul %f, i32 11
  %r10: i32 = iadd %ten, %h
  %q2: ptr<global> = offset %out [%id * -4 + 8000]
  store %q2, %r10 align 4
  %again: i32 = load %s1 align 4
  %q3: ptr<global> = offset %out [%id * 8 + 16000]
  store %q3, %again align 4
  ret
}",
    ),
    (
        "bins counted in a loop, and cells of each work-item's own that it reads again",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %row: i64 = iadd %plane, %y
  %start: i64 = imul %row, %sx
  %id: i64 = iadd %start, %g
  %cell: ptr<global> = offset %out [%id * 4 + 8192]
  br b1
b1:
  %i: i64 = phi b0: i64 0, b5: %i2
  %at: i64 = imul %i, %sx
  %here: i64 = iadd %at, %id
  %p: ptr<global> = offset %in [%here * 1 + 0]
  %byte: i8 = load %p align 1
  %bin: i64 = to.zext %byte
  %q: ptr<global> = offset %out [%bin * 4 + 0]
  %o: i32 = atomic.iadd Device Relaxed %q, i32 3
  %w: ptr<global> = offset %in [%here * 4 + 0]
  %word: i32 = load %w align 4
  %low: i32 = and %word, i32 8191
  %on: bool = cmp.ult %low, i32 5000
  br_if %on, b2, b3
b2:
  %far: i64 = to.sext %low
  %r: ptr<global> = offset %out [%far * 4 + 0]
  %big: bool = cmp.ult %low, i32 1024
  %add: i32 = select %big, %word, i32 0
  atomic.isub Device Relaxed %r, %add
  br b3
b3:
  %odd: i32 = and %word, i32 1
  %is: bool = cmp.ine %odd, i32 0
  br_if %is, b4, b5
b4:
  %mine: i32 = atomic.iadd Device Relaxed %cell, %low
  %read: i32 = load %cell align 4
  %double: i32 = imul %read, i32 3
  store %cell, %double align 4
  br b5
b5:
  %i2: i64 = iadd %i, i64 1
  %more: bool = cmp.ult %i2, i64 9
  br_if %more, b1, b6
b6:
  %last: i32 = load %cell align 4
  %after: ptr<global> = offset %out [%id * 4 + 32768]
  store %after, %last align 4
  ret
}",
    ),
    (
        "largest and all bits of 64-bit cells",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  br b1
b1:
  %i: i32 = phi b0: i32 0, b1: %i2
  %turn: i64 = to.zext %i
  %step: i64 = imul %turn, i64 7
  %here: i64 = iadd %g, %step
  %p: ptr<global> = offset %in [%here * 4 + 4]
  %word: i32 = load %p align 4
  %short: i16 = to.trunc %word
  %bin: i64 = to.zext %short
  %cell: i64 = and %bin, i64 4095
  %q: ptr<global> = offset %out [%cell * 8 + 8]
  %wide: i64 = to.zext %word
  %value: i64 = imul %wide, i64 8589934593
  %o: i64 = atomic.umax Device Relaxed %q, %value
  %i2: i32 = iadd %i, i32 1
  %more: bool = cmp.ult %i2, %n
  br_if %more, b1, b2
b2:
  ret
}",
    ),
    (
        "ends of rows copied, neighbours added elsewhere, some only where a row goes on",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %gx: i64 = wi.GlobalInvocationId 0
  %gy: i64 = wi.GlobalInvocationId 1
  %gz: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %x: i32 = to.trunc %gx
  %y: i32 = to.trunc %gy
  %z: i32 = to.trunc %gz
  %w: i32 = to.trunc %sx
  %h: i32 = to.trunc %sy
  %plane: i32 = imul %z, %h
  %row: i32 = iadd %plane, %y
  %start: i32 = imul %row, %w
  %p: i32 = iadd %start, %x
  %last: i32 = iadd %w, i32 4294967295
  %low: bool = cmp.sgt %x, i32 0
  %high: bool = cmp.slt %x, %last
  %inside: bool = and %low, %high
  %at: i64 = to.sext %p
  %here: ptr<global> = offset %in [%at * 4 + 0]
  %a: i32 = load %here align 4
  br_if %inside, b1, b2
b1:
  %before: ptr<global> = offset %in [%at * 4 + -4]
  %b: i32 = load %before align 4
  %next: i32 = iadd %p, i32 1
  %nextat: i64 = to.sext %next
  %behind: ptr<global> = offset %in [%nextat * 4 + 0]
  %c: i32 = load %behind align 4
  %half: i32 = lshr %next, i32 1
  %e: i32 = xor %half, %b
  %d: i32 = iadd %e, %c
  br b2
b2:
  %r: i32 = phi b0: %a, b1: %d
  %q: ptr<global> = offset %out [%at * 4 + 0]
  store %q, %r align 4
  br_if %high, b3, b4
b3:
  %q2: ptr<global> = offset %out [%at * 2 + 32768]
  %small: i16 = to.trunc %r
  store %q2, %small align 2
  br b4
b4:
  ret
}",
    ),
    (
        "bytes by fours, ids clamped to borders",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.GlobalInvocationId 1
  %x: i32 = to.trunc %g
  %last: i32 = iadd %n, i32 4294967295
  br b1
b1:
  %i: i32 = phi b0: i32 4294967294, b1: %i2
  %sum: <4 x f32> = phi b0: <4 x f32> null, b1: %sum2
  %x2: i32 = iadd %x, %i
  %low: i32 = smax %x2, i32 0
  %at: i32 = smin %low, %last
  %wide: i64 = to.sext %at
  %p: ptr<global> = offset %in [%wide * 4 + 0]
  %v: <4 x i8> = load %p align 4
  %f: <4 x f32> = to.utof %v
  %sum2: <4 x f32> = fadd %sum, %f
  %i2: i32 = iadd %i, i32 1
  %end: bool = cmp.ieq %i2, i32 3
  br_if %end, b2, b1
b2:
  %half: <4 x f32> = fmul %sum2, <4 x f32> [0.5, 0.75, 1.5, 0.125]
  %r: <4 x i8> = to.satftou %half
  %s: <4 x i16> = to.satftos %half
  %size: i64 = wi.GlobalSize 0
  %row: i64 = imul %y, %size
  %linear: i64 = iadd %row, %g
  %q: ptr<global> = offset %out [%linear * 12 + 0]
  store %q, %r align 4
  %q2: ptr<global> = offset %q [4]
  store %q2, %s align 4
  ret
}",
    ),
    (
        "rows of float4, far apart",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %w: i64 = to.sext %n
  %start: i64 = imul %g, %w
  %start2: i64 = and %start, i64 2047
  %p: ptr<global> = offset %in [%start2 * 16 + 0]
  %a: <4 x f32> = load %p align 16
  %p2: ptr<global> = offset %in [%g * 32 + 16]
  %b: <4 x f32> = load %p2 align 4
  %c: <4 x f32> = fadd %a, %b
  %q: ptr<global> = offset %out [%g * 48 + 0]
  store %q, %c align 4
  ret
}",
    ),
    (
        "pairs, some lanes only",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %p: ptr<global> = offset %in [%g * 8 + 0]
  %odd: i64 = and %g, i64 3
  %some: bool = cmp.ine %odd, i64 1
  br_if %some, b1, b2
b1:
  %a: <2 x i32> = load %p align 4
  %b: <2 x i32> = iadd %a, <2 x i32> [3, 5]
  %q: ptr<global> = offset %out [%g * 8 + 0]
  store %q, %b align 4
  %x: i64 = xor %g, i64 5
  %p2: ptr<global> = offset %in [%x * 8 + 0]
  %c: <2 x i32> = load %p2 align 8
  %q2: ptr<global> = offset %out [%x * 8 + 32768]
  store %q2, %c align 8
  br b2
b2:
  ret
}",
    ),
    (
        "shorts by fours and doubles by twos, scattered",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %x: i64 = xor %g, i64 3
  %p: ptr<global> = offset %in [%x * 8 + 0]
  %a: <4 x i16> = load %p align 2
  %b: <4 x i16> = imul %a, <4 x i16> [3, 5, 7, 9]
  %q: ptr<global> = offset %out [%x * 8 + 0]
  store %q, %b align 2
  %p2: ptr<global> = offset %in [%x * 16 + 0]
  %c: <2 x i64> = load %p2 align 8
  %d: <2 x i64> = iadd %c, <2 x i64> [1, 2]
  %q2: ptr<global> = offset %out [%x * 16 + 16384]
  store %q2, %d align 8
  ret
}",
    ),
    (
        "scattered under a mask, the last lane stays",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %p: ptr<global> = offset %in [%g * 4 + 0]
  %a: i32 = load %p align 4
  %bit: i32 = and %a, i32 1
  %some: bool = cmp.ine %bit, i32 0
  br_if %some, b1, b2
b1:
  %x: i64 = xor %g, i64 9
  %q: ptr<global> = offset %out [%x * 4 + 0]
  store %q, %a align 4
  %s: i64 = lshr %g, i64 20
  %q2: ptr<global> = offset %out [%s * 4 + 60000]
  store %q2, %a align 4
  %q3: ptr<global> = offset %out [%x * 1 + 32768]
  %small: i8 = to.trunc %a
  store %q3, %small align 1
  br b2
b2:
  ret
}",
    ),
    (
        "every second and third word",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %p: ptr<global> = offset %in [%g * 8 + 4]
  %a: i32 = load %p align 4
  %p3: ptr<global> = offset %in [%g * 12 + 8]
  %b: i32 = load %p3 align 4
  %p4: ptr<global> = offset %in [%g * 16 + 0]
  %c: i64 = load %p4 align 8
  %d: i32 = to.trunc %c
  %s: i32 = iadd %a, %b
  %t: i32 = iadd %s, %d
  %q: ptr<global> = offset %out [%g * 8 + 4]
  store %q, %t align 4
  ret
}",
    ),
    (
        "ids under masks",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %l: i32 = to.trunc %g
  br b1
b1:
  %m: i32 = phi b0: i32 1, b1: %m2
  %sum: i32 = phi b0: i32 0, b1: %sum2
  %below: i32 = iadd %m, i32 4294967295
  %low: i32 = and %l, %below
  %twice: i32 = shl %l, i32 1
  %i: i32 = isub %twice, %low
  %wide: i64 = to.zext %i
  %p: ptr<global> = offset %in [%wide * 4 + 0]
  %v: i32 = load %p align 4
  %sum2: i32 = iadd %sum, %v
  %m2: i32 = shl %m, i32 1
  %end: bool = cmp.ieq %m2, i32 256
  br_if %end, b2, b1
b2:
  %cut: i64 = and %g, i64 4294967295
  %q: ptr<global> = offset %out [%cut * 4 + 0]
  store %q, %sum2 align 4
  ret
}",
    ),
    (
        "a private array sorted by insertion",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %own: ptr<private> = alloca 32 align 4
  %g: i64 = wi.GlobalLinearId 0
  br fill
fill:
  %i: i64 = phi b0: i64 0, fill: %i2
  %f: i64 = imul %i, i64 301
  %f2: i64 = iadd %f, %g
  %p: ptr<global> = offset %in [%f2 * 4 + 0]
  %v: i32 = load %p align 4
  %to: ptr<private> = offset %own [%i * 4 + 0]
  store %to, %v align 4
  %i2: i64 = iadd %i, i64 1
  %full: bool = cmp.ieq %i2, i64 8
  br_if %full, outer, fill
outer:
  %j: i64 = phi fill: i64 1, next: %j2
  %at: ptr<private> = offset %own [%j * 4 + 0]
  %x: i32 = load %at align 4
  br inner
inner:
  %k: i64 = phi outer: %j, move: %k2
  %hole: ptr<private> = phi outer: %at, move: %before
  %before: ptr<private> = offset %hole [-4]
  %y: i32 = load %before align 4
  %more: bool = cmp.sgt %y, %x
  br_if %more, move, next
move:
  store %hole, %y align 4
  %k2: i64 = iadd %k, i64 18446744073709551615
  %on: bool = cmp.sgt %k2, i64 0
  br_if %on, inner, next
next:
  %k3: i64 = phi inner: %k, move: i64 0
  %byte: i64 = shl %k3, i64 2
  %end: ptr<private> = offset %own [%byte * 1 + 0]
  store %end, %x align 4
  %j2: i64 = iadd %j, i64 1
  %sorted: bool = cmp.ieq %j2, i64 8
  br_if %sorted, done, outer
done:
  %pick: i64 = and %g, i64 7
  %chosen: ptr<private> = offset %own [%pick * 4 + 0]
  %r: i32 = load %chosen align 4
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %r align 4
  ret
}",
    ),
    (
        "a private array that lives across a barrier, and ids that are made longer",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %own: ptr<private> = alloca 16 align 4
  %g: i64 = wi.GlobalLinearId 0
  %x: i64 = wi.GlobalInvocationId 0
  %short: i32 = to.trunc %x
  %far: i32 = iadd %short, %n
  %at: i64 = to.sext %far
  %p: ptr<global> = offset %in [%at * 4 + 0]
  %v: i32 = load %p align 4
  %bits: i32 = and %v, i32 3
  %slot: i64 = to.zext %bits
  store %own, i32 1 align 4
  %o1: ptr<private> = offset %own [4]
  store %o1, i32 2 align 4
  %o2: ptr<private> = offset %own [8]
  store %o2, i32 3 align 4
  %o3: ptr<private> = offset %own [12]
  store %o3, i32 4 align 4
  %mine: ptr<private> = offset %own [%slot * 4 + 0]
  store %mine, %v align 4
  barrier Workgroup
  %p2: ptr<global> = offset %in [%at * 4 + 4]
  %w: i32 = load %p2 align 4
  %bits2: i32 = and %w, i32 3
  %slot2: i64 = to.zext %bits2
  %his: ptr<private> = offset %own [%slot2 * 4 + 0]
  %r: i32 = load %his align 4
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %r align 4
  ret
}",
    ),
    (
        "a private array that lives across a barrier",
        "var @l: [512 x i32] in local
kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %own: ptr<private> = alloca 16 align 4
  %g: i64 = wi.GlobalLinearId 0
  %i: i64 = wi.LocalInvocationIndex 0
  %p: ptr<global> = offset %in [%g * 4 + 0]
  %v: i32 = load %p align 4
  %bits: i32 = and %v, i32 3
  %slot: i64 = to.zext %bits
  store %own, i32 1 align 4
  %o1: ptr<private> = offset %own [4]
  store %o1, i32 2 align 4
  %o2: ptr<private> = offset %own [8]
  store %o2, i32 3 align 4
  %o3: ptr<private> = offset %own [12]
  store %o3, i32 4 align 4
  %mine: ptr<private> = offset %own [%slot * 4 + 0]
  store %mine, %v align 4
  %here: ptr<local> = offset @l [%i * 4 + 0]
  store %here, %v align 4
  barrier Workgroup
  %other: i64 = xor %i, i64 1
  %there: ptr<local> = offset @l [%other * 4 + 0]
  %w: i32 = load %there align 4
  %bits2: i32 = and %w, i32 3
  %slot2: i64 = to.zext %bits2
  %his: ptr<private> = offset %own [%slot2 * 4 + 0]
  %r: i32 = load %his align 4
  %r2: i32 = load %o2 align 4
  %r3: i32 = iadd %r, %r2
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %r3 align 4
  ret
}",
    ),
    (
        "sums of products through local memory, tile after tile",
        "var @a: [512 x f32] in local
kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) contract {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %i: i64 = wi.LocalInvocationIndex 0
  %x: i64 = wi.LocalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %sx: i64 = wi.WorkgroupSize 0
  %row: i64 = imul %y, %sx
  br tile
tile:
  %t: i64 = phi b0: i64 0, next: %t2
  %sum: f32 = phi b0: f32 0.0, next: %s2
  %whole: i64 = phi b0: %g, next: %whole2
  %p: ptr<global> = offset %in [%whole * 4 + 0]
  %v: i32 = load %p align 4
  %few: i32 = and %v, i32 15
  %f: f32 = to.utof %few
  %here: ptr<local> = offset @a [%i * 4 + 0]
  store %here, %f align 4
  barrier Workgroup
  br inner
inner:
  %k: i64 = phi tile: i64 0, inner: %k2
  %s: f32 = phi tile: %sum, inner: %s2
  %rk: i64 = iadd %row, %k
  %left: ptr<local> = offset @a [%rk * 4 + 0]
  %l: f32 = load %left align 4
  %right: ptr<local> = offset @a [%x * 4 + 0]
  %r: f32 = load %right align 4
  %lr: f32 = fmul %l, %r
  %s2: f32 = fadd %s, %lr
  %k2: i64 = iadd %k, i64 1
  %end: bool = cmp.uge %k2, %sx
  br_if %end, next, inner
next:
  barrier Workgroup
  %t2: i64 = iadd %t, i64 1
  %whole2: i64 = iadd %whole, i64 64
  %done: bool = cmp.ieq %t2, i64 3
  br_if %done, last, tile
last:
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %s2 align 4
  ret
}",
    ),
    (
        "a loop that only some rows run, and ids that wrap around",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %x: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.GlobalInvocationId 1
  %far: i64 = iadd %x, i64 4294967256
  %x32: i32 = to.trunc %far
  %wide: i64 = to.zext %x32
  %back: i64 = and %wide, i64 1023
  %few: bool = cmp.ult %y, i64 5
  br_if %few, head, b2
head:
  br loop
loop:
  %k: i64 = phi head: i64 0, loop: %k2
  %s: i32 = phi head: i32 0, loop: %s2
  %p: ptr<global> = offset %in [%k * 4 + 0]
  %a: i32 = load %p align 4
  %kb: i64 = iadd %k, %back
  %p2: ptr<global> = offset %in [%kb * 4 + 64]
  %b: i32 = load %p2 align 4
  %ab: i32 = imul %a, %b
  %s2: i32 = iadd %s, %ab
  %k2: i64 = iadd %k, i64 1
  %end: bool = cmp.ieq %k2, i64 9
  br_if %end, done, loop
done:
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %s2 align 4
  br b2
b2:
  ret
}",
    ),
    (
        "sums kept across barriers without a loop between",
        "var @a: [512 x f32] in local
kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %i: i64 = wi.LocalInvocationIndex 0
  %x: i64 = wi.LocalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %g32: i32 = to.trunc %g
  br tile
tile:
  %t: i32 = phi b0: i32 0, tile: %t2
  %sum: f32 = phi b0: f32 0.0, tile: %s3
  %at: i32 = phi b0: %g32, tile: %at2
  %wide: i64 = to.sext %at
  %p: ptr<global> = offset %in [%wide * 4 + 0]
  %v: i32 = load %p align 4
  %few: i32 = and %v, i32 15
  %f: f32 = to.utof %few
  %here: ptr<local> = offset @a [%i * 4 + 0]
  store %here, %f align 4
  barrier Workgroup
  %up: ptr<local> = offset @a [%y * 4 + 0]
  %l: f32 = load %up align 4
  %across: ptr<local> = offset @a [%x * 4 + 0]
  %r: f32 = load %across align 4
  %lr: f32 = fmul %l, %r
  %s2: f32 = fadd %sum, %lr
  %up2: ptr<local> = offset @a [%y * 4 + 4]
  %l2: f32 = load %up2 align 4
  %lr2: f32 = fmul %l2, %r
  %s3: f32 = fadd %s2, %lr2
  barrier Workgroup
  %t2: i32 = iadd %t, i32 1
  %at2: i32 = iadd %at, i32 16
  %done: bool = cmp.sge %t2, i32 4
  br_if %done, last, tile
last:
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %s3 align 4
  ret
}",
    ),
    (
        "a program of each item's own",
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {
b0:
  %g: i64 = wi.GlobalLinearId 0
  %b0v: i32 = to.trunc %g
  br step
step:
  %a: i32 = phi b0: i32 7, next: %a2
  %b: i32 = phi b0: %b0v, next: %b2
  %k: i64 = phi b0: i64 0, next: %k3
  %at: i64 = iadd %g, %k
  %p: ptr<global> = offset %in [%at * 4 + 1]
  %code: i8 = load %p align 1
  %low: i8 = and %code, i8 7
  switch %low, other [0: add, 1: swap, 2: read, 3: next, 4: skip, 5: swap]
add:
  %sum: i32 = iadd %a, %b
  br next
swap:
  br next
read:
  %part: i32 = and %a, i32 1023
  %wide: i64 = to.zext %part
  %q: ptr<global> = offset %in [%wide * 4 + 0]
  %v: i32 = load %q align 4
  br next
skip:
  %k2: i64 = iadd %k, i64 1
  br next
other:
  %odd: i32 = and %a, i32 1
  %is_odd: bool = cmp.ine %odd, i32 0
  br_if %is_odd, more, less
more:
  %m: i32 = imul %a, i32 3
  br both
less:
  %l: i32 = lshr %a, i32 1
  br both
both:
  %either: i32 = phi more: %m, less: %l
  br next
next:
  %a2: i32 = phi add: %sum, swap: %b, read: %v, step: %a, skip: %a, both: %either
  %b2: i32 = phi add: %b, swap: %a, read: %b, step: %b, skip: %b, both: %b
  %kk: i64 = phi add: %k, swap: %k, read: %k, step: %k, skip: %k2, both: %k
  %k3: i64 = iadd %kk, i64 1
  %on: bool = cmp.ult %k3, i64 20
  br_if %on, step, done
done:
  %r: i32 = xor %a2, %b2
  %to: ptr<global> = offset %out [%g * 4 + 0]
  store %to, %r align 4
  ret
}",
    ),
];
