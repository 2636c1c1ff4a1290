//! Pointers that a kernel dereferences without comparing them with null, and the kernel without these accesses.

use kernel_ir::abi::KernelInfo;
use kernel_ir::build::NullArguments;
use kernel_ir::passes::{prepare, prepare_for, unchecked_pointers};
use kernel_ir::{Module, parse, print, validate};

const HEADER: &str = "kernel @k(%p: ptr<global>, %q: ptr<global>, %s: ptr<private> byval 24 align 8, %n: i64, %c: bool, \
                      %r: ptr<global>) {\ne:\n";
/// Offsets of `%p`, `%q`, the struct behind `%s`, and `%r` in the argument block.
const P: u32 = 0;
const Q: u32 = 8;
const S: u32 = 16;
const R: u32 = 56;

fn parsed(body: &str) -> Module {
    let text = format!("{HEADER}{body}\n}}\n");
    let module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    validate(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module
}

fn unchecked(body: &str) -> Vec<u32> {
    let mut module = parsed(body);
    prepare(&mut module).unwrap_or_else(|e| panic!("{e}\n{body}"));
    let kernel = &module.kernels[0];
    let mut info = KernelInfo::default();
    info.lay_out_args(&kernel.arg_infos);
    assert_eq!([P, Q, S, R], [0, 1, 2, 5].map(|i| info.args[i].offset));
    unchecked_pointers(&module, kernel, &info.args)
}

/// Bodies, and the pointers that they dereference without a check.
const UNCHECKED: &[(&str, &[u32])] = &[
    ("store %p, i32 1 align 4\n ret", &[P]),
    (
        "%x: i32 = load %q align 4\n store %p, %x align 4\n ret",
        &[P, Q],
    ),
    ("ret", &[]),
    // Through offsets and other spaces.
    (
        "%a: ptr<global> = offset %p [%n * 4 + 8]
         %b: ptr<generic> = to.addressspace %a
         store %b, i32 1 align 4
         ret",
        &[P],
    ),
    (
        "%x: i32 = atomic.iadd Device Relaxed %r, i32 1
         store %q, %x align 4
         ret",
        &[Q, R],
    ),
    ("copy_memory %p, %q, i64 32 align 4\n ret", &[P, Q]),
    // A pointer that is stored escapes.
    ("store %p, %q align 8\n ret", &[P]),
    // It is compared with null, directly, after an offset, or as an integer.
    (
        "%z: bool = cmp.ieq %p, ptr<global> null
         br_if %z, out, in
       in:
         store %p, i32 1 align 4
         br out
       out:
         ret",
        &[],
    ),
    (
        "%a: ptr<global> = offset %p [%n * 4 + 0]
         %z: bool = cmp.ine ptr<global> null, %a
         br_if %z, in, out
       in:
         store %p, i32 1 align 4
         br out
       out:
         ret",
        &[],
    ),
    (
        "%i: i64 = to.ptrtoint %p
         %z: bool = cmp.ieq %i, i64 0
         br_if %z, out, in
       in:
         store %p, i32 1 align 4
         br out
       out:
         ret",
        &[],
    ),
    // Another one is compared, or this one with another.
    (
        "%z: bool = cmp.ieq %p, %q
         br_if %z, out, in
       in:
         store %p, i32 1 align 4
         br out
       out:
         ret",
        &[P],
    ),
    // One of two.
    (
        "%a: ptr<global> = select %c, %p, %q
         store %a, i32 1 align 4
         ret",
        &[P, Q],
    ),
    // In a loop.
    (
        "br h
       h:
         %a: ptr<global> = phi e: %p, h: %b
         store %a, i32 1 align 4
         %b: ptr<global> = offset %a [4]
         %z: bool = cmp.ine %a, %q
         br_if %z, h, out
       out:
         ret",
        &[P],
    ),
    // Fields of a struct by value; one of them is compared with null.
    (
        "%a: ptr<private> = offset %s [8]
         %b: ptr<global> = load %a align 8
         store %b, i32 1 align 4
         %d: ptr<private> = offset %s [16]
         %e1: ptr<global> = load %d align 8
         %x: i32 = load %e1 align 4
         %z: bool = cmp.ieq %e1, ptr<global> null
         br_if %z, in, out
       in:
         store %p, %x align 4
         br out
       out:
         ret",
        &[P, S + 8],
    ),
    // The struct changes before it is read.
    (
        "%a: ptr<private> = offset %s [%n * 8 + 0]
         store %a, %n align 8
         %b: ptr<global> = load %s align 8
         store %b, i32 1 align 4
         ret",
        &[],
    ),
];

#[test]
fn pointers_that_are_accessed_and_not_compared_with_null_are_known() {
    for (body, expected) in UNCHECKED {
        assert_eq!(unchecked(body), *expected, "{body}");
    }
}

/// The body of the variant for these null pointers.
fn without(body: &str, offsets: &[u32]) -> String {
    let mut module = parsed(body);
    let nulls = NullArguments {
        kernel: 0,
        offsets: offsets.to_vec(),
    };
    prepare_for(&mut module, Some(&nulls), kernel_ir::Checks::default())
        .unwrap_or_else(|e| panic!("{e}\n{body}"));
    validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
    let printed = print(&module);
    let lines: Vec<&str> = printed.lines().skip(2).map(str::trim).collect();
    lines[..lines.len() - 1].join("\n")
}

/// Body, null pointers, body of the variant.
const LEFT: &[(&str, &[u32], &str)] = &[
    ("store %p, i32 1 align 4\n ret", &[P], "ret"),
    (
        "store %p, i32 1 align 4\n ret",
        &[Q],
        "store %0, i32 1 align 4\nret",
    ),
    (
        "%x: i32 = load %q align 4\n store %p, %x align 4\n ret",
        &[Q],
        "store %0, i32 0 align 4\nret",
    ),
    (
        "%x: f32 = load %q align 4 volatile\n store %p, %x align 4 volatile\n ret",
        &[P, Q],
        "ret",
    ),
    (
        "%x: i32 = atomic.iadd Device Relaxed %q, i32 1\n store %p, %x align 4\n ret",
        &[Q],
        "store %0, i32 0 align 4\nret",
    ),
    // A pointer loaded at null is null.
    (
        "%a: ptr<global> = load %q align 8
         %b: ptr<global> = offset %a [8]
         %x: i64 = load %b align 8
         store %p, %x align 8
         ret",
        &[Q],
        "store %0, i64 0 align 8\nret",
    ),
    // A copy from null is zeros.
    (
        "copy_memory %p, %q, i64 9 align 8\n ret",
        &[Q],
        "store %0, i64 0 align 8\n%6: ptr<global> = offset %0 [8]\nstore %6, i8 0 align 1\nret",
    ),
    ("copy_memory %p, %q, i64 9 align 8\n ret", &[P], "ret"),
    // The size is not known.
    (
        "copy_memory %p, %q, %n align 8\n ret",
        &[Q],
        "copy_memory %0, %1, %3 align 8\nret",
    ),
    // On all paths, and on one.
    (
        "%a: ptr<global> = select %c, %p, %q\n store %a, i32 1 align 4\n ret",
        &[P, Q],
        "ret",
    ),
    (
        "%a: ptr<global> = select %c, %p, %q\n store %a, i32 1 align 4\n ret",
        &[P],
        "%6: ptr<global> = select %4, %0, %1\nbr_if %4, b2, b1\nb1:\nstore %6, i32 1 align 4\nbr b2\nb2:\nret",
    ),
    (
        "br_if %c, a, b
       a:
         br out
       b:
         br out
       out:
         %a: ptr<global> = phi a: %p, b: %q
         %x: i32 = load %a align 4
         store %r, %x align 4
         ret",
        &[Q],
        "br_if %4, b1, b2\nb1:\nbr b2\nb2:\n%6: bool = phi b0: bool true, b1: bool false\n%7: ptr<global> = phi b0: %1, b1: %0\nbr_if %6, b4, b3\nb3:\n%8: i32 = load %7 align 4\nbr b4\nb4:\n%9: i32 = phi b2: i32 0, b3: %8\nstore %5, %9 align 4\nret",
    ),
    // Copies to what may be null, and from it.
    (
        "%a: ptr<global> = select %c, %p, %q\n copy_memory %a, %r, i64 8 align 8\n ret",
        &[P],
        "%6: ptr<global> = select %4, %0, %1\nbr_if %4, b2, b1\nb1:\ncopy_memory %6, %5, i64 8 align 8\nbr b2\nb2:\nret",
    ),
    (
        "%a: ptr<global> = select %c, %p, %q\n copy_memory %r, %a, i64 8 align 8\n ret",
        &[P],
        "%6: ptr<global> = select %4, %0, %1\nbr_if %4, b2, b1\nb1:\ncopy_memory %5, %6, i64 8 align 8\nbr b3\nb2:\nstore %5, i64 0 align 8\nbr b3\nb3:\nret",
    ),
    // A null constant of the kernel is no argument.
    (
        "%a: ptr<global> = offset ptr<global> null [%n * 1 + 0]\n store %a, i32 1 align 4\n ret",
        &[P],
        "%6: ptr<global> = offset ptr<global> null [%3 * 1 + 0]\nstore %6, i32 1 align 4\nret",
    ),
    // A field of a struct by value.
    (
        "%a: ptr<private> = offset %s [8]
         %b: ptr<global> = load %a align 8
         %x: i32 = load %b align 4
         store %p, %x align 4
         ret",
        &[S + 8],
        "store %0, i32 0 align 4\nret",
    ),
];

#[test]
fn accesses_through_null_pointers_are_removed() {
    for (body, offsets, expected) in LEFT {
        assert_eq!(without(body, offsets), *expected, "{body}");
    }
}

#[test]
fn a_kernel_of_a_program_with_variables_is_refused_and_one_beside_it_is_not() {
    let text = "
var @shared: i32 in global
kernel @first(%p: ptr<global>) {
e:
  %x: i32 = load @shared align 4
  store %p, %x align 4
  ret
}
kernel @second(%p: ptr<global>) {
e:
  store %p, i32 1 align 4
  ret
}
";
    for (kernel, refused) in [
        (0, Some("kernel \"first\" has variables")),
        (1, None),
        (2, Some("no kernel 2")),
    ] {
        let mut module = parse(text).unwrap_or_else(|e| panic!("{e}"));
        let nulls = NullArguments {
            kernel,
            offsets: vec![0],
        };
        let made = prepare_for(&mut module, Some(&nulls), kernel_ir::Checks::default());
        match refused {
            Some(words) => {
                let error = made.expect_err("it is refused").line();
                assert!(error.contains(words), "{error}");
            }
            None => {
                made.unwrap_or_else(|e| panic!("{e}"));
                let left: Vec<&str> = module.kernels.iter().map(|k| k.name.as_str()).collect();
                assert_eq!((left, module.functions.len()), (vec!["second"], 1));
            }
        }
    }
}
