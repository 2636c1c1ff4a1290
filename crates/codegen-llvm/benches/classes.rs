//! The cost model of the crate `vectorise` beside measured times: kernels that each repeat one class of access,
//! operation or branch, as lanes and one work-item after another.
//!
//! `cargo bench -p solum-codegen-llvm --bench classes [NAME...]` prints for each class the nanoseconds of a work-item in both
//! forms, how many times faster lanes are, and how many times faster the model thinks they are. A class whose two
//! factors lie far apart has a wrong cost.

#[cfg(llvm)]
#[path = "../tests/machine/native.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod native;

/// Repetitions of the class in a kernel.
const REPEATED: usize = 4;
/// Work-items of a launch, in two groups: the memory of all repetitions fits into the first-level cache.
const ITEMS: u32 = 256;

/// Loads of one element: the class, and the bytes from a work-item's element to the next.
const LOADS: &[(&str, i32)] = &[
    ("load contiguous", 4),
    ("load reversed", -4),
    ("load interleaved 2", 8),
    ("load interleaved 3", 12),
    ("load interleaved 4", 16),
    ("load interleaved 7", 28),
];
const KEY: &str = "%x#: ptr<global> = offset %k [%i * 4 + @]
  %y#: i32 = load %x# align 4";
const FLOAT: &str = "\n  %f#: f32 = to.utof %y#";

/// A class: its name, the lines of one repetition, and the type of its result `%r#`. `#` is the repetition's number, `@`
/// the offset of its part of a buffer, `~0` its first block. `%i` is the work-item's id, `%v` a value of its own. The
/// buffers `%a` and `%k` hold numbers from 1 to 255 in mixed order; `%out` is written.
/// A line `KEY` loads `%y#` from `%k`; `FLOAT` also converts it to `%f#`.
const CLASSES: &[(&str, &str, &str)] = &[
    (
        "load scattered",
        "KEY
  %z#: i64 = to.zext %y#
  %p#: ptr<global> = offset %a [%z# * 4 + @]
  %r#: i32 = load %p# align 4",
        "i32",
    ),
    (
        "store reversed",
        "%r#: i32 = iadd %v, i32 #
  %p#: ptr<global> = offset %out [%i * -4 + @1020]
  store %p#, %r# align 4",
        "i32",
    ),
    (
        "store group of 2",
        "%r#: i32 = iadd %v, i32 #
  %p#: ptr<global> = offset %out [%i * 8 + @]
  store %p#, %r# align 4
  %q#: ptr<global> = offset %out [%i * 8 + @4]
  store %q#, %v align 4",
        "i32",
    ),
    (
        "store apart 4",
        "%r#: i32 = iadd %v, i32 #
  %p#: ptr<global> = offset %out [%i * 16 + @]
  store %p#, %r# align 4",
        "i32",
    ),
    (
        "store scattered",
        "%x#: ptr<global> = offset %k [%i * 4 + @]
  %r#: i32 = load %x# align 4
  %z#: i64 = to.zext %r#
  %p#: ptr<global> = offset %out [%z# * 4 + @]
  store %p#, %v align 4",
        "i32",
    ),
    (
        "division of 32 bits",
        "KEY
  %d#: i32 = or %v, i32 1
  %r#: i32 = udiv %y#, %d#",
        "i32",
    ),
    (
        "division of 64 bits",
        "%x#: ptr<global> = offset %k [%i * 8 + @]
  %y#: i64 = load %x# align 8
  %w#: i64 = to.zext %v
  %d#: i64 = or %w#, i64 1
  %m#: i64 = and %y#, i64 1099511627775
  %t#: i64 = udiv %m#, %d#
  %r#: i32 = to.trunc %t#",
        "i32",
    ),
    (
        "multiplication",
        "KEY
  %r#: i32 = imul %y#, %v",
        "i32",
    ),
    (
        "multiplication of floats",
        "%x#: ptr<global> = offset %k [%i * 4 + @]
  %y#: f32 = load %x# align 4
  %f#: f32 = to.bitcast %v
  %r#: f32 = fmul %y#, %f#",
        "f32",
    ),
    (
        "square root",
        "FLOAT
  %r#: f32 = math.sqrt %f#",
        "f32",
    ),
    (
        "exponential",
        "FLOAT
  %r#: f32 = math.exp %f#",
        "f32",
    ),
    (
        "power",
        "FLOAT
  %r#: f32 = math.pow %f#, f32 1.5",
        "f32",
    ),
    (
        "masked load",
        "KEY
  %c#: bool = cmp.ult %y#, i32 128
  br_if %c#, ~1, ~2
~1:
  %p#: ptr<global> = offset %a [%i * 4 + @]
  %l#: i32 = load %p# align 4
  br ~2
~2:
  %r#: i32 = phi ~0: i32 0, ~1: %l#",
        "i32",
    ),
    (
        "masked scattered load",
        "KEY
  %c#: bool = cmp.ult %y#, i32 128
  br_if %c#, ~1, ~2
~1:
  %z#: i64 = to.zext %y#
  %p#: ptr<global> = offset %a [%z# * 4 + @]
  %l#: i32 = load %p# align 4
  br ~2
~2:
  %r#: i32 = phi ~0: i32 0, ~1: %l#",
        "i32",
    ),
    (
        "masked store",
        "%x#: ptr<global> = offset %k [%i * 4 + @]
  %r#: i32 = load %x# align 4
  %c#: bool = cmp.ult %r#, i32 128
  br_if %c#, ~1, ~2
~1:
  %p#: ptr<global> = offset %out [%i * 4 + @]
  store %p#, %v align 4
  br ~2
~2:",
        "i32",
    ),
    (
        "masked scattered store",
        "%x#: ptr<global> = offset %k [%i * 4 + @]
  %r#: i32 = load %x# align 4
  %c#: bool = cmp.ult %r#, i32 128
  br_if %c#, ~1, ~2
~1:
  %z#: i64 = to.zext %r#
  %p#: ptr<global> = offset %out [%z# * 4 + @]
  store %p#, %v align 4
  br ~2
~2:",
        "i32",
    ),
    (
        "divergent loop",
        "KEY
  br ~1
~1:
  %n#: i32 = phi ~0: %y#, ~2: %h#
  %r#: i32 = phi ~0: i32 1, ~2: %m#
  %c#: bool = cmp.ieq %n#, i32 0
  br_if %c#, ~3, ~2
~2:
  %h#: i32 = lshr %n#, i32 1
  %m#: i32 = imul %r#, %v
  br ~1
~3:",
        "i32",
    ),
];

#[cfg(llvm)]
fn main() {
    run::main();
}

#[cfg(not(llvm))]
fn main() {}

#[cfg(llvm)]
#[expect(clippy::print_stdout, reason = "a table for people")]
mod run {
    use std::time::{Duration, Instant};

    use codegen_llvm::Settings;
    use kernel_ir::Module;
    use kernel_ir::abi::Launch;
    use vectorise::{Input, LaneOrder, Segments, TargetInfo};

    use super::native::{Native, settings, v4};
    use super::{CLASSES, FLOAT, ITEMS, KEY, LOADS, REPEATED};

    /// Rounds; the fastest one of each form counts.
    const ROUNDS: usize = 40;
    /// Bytes of each buffer: the largest stride, all work-items, all repetitions and what loads may read beyond.
    const BYTES: usize = (1 << 17) + 4096;

    pub(super) fn main() {
        let wanted: Vec<String> = std::env::args()
            .skip(1)
            .filter(|a| a != "--bench")
            .collect();
        let processors: &[(&str, &str)] = match v4() {
            true => &[("x86-64-v3", ""), ("x86-64-v4", cpu_target::FAST_GATHERS)],
            false => &[("x86-64-v3", "")],
        };
        for (cpu, features) in processors {
            println!(
                "{cpu:24} {:>8} {:>8} {:>9} {:>9}",
                "lanes", "scalar", "measured", "model"
            );
            let is_wanted = |name: &str| {
                wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str()))
            };
            for (name, bytes) in LOADS.iter().filter(|load| is_wanted(load.0)) {
                // Backwards from the last element.
                let first = if *bytes < 0 { ITEMS * 4 - 4 } else { 0 };
                let lines = format!(
                    "%p#: ptr<global> = offset %a [%i * {bytes} + @{first}]\n  %r#: i32 = load %p# align 4"
                );
                class(name, &kernel(&lines, "i32"), cpu, features);
            }
            for (name, lines, ty) in CLASSES.iter().filter(|class| is_wanted(class.0)) {
                let lines = lines
                    .replace("FLOAT", &format!("{KEY}{FLOAT}"))
                    .replace("KEY", KEY);
                class(name, &kernel(&lines, ty), cpu, features);
            }
        }
    }

    /// A kernel that repeats the class, and stores the sum of its results.
    fn kernel(lines: &str, ty: &str) -> String {
        let mut body = String::new();
        let add = if ty == "f32" { "fadd" } else { "iadd" };
        let mut sum = match ty {
            "f32" => "f32 0.0".to_owned(),
            _ => "%v".to_owned(),
        };
        for number in 0..REPEATED {
            let offset = number * 8192;
            let mut text = String::new();
            // `@1020` is 1020 bytes behind the repetition's part of the buffer.
            let mut parts = lines.split('@');
            text += parts.next().unwrap_or_default();
            for part in parts {
                let digits = part.chars().take_while(char::is_ascii_digit).count();
                let more: usize = part[..digits].parse().unwrap_or(0);
                text += &format!("{}{}", offset + more, &part[digits..]);
            }
            // `~2` is the second block behind the repetition's first one.
            let blocks = (1..4).rev().find(|n| lines.contains(&format!("~{n}")));
            let first = number * blocks.unwrap_or(0);
            for block in 0..4 {
                text = text.replace(&format!("~{block}"), &format!("b{}", first + block));
            }
            body += &text.replace('#', &number.to_string());
            body += &format!("\n  %s{number}: {ty} = {add} {sum}, %r{number}\n  ");
            sum = format!("%s{number}");
        }
        format!(
            "kernel @class(%a: ptr<global>, %k: ptr<global>, %out: ptr<global>) {{
b0:
  %i: i64 = wi.GlobalInvocationId 0
  %pv: ptr<global> = offset %k [%i * 4 + 65536]
  %v: i32 = load %pv align 4
  {body}%po: ptr<global> = offset %out [%i * 4 + 65536]
  store %po, {sum} align 4
  ret
}}
"
        )
    }

    /// Measures a class, and prints its line.
    fn class(name: &str, text: &str, cpu: &str, features: &str) {
        let mut module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let model = match predicted(&module, cpu, features) {
            Ok((lanes, scalar)) => format!("{:.2}", scalar as f64 / lanes as f64),
            Err(_) => "scalar".to_owned(),
        };
        let form = |lanes: u32| {
            let settings = Settings {
                cpu: cpu.into(),
                features: features.into(),
                lanes: Some(lanes),
                ..settings(16)
            };
            Native::new(module.clone(), settings)
        };
        let forms = [form(16), form(1)];
        let mut best = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (native, best) in forms.iter().zip(&mut best) {
                *best = (*best).min(once(native));
            }
        }
        let [lanes, scalar] = best.map(|d| d.as_secs_f64() * 1e9 / f64::from(ITEMS) / 64.0);
        let factor = scalar / lanes;
        println!("{name:24} {lanes:>8.2} {scalar:>8.2} {factor:>9.2} {model:>9}");
    }

    /// The time of 64 launches.
    fn once(native: &Native) -> Duration {
        let info = &native.info.kernels[0];
        let small: Vec<u32> = (0..BYTES as u32 / 4).map(|i| i * 97 % 255 + 1).collect();
        let buffers = [small.clone(), small.clone(), small];
        let mut args = vec![0u128; (info.args_size as usize).div_ceil(16)];
        // SAFETY: the vector has at least so many bytes.
        let block = unsafe {
            std::slice::from_raw_parts_mut(args.as_mut_ptr().cast::<u8>(), info.args_size as usize)
        };
        for ((number, arg), buffer) in info.args.iter().enumerate().zip(&buffers) {
            let at = arg.offset as usize;
            // Apart in a page too: a load waits for a store before it whose address has the same low 12 bits.
            let address = buffer.as_ptr() as u64 + 1344 * number as u64;
            block[at..at + 8].copy_from_slice(&address.to_le_bytes());
        }
        let launch = Launch {
            group_size: [ITEMS / 2, 1, 1],
            work_dim: 1,
            group_count: [2, 1, 1],
            items_per_group: ITEMS / 2,
            ..Launch::default()
        };
        let mut memory = vec![0u128; 4096];
        let start = Instant::now();
        for _ in 0..64 {
            // SAFETY: every address of the kernels lies in a buffer; `memory` is more than they ask for.
            unsafe { native.run(0, block, &launch, 0..2, memory.as_mut_ptr().cast()) };
        }
        let took = start.elapsed();
        drop(buffers);
        took
    }

    /// The model's costs, as lanes and scalar.
    fn predicted(module: &Module, cpu: &str, features: &str) -> Result<(u64, u64), String> {
        let kernel = &module.kernels[0];
        let function = &module.functions[kernel.function.index()];
        let segments = Segments::new(function, &module.constants, None, LaneOrder::Lockstep);
        let input = Input {
            module,
            function,
            segments: &segments,
            group_size: None,
            one_row: false,
            sub_group_size: 16,
            target: TargetInfo::x86_64(cpu, features),
        };
        let forms = vectorise::forms(&[], function);
        let planned = vectorise::first_plan(&input, forms, kernel, false, None);
        let planned = planned.map_err(|why| why.unwrap_or("no forms").to_owned())?;
        planned.plan.cost.ok_or_else(|| "no cost".to_owned())
    }
}
