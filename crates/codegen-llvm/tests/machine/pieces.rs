//! What sub-groups read in loops where their lanes are no row: in pieces where lanes' elements lie side by side.

use super::native::{Native, settings, v4};
use codegen_llvm::Settings;
use kernel_ir::abi::Launch;

const LANES: u64 = 16;
const TURNS: u64 = 8;
/// Elements from turn to turn.
const STEP: u64 = 37;
/// Beyond 200 instructions there is one copy of the code, for rows of any length.
const STEPS: u32 = 120;

/// How an index comes to be 64 bits.
#[derive(Clone, Copy, Debug)]
struct Index {
    ty: &'static str,
    widen: &'static str,
    /// Elements that numbers below zero need.
    below: u64,
}

fn text(count: u64, bits: u64, index: Index, apart: u64) -> String {
    let Index { ty, widen, .. } = index;
    let element = format!("i{bits}");
    let (tuple, size) = match count {
        1 => (element.clone(), bits / 8),
        n => (format!("<{n} x {element}>"), n * bits / 8),
    };
    let narrow = match ty {
        "i64" => "%n: i64 = copy %place".to_owned(),
        ty => format!("%n: {ty} = to.trunc %place"),
    };
    let widen = match widen {
        "" => "%w: i64 = copy %at".to_owned(),
        how => format!("%w: i64 = to.{how} %at"),
    };
    let mut sums = String::new();
    for c in 0..count {
        let part = match count {
            1 => format!("%p{c}: {element} = copy %other"),
            _ => format!("%p{c}: {element} = extract %other [{c}]"),
        };
        let before = match c {
            0 => "%s".to_owned(),
            c => format!("%s{c}"),
        };
        sums += &format!(
            "  {part}
  %m{c}: {element} = imul {before}, {element} 3
  %s{next}: {element} = iadd %m{c}, %p{c}\n",
            next = c + 1,
        );
    }
    let mut chain = String::new();
    for i in 0..STEPS {
        let from = match i {
            0 => "%s".to_owned(),
            i => format!("%x{}", i - 1),
        };
        chain += &format!(
            "  %y{i}: {element} = imul {from}, {element} 3\n  %x{i}: {element} = xor %y{i}, {element} {i}\n"
        );
    }
    format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %l0: i64 = wi.LocalInvocationId 0
  %l1: i64 = wi.LocalInvocationId 1
  %w0: i64 = wi.WorkgroupSize 0
  %row: i64 = imul %l1, %w0
  %linear: i64 = iadd %row, %l0
  %place: i64 = imul %linear, i64 {apart}
  {narrow}
  br again
again:
  %turn: i32 = phi b0: i32 0, work: %next
  %at: {ty} = phi b0: %n, work: %following
  %s: {element} = phi b0: {element} 0, work: %s{count}
  %more: bool = cmp.ult %turn, i32 {TURNS}
  br_if %more, work, last
work:
  {widen}
  %from: ptr<global> = offset %in [%w * {size} + 0]
  %v: {tuple} = load %from align {align}
  %other: {tuple} = group.shuffle Subgroup %v, %turn
{sums}  %following: {ty} = iadd %at, {ty} {STEP}
  %next: i32 = iadd %turn, i32 1
  br again
last:
{chain}  %to: ptr<global> = offset %out [%linear * {bytes} + 0]
  store %to, %x{end} align {bytes}
  ret
}}",
        align = bits / 8,
        bytes = bits / 8,
        end = STEPS - 1,
    )
}

/// The element that an index of that value leads to.
fn element(index: Index, value: u64) -> u64 {
    let value = match (index.ty, index.widen) {
        ("i8", "zext") => u64::from(value as u8),
        ("i8", _) => i64::from(value as i8).cast_unsigned(),
        ("i32", "zext") => u64::from(value as u32),
        ("i32", _) => i64::from(value as i32).cast_unsigned(),
        _ => value,
    };
    value.wrapping_add(index.below)
}

#[test]
fn pieces_are_what_lanes_read() {
    let index = |ty, widen, below| Index { ty, widen, below };
    let kinds = [
        index("i64", "", 0),
        index("i32", "zext", 0),
        index("i32", "sext", 0),
        // These begin again from the lowest number.
        index("i8", "zext", 0),
        index("i8", "sext", 128),
    ];
    let cpus: &[&str] = match v4() {
        true => &["x86-64-v3", "x86-64-v4"],
        false => &["x86-64-v3"],
    };
    for (kind, cpu) in kinds
        .iter()
        .flat_map(|k| cpus.iter().map(move |c| (*k, *c)))
    {
        for (count, bits, apart) in [
            (1, 32, 1),
            (2, 32, 1),
            (4, 32, 1),
            (1, 64, 1),
            (2, 64, 1),
            (4, 64, 1),
            (2, 32, 3),
            (4, 16, 1),
        ] {
            let text = text(count, bits, kind, apart);
            let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{e}"));
            let of = Settings {
                cpu: cpu.into(),
                ..settings(LANES as u32)
            };
            let native = Native::new(module, of);
            assert_eq!(u64::from(native.info.kernels[0].width), LANES, "{text}");
            let bytes = bits / 8;
            for size in [
                [8, 4],
                [16, 2],
                [4, 8],
                [5, 5],
                [1, 16],
                [40, 1],
                [8, 3],
                [2, 3],
            ] {
                let what = format!("{cpu}, {kind:?}, {count} of {bits} bits, {apart}, {size:?}");
                let items = size[0] * size[1];
                let elements = 256 + items * apart + TURNS * STEP;
                let input: Vec<u8> = (0..elements * count * bytes)
                    .map(|i| ((i * 0x9e37) >> 3) as u8)
                    .collect();
                let mut output = vec![0u8; (items * bytes) as usize];
                let begin = input[(kind.below * count * bytes) as usize..].as_ptr();
                let args = [begin as u64, output.as_mut_ptr() as u64];
                let block: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
                let launch = Launch {
                    group_size: [size[0], size[1], 1].map(|n| n as u32),
                    work_dim: 2,
                    group_count: [1, 1, 1],
                    items_per_group: items as u32,
                    state_offset: native.info.kernels[0].local_size,
                    ..Launch::default()
                };
                // SAFETY: the block is of this kernel, which stays within both arrays.
                unsafe { native.run_all(&block, &launch) };
                let read = |bytes: &[u8]| {
                    let mut wide = [0; 8];
                    wide[..bytes.len()].copy_from_slice(bytes);
                    u64::from_le_bytes(wide)
                };
                for at in 0..items {
                    let start = at - at % LANES;
                    let mut sum = 0u64;
                    for turn in 0..TURNS {
                        let lane = start + turn;
                        let from = element(kind, lane * apart + turn * STEP);
                        for c in 0..count {
                            let from = ((from * count + c) * bytes) as usize;
                            let there = lane < items;
                            let part = there.then(|| read(&input[from..][..bytes as usize]));
                            sum = sum.wrapping_mul(3).wrapping_add(part.unwrap_or(0));
                        }
                    }
                    for i in 0..u64::from(STEPS) {
                        sum = sum.wrapping_mul(3) ^ i;
                    }
                    let want = sum & (u64::MAX >> (64 - bits));
                    let got = read(&output[(at * bytes) as usize..][..bytes as usize]);
                    assert_eq!(got, want, "{what}: work-item {at}");
                }
            }
        }
    }
}
