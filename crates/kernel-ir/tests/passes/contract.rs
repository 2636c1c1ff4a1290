//! Products and sums that become one operation: before and after.

use super::whole::prepared;
use kernel_ir::passes::contract;
use kernel_ir::print;

/// The body of the only kernel, of whose floats of these widths products and sums are contracted.
fn body(code: &str, widths: &[u8], all: bool) -> Vec<String> {
    let text = format!(
        "format \"x\"\nkernel @k(%p: ptr<global>, %a: f32, %b: f32, %c: f32, %d: f64, %v: <4 x f32>) {{\ne:\n {code}\n ret\n}}\n"
    );
    let mut module = prepared(&text);
    contract(&module.types, &mut module.functions[0], widths, all);
    kernel_ir::validate(&module).unwrap_or_else(|errors| panic!("{code}: {errors:?}"));
    let printed = print(&module);
    let lines = printed.lines().skip(3).map(|line| line.trim().to_owned());
    let lines = lines.filter(|line| line.starts_with('%'));
    lines
        .map(|line| {
            line.split_once(": ")
                .map_or(String::new(), |(_, op)| op.to_owned())
        })
        .collect()
}

#[test]
fn a_product_with_a_sum_as_its_only_use_is_contracted() {
    let cases: [(&str, &[&str]); 14] = [
        (
            "%m: f32 = fmul %a, %b\n %r: f32 = fadd %m, %c\n store %p, %r align 4",
            &["f32 = math.fma %1, %2, %3"],
        ),
        (
            "%m: f32 = fmul %a, %b\n %r: f32 = fadd %c, %m\n store %p, %r align 4",
            &["f32 = math.fma %1, %2, %3"],
        ),
        (
            "%m: f32 = fmul %a, %b\n %r: f32 = fsub %m, %c\n store %p, %r align 4",
            &["f32 = fneg %3", "f32 = math.fma %1, %2, %6"],
        ),
        (
            "%m: f32 = fmul %a, %b\n %r: f32 = fsub %c, %m\n store %p, %r align 4",
            &["f32 = fneg %1", "f32 = math.fma %6, %2, %3"],
        ),
        (
            "%m: f32 = fmul %a, %b\n %n: f32 = fneg %m\n %r: f32 = fsub %c, %n\n store %p, %r align 4",
            &["f32 = math.fma %1, %2, %3"],
        ),
        // A volatile variable keeps them apart.
        (
            "%x: ptr<private> = alloca 4 align 4\n %m: f32 = fmul %a, %b fast 0x10000\n store %x, %m align 4 volatile\n \
             %n: f32 = load %x align 4 volatile\n %r: f32 = fadd %n, %c\n store %p, %r align 4",
            &["f32 = fmul %1, %2 fast 0x20000000", "f32 = fadd %6, %3"],
        ),
        (
            "%x: ptr<private> = alloca 4 align 4\n %m: f32 = fmul %a, %b\n %k: f32 = fneg %m\n store %x, %k align 4 volatile\n \
             %n: f32 = load %x align 4 volatile\n %r: f32 = fadd %n, %c\n store %p, %r align 4",
            &[
                "f32 = fmul %1, %2 fast 0x20000000",
                "f32 = fneg %6 fast 0x20000000",
                "f32 = fadd %7, %3",
            ],
        ),
        (
            "%x: ptr<private> = alloca 4 align 4\n %y: ptr<private> = alloca 4 align 4\n %m: f32 = fmul %a, %b\n \
             store %y, %m align 4\n %o: f32 = load %y align 4\n %k: f32 = fneg %o\n store %x, %k align 4 volatile\n \
             %n: f32 = load %x align 4 volatile\n %r: f32 = fadd %n, %c\n store %p, %r align 4",
            &[
                "f32 = fmul %1, %2 fast 0x20000000",
                "f32 = fneg %6 fast 0x20000000",
                "f32 = fadd %7, %3",
            ],
        ),
        (
            "%x: ptr<private> = alloca 16 align 16\n %m: f32 = fmul %a, %b\n %k: <4 x f32> = insert %v, %m [0]\n \
             store %x, %k align 16 volatile\n %l: <4 x f32> = load %x align 16 volatile\n %n: f32 = extract %l [0]\n \
             %r: f32 = fadd %n, %c\n store %p, %r align 4",
            &["f32 = fmul %1, %2 fast 0x20000000", "f32 = fadd %6, %3"],
        ),
        (
            "%x: ptr<private> = alloca 4 align 4\n %m: f32 = fmul %a, %b\n %k: i32 = to.bitcast %m\n \
             store %x, %k align 4 volatile\n %l: i32 = load %x align 4 volatile\n %n: f32 = to.bitcast %l\n \
             %r: f32 = fadd %n, %c\n store %p, %r align 4",
            &["f32 = fmul %1, %2 fast 0x20000000", "f32 = fadd %6, %3"],
        ),
        // The first of two products.
        (
            "%m: f32 = fmul %a, %b\n %n: f32 = fmul %b, %c\n %r: f32 = fadd %m, %n\n store %p, %r align 4",
            &["f32 = fmul %2, %3", "f32 = math.fma %1, %2, %6"],
        ),
        // Somebody else needs it.
        (
            "%m: f32 = fmul %a, %b\n %r: f32 = fadd %m, %c\n store %p, %r align 4\n store %p, %m align 4",
            &["f32 = fmul %1, %2", "f32 = fadd %6, %3"],
        ),
        (
            "%m: <4 x f32> = fmul %v, %v\n %r: <4 x f32> = fadd %m, %v\n store %p, %r align 16",
            &["<4 x f32> = math.fma %5, %5, %5"],
        ),
        // Not of that width.
        (
            "%m: f64 = fmul %d, %d\n %r: f64 = fadd %m, %d\n store %p, %r align 8",
            &["f64 = fmul %4, %4", "f64 = fadd %6, %4"],
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(body(code, &[32], true), expected, "{code}");
        let before = body(code, &[], true);
        assert_eq!(body(code, &[32], false), before, "{code}");
        assert!(before.iter().all(|line| !line.contains("fma")), "{code}");
    }
}

#[test]
fn a_volatile_variable_prevents_contraction() {
    let text = "
func @keep(%q: f32) -> f32 {
e:
  %x: ptr<private> = alloca 4 align 4
  store %x, %q align 4 volatile
  %n: f32 = load %x align 4 volatile
  ret %n
}
kernel @k(%p: ptr<global>, %a: f32, %b: f32, %c: f32) {
e:
  %m: f32 = fmul %a, %b
  %n: f32 = call @keep(%m)
  %r: f32 = fadd %n, %c
  store %p, %r align 4
  ret
}";
    let mut module = prepared(text);
    let kernel = module.kernels[0].function.index();
    contract(&module.types, &mut module.functions[kernel], &[32], true);
    let printed = print(&module);
    assert!(
        printed.contains("fmul") && !printed.contains("math.fma"),
        "{printed}"
    );
    assert!(!printed.contains("alloca"), "{printed}");
}

#[test]
fn instructions_may_permit_contraction() {
    // AllowContract, and Fast: both of product and sum.
    for (product, sum, becomes) in [
        ("65536", "65536", true),
        ("16", "65536", true),
        ("65536", "0", false),
        ("0", "16", false),
        ("1", "1", false),
    ] {
        let flagged = |fast: &str| match fast {
            "0" => String::new(),
            fast => format!(" fast {fast}"),
        };
        let code = format!(
            "%m: f32 = fmul %a, %b{}\n %r: f32 = fadd %m, %c{}\n store %p, %r align 4",
            flagged(product),
            flagged(sum)
        );
        let found = body(&code, &[32], false);
        let is_one = found.iter().any(|line| line.contains("fma"));
        assert_eq!(is_one, becomes, "{code}: {found:?}");
    }
}
