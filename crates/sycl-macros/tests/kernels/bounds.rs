//! Which indices are checked: only those that are not known to be inside.

#![forbid(unsafe_code)]
#![expect(
    unused_braces,
    clippy::needless_range_loop,
    reason = "the macro takes blocks, and indices are what is tested"
)]

use rspirv::spirv::Op;
use sycl::kernel::Kernel;
use sycl::{Result, item};

/// The number of indices that are compared with a length before memory is touched.
fn checks<K: Kernel>(kernel: K, own: usize) -> Result<usize> {
    let module = rspirv::dr::load_words(sycl::kernel::spirv(&kernel)?).expect("valid words");
    let instructions = module.all_inst_iter();
    let all = instructions.filter(|of| of.class.opcode == Op::ULessThan);
    Ok(all.count() - own)
}

/// Kernels, the comparisons that they contain themselves (a loop has its own twice), and the checks that have to be there.
/// A masked access proves nothing about the next one: `again` has a check for each.
macro_rules! kernels {
    ($($name:ident $own:literal $checked:literal |$x:ident, $y:ident, $i:ident| $body:block)*) => {
        $(
            #[sycl::kernel]
            fn $name($x: &[u32], $y: &mut [u32]) {
                let $i = item::<1>().id();
                $body
            }
        )*
        #[test]
        fn only_unknown_indices_are_checked() -> Result<()> {
            let found = [$((stringify!($name), checks($name, $own)?)),*];
            assert_eq!(found, [$((stringify!($name), $checked)),*]);
            Ok(())
        }
    };
}
kernels! {
    unknown 0 2 |x, y, i| { y[i] = x[i]; }
    again 0 4 |x, y, i| { y[i] = x[i] + x[i]; y[i] += 1; }
    loops 2 1 |x, y, i| { let mut sum = 0; for j in 0..x.len() { sum += x[j]; } y[i] = sum; }
    reversed 2 1 |x, y, i| { let mut sum = 0; for j in (1..x.len()).rev() { sum += x[j]; } y[i] = sum; }
    equal_lengths 1 0 |x, y, i| { assert_eq!(x.len(), y.len()); if i < x.len() { y[i] = x[i]; } }
    shorter 1 0 |x, y, i| { if x.len() >= y.len() && i < y.len() { y[i] = x[i]; } }
    smallest 1 0 |x, y, i| { if i < x.len().min(y.len()) { y[i] = x[i]; } }
    returned 0 0 |x, y, i| { if i >= x.len() || i >= y.len() { return; } y[i] = x[i]; }
    rest 0 2 |x, y, i| { y[i % y.len()] = x[i % x.len()]; }
    halves 1 0 |_x, y, i| { if i < y.len() { y[i / 2] = y[i] + y[i >> 3]; } }
    masked 0 1 |_x, y, i| { let mut table = [0; 256]; table[i & 255] = 1; table[7] = 2; y[i % y.len()] = table[i & 15]; }
    neighbours 1 0 |_x, y, i| { if i + 1 < y.len() { y[i + 1] = y[i]; } }
    before 1 0 |_x, y, i| { if i > 0 && i < y.len() { y[i] = y[i - 1]; } }
    constants 1 0 |_x, y, i| { if y.len() > 4 && i < 3 { y[4] = y[2] + y[i]; } }
    bytes 0 2 |x, y, i| { let mut table = [0; 256]; let key = x[i % x.len()] as u8; table[key as usize] = 1; y[i % y.len()] = table[3]; }
    part 2 1 |x, y, i| { for v in &x[..4] { y[i] += *v; } }
    wraps 1 1 |_x, y, i| { if i < y.len() { y[i - 1] = 1; } }
    other_length 1 1 |x, y, i| { if i < x.len() { y[i] = x[i]; } }
}
