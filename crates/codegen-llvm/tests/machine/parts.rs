//! A program of several kernels is compiled in parts, and is one program all the same.

use super::native::{Native, settings};
use super::sandbox::module;
use kernel_ir::abi::Launch;
use std::fmt::Write as _;

const ITEMS: u32 = 8;

/// Kernels of so many instructions each; kernel `k` adds `k + 1` over and over to the work-item's number.
fn program(sizes: &[u32]) -> String {
    let mut text = String::new();
    for (k, size) in sizes.iter().enumerate() {
        let _ = write!(
            text,
            "kernel @k{k}(%out: ptr<global>) {{\nb0:\n  %gid: i64 = wi.GlobalInvocationId 0\n  %t0: i32 = to.trunc %gid\n"
        );
        for i in 0..*size {
            let _ = writeln!(text, "  %t{}: i32 = iadd %t{i}, i32 {}", i + 1, k + 1);
        }
        let _ = write!(
            text,
            "  %at: ptr<global> = offset %out [%gid * 4 + 0]\n  store %at, %t{size} align 4\n  ret\n}}\n"
        );
    }
    text
}

/// Objects in these bytes.
fn objects(bytes: &[u8]) -> usize {
    bytes.windows(4).filter(|w| w == b"\x7fELF").count()
}

#[test]
fn kernels_with_something_in_common_are_one_object() {
    const SELF: &str = "func @f(%x: i32) -> i32 {\nb0:\n  %c: bool = cmp.ieq %x, i32 0\n  br_if %c, end, more\nmore:\n  %y: i32 = isub %x, i32 1\n  %z: i32 = call @f(%y)\n  ret %z\nend:\n  ret %x\n}\n";
    let cases = [
        ("nothing", "", "  %v: i32 = load %out align 4\n", 2),
        (
            "memory of each group",
            "var @tile: i32 in local\n",
            "  store @tile, i32 1 align 4\n  %v: i32 = load @tile align 4\n",
            2,
        ),
        (
            "a variable",
            "var @count: i32 in global\n",
            "  %v: i32 = load @count align 4\n",
            1,
        ),
        (
            "a table",
            "var @table: [2 x i32] in constant = [1, 2]\n",
            "  %at: ptr<constant> = offset @table [%gid * 4 + 0]\n  %v: i32 = load %at align 4\n",
            2,
        ),
        (
            "a table's address in memory",
            "var @table: [2 x i32] in constant = [1, 2]\n",
            "  store %out, @table align 8\n  %v: i32 = load @table align 4\n",
            1,
        ),
        (
            "a table's address as a number",
            "var @table: [2 x i32] in constant = [1, 2]\n",
            "  %at: i64 = to.ptrtoint @table\n  %v: i32 = to.trunc %at\n",
            1,
        ),
        (
            "a table's address without its space",
            "var @table: [2 x i32] in constant = [1, 2]\n",
            "  %at: ptr<generic> = to.addressspace @table\n  store %out, %at align 8\n  %v: i32 = load %out align 4\n",
            1,
        ),
        (
            "a table of addresses",
            "var @table: [2 x i32] in constant = [1, 2]\nvar @tables: [1 x ptr<constant>] in constant = [@table]\n",
            "  %at: ptr<constant> = load @tables align 8\n  %v: i32 = load %at align 4\n",
            1,
        ),
        (
            "a table that has a name outside",
            "var @table: [2 x i32] in constant exported = [1, 2]\n",
            "  %at: ptr<constant> = offset @table [%gid * 4 + 0]\n  %v: i32 = load %at align 4\n",
            1,
        ),
        (
            "a table beside a variable",
            "var @count: i32 in global\nvar @table: [2 x i32] in constant = [1, 2]\n",
            "  %at: ptr<constant> = offset @table [%gid * 4 + 0]\n  %v: i32 = load %at align 4\n",
            1,
        ),
        (
            "a large table",
            "var @table: [20000 x i32] in constant = null\n",
            "  %at: ptr<constant> = offset @table [%gid * 4 + 0]\n  %v: i32 = load %at align 4\n",
            1,
        ),
        (
            "a function for other programs",
            "func @f(%x: i32) -> i32 exported {\nb0:\n  ret %x\n}\n",
            "  %v: i32 = load %out align 4\n",
            1,
        ),
        (
            "a call of who knows what",
            "",
            "  %p: ptr<generic> = load %out align 8\n  %v: i32 = call_indirect %p(i32 1)\n",
            1,
        ),
        (
            "a function that calls itself",
            SELF,
            "  %n: i32 = load %out align 4\n  %v: i32 = call @f(%n)\n",
            1,
        ),
    ];
    for (what, head, body, parts) in cases {
        let text = format!(
            "{head}{}kernel @last(%out: ptr<global>) {{\nb0:\n  %gid: i64 = wi.GlobalInvocationId 0\n{body}  store %out, %v align 4\n  ret\n}}\n",
            program(&[300, 300])
        );
        let compiled = codegen_llvm::compile_module(module(&text), settings(8));
        let compiled = compiled.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(objects(&compiled.object), parts, "{what}");
        assert_eq!(compiled.info.kernels.len(), 3, "{what}");
        assert!(object_loader::load(&compiled.object, &super::native::external).is_ok());
    }
}

#[test]
fn programs_in_parts_run() {
    let cases: [(&[u32], usize); 4] = [
        (&[300, 250, 400], 3),
        (&[5, 300, 5, 5, 300, 5], 2),
        (&[5, 5, 300], 1),
        (&[5; 60], 2),
    ];
    for (sizes, parts) in cases {
        let text = program(sizes);
        let compile = || codegen_llvm::compile_module(module(&text), settings(8)).expect("object");
        let (first, second) = (compile(), compile());
        assert_eq!(first, second, "threads decide nothing: {sizes:?}");
        assert_eq!(objects(&first.object), parts, "{sizes:?}");
        assert_eq!(first.object.starts_with(b"!<arch>\n"), parts > 1);

        let native = Native::new(module(&text), settings(8));
        assert_eq!(native.info.kernels.len(), sizes.len());
        for (k, size) in sizes.iter().enumerate() {
            let out = results(&native, k);
            for (i, found) in out.into_iter().enumerate() {
                assert_eq!(found, i as u32 + size * (k as u32 + 1), "kernel {k}, {i}");
            }
        }
    }
}

#[test]
fn each_part_has_the_tables_that_it_reads() {
    // The sizes keep each kernel from being too little for itself.
    let body = program(&[300]);
    let body = body.split_once("b0:\n").expect("a kernel").1;
    let kernels = ["one", "two"].map(|name| {
        let body = body.replace("to.trunc %gid", "load %from align 4");
        format!("kernel @{name}(%out: ptr<global>) {{\nb0:\n{body}").replacen(
            "  %t0",
            "  %from: ptr<constant> = offset @table [%gid * 4 + 0]\n  %t0",
            1,
        )
    });
    let table = "var @table: [8 x i32] in constant = [9, 8, 7, 6, 5, 4, 3, 2]\n";
    let text = format!("{table}{}", kernels.concat());
    let compiled = codegen_llvm::compile_module(module(&text), settings(8)).expect("object");
    assert_eq!(objects(&compiled.object), 2);
    let native = Native::new(module(&text), settings(8));
    for k in 0..2 {
        let found = results(&native, k);
        let wanted = std::array::from_fn(|i| 9 - i as u32 + 300);
        assert_eq!(found, wanted, "kernel {k}");
    }
}

/// What the work-items of kernel `k` of one group write.
fn results(native: &Native, k: usize) -> [u32; ITEMS as usize] {
    let mut out = [0u32; ITEMS as usize];
    let mut args = vec![0u64; native.info.kernels[k].args_size.div_ceil(8) as usize];
    args[native.info.kernels[k].args[0].offset as usize / 8] = out.as_mut_ptr() as u64;
    let args: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
    let launch = Launch {
        group_size: [ITEMS, 1, 1],
        work_dim: 1,
        group_count: [1; 3],
        items_per_group: ITEMS,
        ..Launch::default()
    };
    let mut memory = vec![0u8; 4096];
    let at = memory.as_mut_ptr().align_offset(64);
    // SAFETY: the kernel writes a word for each work-item, and needs no memory of its own.
    unsafe { native.run(k, &args, &launch, 0..1, memory.as_mut_ptr().add(at)) };
    out
}

#[test]
fn the_first_failure_of_a_part_is_the_programs() {
    let mut broken = module(&program(&[300, 300, 300]));
    for (kernel, size) in broken.kernels.iter_mut().zip([8, 48, 40]) {
        kernel.required_sub_group_size = size;
    }
    // Whoever is at the later ones.
    for _ in 0..20 {
        let error = codegen_llvm::compile_module(broken.clone(), settings(8)).unwrap_err();
        assert!(error.message.contains("\"k1\""), "{error}");
    }
}

#[test]
fn programs_in_parts_are_compiled_side_by_side() {
    let module = module(&program(&[250; 12]));
    let first = codegen_llvm::compile_module(module.clone(), settings(8)).expect("alone");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let again = codegen_llvm::compile_module(module.clone(), settings(8));
                assert_eq!(again.expect("together"), first);
            });
        }
    });
}
