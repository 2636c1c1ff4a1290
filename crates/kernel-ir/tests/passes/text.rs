//! The text form: what is printed is read back to the same text.

use kernel_ir::{parse, print};

/// Each construct once.
const ALL: &str = r#"format "%d\0a"
var @table: [4 x i32] in constant = [1, 2, 3, 4]
var @"odd name": f32 in global align 16 exported = 1.5
var @slot: i32 in local
var @scratch: i32 in local per_item
var @where: ptr<constant> in global = @table + 8
func @twice(%0: i32) -> i32 {
b0:
  %1: i32 = iadd %0, %0 nsw nuw
  ret %1
}
func @import(%0: ptr<generic>) -> {i32, <3 x f16>};
kernel @k(%0: ptr<global> "out", %1: ptr<local>, %2: ptr<private> byval 12 align 4, %3: f32, %4: i64 image) named "other" group_size 8 4 1 group_size_hint 1 2 3 sub_group 16 contract flush_denorms attributes "a(1)" {
b0:
  %5: ptr<private> = alloca 64 align 16
  %6: i64 = wi.GlobalInvocationId 1
  %7: ptr<global> = offset %0 [%6 * 4 + -8]
  %8: ptr<local> = offset %1 [12]
  %9: i32 = load %7 align 4 volatile
  store %7, %9 align 4
  copy_memory %5, %2, i64 12 align 4
  %10: f32 = fmul %3, f32 0.5 fast 0x10000
  %11: f32 = math.fma %10, %3, f32 0x7fc00000
  %12: i16 = to.trunc %9
  %13: f16 = to.ftof %3 rtz
  %14: bool = cmp.slt %9, i32 4294967295
  %15: <4 x i32> = construct %9, %9, %9, %9
  %16: <2 x i32> = shuffle %15, <4 x i32> [1, 2, 3, 4] [7, _]
  %17: i32 = extract %16 [1]
  %18: {i32, [2 x f32]} = insert {i32, [2 x f32]} null, %3 [1, 0]
  %19: i32 = extract_at %15, %17
  %20: <4 x i32> = insert_at %15, %19, i64 2
  %21: ptr<generic> = to.addressspace %7
  %22: bool = is_space %21 local
  %23: ptr<local> = to_space %21 local
  %24: i32 = atomic.compareexchange Device AcquireRelease %7, %9, i32 0
  atomic.store Workgroup Release @slot, i32 1
  fence CrossDevice SequentiallyConsistent
  barrier Workgroup
  %25: i32 = group.reduce.iadd Workgroup %9
  %26: i32 = group.clustered_reduce.umax.4 Subgroup %9
  %27: bool = group.elect Subgroup
  %28: i32 = call @twice(%25)
  %29: i32 = call_indirect ptr<private> @twice(%28)
  %30: i32 = printf 0(%29)
  assume %27
  %31: i32 = select %27, %30, i32 undef
  switch %31, b2 [0: b1, 18446744073709551615: b3]
b1:
  %32: i32 = phi b0: %31, b2: %33
  br_if %27, b2, b3
b2:
  %33: i32 = phi b0: i32 5, b1: %32
  br b1
b3:
  %34: i32 = copy %31
  unreachable
}
"#;

#[test]
fn every_construct_survives_printing_and_reading() {
    let module = parse(ALL).unwrap();
    assert_eq!(print(&module), ALL);
    assert_eq!(module.kernels[0].name, "other");
    assert_eq!(module.functions[2].by_value[2], Some(12));
}

#[test]
fn labels_and_values_may_have_any_name() {
    let text = "kernel @k(%n: i32) {\nstart: // first\n br loop\nloop:\n\
                %i: i32 = phi start: i32 0, loop: %next\n %next: i32 = iadd %i, i32 1\n\
                %c: bool = cmp.ult %next, %n\n br_if %c, loop, end\nend:\n ret\n}\n";
    let printed = print(&parse(text).unwrap());
    assert!(
        printed.contains("%1: i32 = phi b0: i32 0, b1: %2"),
        "{printed}"
    );
    assert_eq!(print(&parse(&printed).unwrap()), printed);
}

#[test]
fn wrong_text_names_its_line() {
    for (text, line, part) in [
        ("kernel @k() {\nb0:\n  ret %1\n}", 3, "%1 is not defined"),
        ("kernel @k() {\nb0:\n  br b1\n}", 3, "no block b1"),
        (
            "kernel @k() {\nb0:\n  %0: i33 = copy i32 1\n  ret\n}",
            3,
            "no type",
        ),
        ("kernel @k() {\nb0:\n  fly %1\n}", 3, "no instruction"),
        ("var @a: i32 in local\nvar @a: i32 in local", 2, "twice"),
        ("var @a: [2 x i32] in constant = [1]", 1, "too few"),
        ("kernel @k() {\nb0:\n", 2, "a word expected"),
        ("format \"x", 1, "closing quote"),
        ("var @v: <5 x i32> in local", 1, "vector of 5"),
        ("var @v: i32 in local = é", 1, "not expected"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
    let deep = format!("var @v: {}i32", "[2 x ".repeat(100_000));
    assert!(parse(&deep).unwrap_err().message.contains("nest deeper"));
}

#[test]
fn no_prefix_of_the_text_panics() {
    for (end, _) in ALL.char_indices() {
        let _ = parse(&ALL[..end]);
    }
}
