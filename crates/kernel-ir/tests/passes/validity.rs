//! Each rule of the form is broken once.

use kernel_ir::{BlockId, InstId, Op, TypeId, ValueDef, ValueId, parse, validate};

fn kernel(body: &str) -> String {
    format!(
        "format \"x\"\nvar @l: i32 in local\nkernel @k(%p: ptr<global>, %n: i32, %f: f32) {{\n{body}\n}}\n"
    )
}

#[test]
fn broken_rules_are_named() {
    for (body, part) in [
        ("a:\n br b\nb:\n br a", "jump to the entry"),
        ("a:\n %x: i32 = iadd %n, i64 1\n ret", "not of one type"),
        ("a:\n %x: i32 = fadd %n, %n\n ret", "float arithmetic"),
        (
            "a:\n %x: i32 = cmp.slt %n, %n\n ret",
            "not a bool for each lane",
        ),
        ("a:\n %x: bool = cmp.slt %f, %f\n ret", "wrong kind"),
        ("a:\n %x: i16 = to.zext %n\n ret", "this conversion"),
        ("a:\n %x: i64 = to.bitcast %n\n ret", "bitcast"),
        ("a:\n br_if %n, b, b\nb:\n ret", "no bool"),
        (
            "a:\n switch %n, b [1: b, 1: b]\nb:\n ret",
            "case stands twice",
        ),
        ("a:\n ret %n", "returned value"),
        ("a:\n store %n, %n align 4\n ret", "no pointer"),
        ("a:\n store %p, %n align 3\n ret", "power of two"),
        (
            "a:\n br b\nb:\n %x: ptr<private> = alloca 4 align 4\n ret",
            "outside the entry",
        ),
        (
            "a:\n %x: i32 = iadd %y, %y\n %y: i32 = iadd %n, %n\n ret",
            "does not reach",
        ),
        (
            "a:\n %c: bool = cmp.slt %n, %n\n br_if %c, b, c\nb:\n %y: i32 = copy %n\n br c\nc:\n %z: i32 = copy %y\n ret",
            "does not reach",
        ),
        (
            "a:\n br b\nb:\n %x: i32 = phi a: %n, b: %n\n ret",
            "predecessors are",
        ),
        (
            "a:\n br b\nb:\n %y: i32 = copy %n\n %x: i32 = phi a: %n\n ret",
            "after another",
        ),
        ("a:\n %x: i32 = wi.GlobalSize 0\n ret", "builtin's type"),
        ("a:\n %x: i64 = wi.GlobalSize 3\n ret", "dimension"),
        ("a:\n %x: i32 = printf 7(%n)\n ret", "no such format"),
        (
            "a:\n %x: i32 = group.reduce.fadd Workgroup %n\n ret",
            "reduction of the wrong type",
        ),
        ("a:\n barrier Device\n ret", "barrier of another scope"),
        (
            "a:\n %x: i32 = atomic.fadd Device Relaxed %p, %n\n ret",
            "wrong kind",
        ),
        ("a:\n %x: i32 = math.sin %n\n ret", "wrong type"),
        ("a:\n %x: <2 x i32> = construct %n\n ret", "fill the vector"),
        (
            "a:\n %x: <2 x i32> = construct %n, %n\n %y: i32 = extract %x [2]\n ret",
            "no element 2",
        ),
        (
            "a:\n %x: <2 x i32> = shuffle <2 x i32> null, <2 x i32> null [0, 4]\n ret",
            "too large",
        ),
    ] {
        let module = parse(&kernel(body)).unwrap_or_else(|e| panic!("{body}: {e}"));
        let error = validate(&module).expect_err(body);
        assert!(error.message.contains(part), "{body}: {error}");
    }
}

#[test]
fn a_phi_may_carry_its_own_definition_around_a_loop() {
    let body = "a:\n br b\nb:\n %x: i32 = phi a: %n, b: %y\n %y: i32 = iadd %x, %n\n\
                %c: bool = cmp.slt %y, %n\n br_if %c, b, d\nd:\n store @l, %y align 4\n ret\n\
                gone:\n %z: i32 = iadd %y, %z\n br gone2\ngone2:\n unreachable";
    validate(&parse(&kernel(body)).unwrap()).unwrap();
}

#[test]
fn ids_outside_the_tables_are_found() {
    type Damage = fn(&mut kernel_ir::Module);
    let cases: [(&str, Damage); 8] = [
        ("no value", |m| {
            m.functions[0].insts[0].op = Op::Copy(ValueId(99));
        }),
        ("two places", |m| {
            m.functions[0].blocks[0].insts.push(InstId(0))
        }),
        ("not in the table", |m| {
            m.functions[0].blocks[0].insts.push(InstId(9))
        }),
        ("no block", |m| {
            m.functions[0].blocks[0].term = kernel_ir::Terminator::Br(BlockId(7));
        }),
        ("no type", |m| m.functions[0].values[0].ty = TypeId(99)),
        ("does not fit its table", |m| {
            m.functions[0].values[1].def = ValueDef::Const(kernel_ir::ConstId(99));
        }),
        ("no function 3", |m| {
            m.kernels[0].function = kernel_ir::FunctionId(3)
        }),
        ("is not defined as such", |m| {
            m.functions[0].params[0] = ValueId(50)
        }),
    ];
    let good = parse("kernel @k(%n: i32) {\na:\n %x: i32 = copy %n\n ret\n}").unwrap();
    validate(&good).unwrap();
    for (part, damage) in cases {
        let mut module = good.clone();
        damage(&mut module);
        let error = validate(&module).expect_err(part);
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}
