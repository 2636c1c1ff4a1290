//! What programs take for granted of lanes in lock step.

use super::native::{Native, settings};
use kernel_ir::abi::Launch;

/// All work-items copy an array to local memory, the first one sums it with no barrier between, as dpnp's
/// `histogramdd` does: the lanes of one sub-group must have written before one of them reads.
#[test]
fn a_sub_group_has_written_before_its_first_lane_reads() {
    let text = "
var @copy: [8 x i32] in local
var @sum: i32 in local
kernel @k(%in: ptr<global>, %out: ptr<global>) {
b0:
  %l: i64 = wi.LocalInvocationId 0
  br head
head:
  %i: i64 = phi b0: %l, body: %next
  %more: bool = cmp.ult %i, i64 8
  br_if %more, body, copied
body:
  %from: ptr<global> = offset %in [%i * 4 + 0]
  %v: i32 = load %from align 4
  %to: ptr<local> = offset @copy [%i * 4 + 0]
  store %to, %v align 4
  %next: i64 = iadd %i, i64 8
  br head
copied:
  %first: bool = cmp.ieq %l, i64 0
  br_if %first, sum_head, meet
sum_head:
  %j: i64 = phi copied: i64 0, sum_body: %j2
  %s: i32 = phi copied: i32 0, sum_body: %s2
  %go: bool = cmp.ult %j, i64 8
  br_if %go, sum_body, sum_end
sum_body:
  %p: ptr<local> = offset @copy [%j * 4 + 0]
  %w: i32 = load %p align 4
  %s2: i32 = iadd %s, %w
  %j2: i64 = iadd %j, i64 1
  br sum_head
sum_end:
  store @sum, %s align 4
  br meet
meet:
  barrier Workgroup
  %r: i32 = load @sum align 4
  %at: ptr<global> = offset %out [%l * 4 + 0]
  store %at, %r align 4
  ret
}";
    let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
    let native = Native::new(module, settings(8));
    let info = &native.info.kernels[0];
    let input: [i32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
    let mut output = [0i32; 8];
    let args = [input.as_ptr() as u64, output.as_mut_ptr() as u64];
    let bytes: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
    let launch = Launch {
        group_size: [8, 1, 1],
        work_dim: 1,
        group_count: [1, 1, 1],
        items_per_group: 8,
        state_offset: info.local_size,
        ..Launch::default()
    };
    let size = info.local_size + info.state_per_block * 8 + 64;
    let mut memory = vec![0xaa_u8; size as usize];
    let at = memory.as_mut_ptr().align_offset(64);
    // SAFETY: arguments, launch and memory are as the kernel's information says.
    unsafe { native.run(0, &bytes, &launch, 0..1, memory.as_mut_ptr().add(at)) };
    assert_eq!(output, [36; 8]);
}
