//! Misuse that must not compile, each with the compiler's error code.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[("compile_fail", Where::Host, compile_fail)];

/// The error code, or words of an error without one, and the body of a function of `q: &Queue`, `k: &Kernel`, `b:
/// &Buffer<'_, f32>`.
const CASES: &[(&str, &str, &str)] = &[
    (
        "C01 two commands in one group",
        "E0382",
        "q.submit(|cg| { let _ = cg.single_task(k, ())?; cg.single_task(k, ()) })?;",
    ),
    (
        "C02 accessor escapes its group",
        "E0521",
        "let mut out = None; q.submit(|cg| { out = Some(cg.access(b, Read)?); cg.single_task(k, ()) })?;",
    ),
    (
        "C03 accessor of another group",
        "lifetime may not live long enough",
        "q.submit(|cg| { let a = cg.access(b, Read)?; let _ = q.submit(|inner| inner.single_task(k, (&a,))); cg.single_task(k, ()) })?;",
    ),
    (
        "C04 native handle of a buffer",
        "E0277",
        "sycl::interop::get_native(b);",
    ),
    (
        "C05 kernel of a bundle that is not executable",
        "E0599",
        "fn f(x: &KernelBundle<sycl::Input>) { let _ = x.kernel(c\"k\"); }",
    ),
    (
        "C06 no_init of a mode that reads",
        "E0599",
        "b.host_access(Read.no_init())?;",
    ),
    (
        "C07 host view of device memory",
        "E0599",
        "fn f(x: &sycl::usm::Block<f32, sycl::usm::DeviceKind>) { unsafe { x.as_slice() }; }",
    ),
    (
        "C08 writing through a read accessor",
        "E0594",
        "let mut h = b.host_access(Read)?; h[0] = 1.0;",
    ),
    (
        "C09 four dimensions",
        "E0277",
        "let _: Buffer<'static, f32, 4> = Buffer::new([1, 1, 1, 1])?;",
    ),
    (
        "C10 group without a command",
        "E0308",
        "q.submit(|cg| Ok(()))?;",
    ),
    (
        "C11 host task captures a borrow",
        "E0597",
        "let l = 5u32; let r = &l; q.submit(|cg| cg.host_task((), move |_, _| { drop(*r); Ok(()) }))?;",
    ),
    (
        "C12 host slice used while borrowed",
        "E0503",
        "let mut v = vec![0f32; 8]; let s = &mut v[..]; let b = Buffer::from_slice_mut(s, 8)?; s[0] = 1.0; drop(b);",
    ),
    (
        "C13 fill through a read accessor",
        "E0277",
        "q.submit(|cg| { let a = cg.access(b, Read)?; cg.fill(&a, 0.0f32) })?;",
    ),
    (
        "C14 handler on another thread",
        "E0277",
        "q.submit(|cg| std::thread::scope(|s| s.spawn(|| cg.single_task(k, ())).join().unwrap()))?;",
    ),
    (
        "C15 buffer outlives its host slice",
        "E0515",
        "fn f() -> Result<Buffer<'static, f32>> { let mut v = vec![0f32; 8]; Buffer::from_slice_mut(&mut v, 8) }",
    ),
    (
        "C16 host accessor outlives its buffer",
        "E0505",
        "let b = b.clone(); let h = b.host_access(Read)?; drop(b); let _ = h[0];",
    ),
    (
        "C17 element type with a pointer",
        "E0277",
        "#[derive(Clone, Copy)] struct P(*const u8); Buffer::<P, 1>::new(4)?;",
    ),
    (
        "C18 host accessor on another thread",
        "E0277",
        "let h = b.host_access(Read)?; std::thread::scope(|s| { s.spawn(move || drop(h)); });",
    ),
    (
        "C19 native memory of a host view",
        "E0308",
        "q.submit(|cg| { let v = cg.host_task_access(b, Read)?; cg.host_task((v,), |ih, (v,)| { ih.native_mem(&v)?; Ok(()) }) })?;",
    ),
    (
        "N01 what was transferred is transferred again",
        "E0382",
        "fn f(c: &Context, i: sycl::interop::BufferInput) { unsafe { let _ = sycl::interop::make_buffer_1d::<i32>(i, c, None); let _ = sycl::interop::make_buffer_1d::<i32>(i, c, None); } }",
    ),
    (
        "N02 a transferred handle is read again from its input",
        "E0382",
        "fn f(c: &Context, i: sycl::interop::EventInput) { unsafe { let _ = sycl::interop::make_event(i, c); } let handle = i.native_handle; }",
    ),
    (
        "N03 one input for two queues",
        "E0382",
        "fn f(c: &Context, i: sycl::interop::QueueInput) { unsafe { let _ = sycl::interop::make_queue(i, c); let _ = sycl::interop::make_queue(i, c); } }",
    ),
    (
        "arguments of a kernel that are no arguments",
        "E0277",
        "q.submit(|cg| cg.single_task(k, (\"text\",)))?;",
    ),
    (
        "K01 too few arguments of an embedded kernel",
        "expected a tuple with 2 elements, found one with 1 element",
        "q.submit(|cg| { let a = cg.access(&ints(), ReadWrite)?; cg.parallel_for(m::set, 4, (&a,)) })?;",
    ),
    (
        "K02 a read accessor where an embedded kernel writes",
        "an accessor of mode `sycl::Read` does not write",
        "q.submit(|cg| { let a = cg.access(&ints(), Read)?; cg.parallel_for(m::set, 4, (&a, 1)) })?;",
    ),
    (
        "K03 other elements than an embedded kernel's",
        "`f32` does not lie in memory as the kernel's `",
        "q.submit(|cg| { let a = cg.access(b, ReadWrite)?; cg.parallel_for(m::set, 4, (&a, 1)) })?;",
    ),
    (
        "K04 another number than an embedded kernel's",
        "E0277",
        "q.submit(|cg| { let a = cg.access(&ints(), ReadWrite)?; cg.parallel_for(m::set, 4, (&a, 1.0)) })?;",
    ),
    (
        "K05 a kernel that the embedded file has not",
        "no kernel \"sett\"; the module has ",
        "sycl::kernels! { unsafe mod n = \"kernels/tests.spv\" { sett } }",
    ),
    (
        "I01 native handle of an image",
        "E0277",
        "sycl::interop::get_native(&picture());",
    ),
    (
        "I02 native handle of a sampled image",
        "E0277",
        "fn f(x: &SampledImage<2>) { sycl::interop::get_native(x); }",
    ),
    (
        "I03 writing through a read accessor of an image",
        "E0599",
        "let mut h = picture().host_access::<[f32; 4], _>(Read)?; h.write([0, 0], [0.0; 4]);",
    ),
    (
        "I04 an image accessor escapes its group",
        "E0521",
        "let mut out = None; q.submit(|cg| { out = Some(cg.image(&picture(), Read)?); cg.single_task(k, ()) })?;",
    ),
    (
        "I05 an image of four dimensions",
        "E0277",
        "let _: UnsampledImage<'static, 4> = UnsampledImage::new(ImageFormat::R8G8B8A8_UNORM, [1, 1, 1, 1])?;",
    ),
    (
        "I06 texels that are no texels",
        "E0277",
        "picture().host_access::<[u8; 4], _>(Read)?;",
    ),
    (
        "I07 a host accessor outlives its image",
        "E0505",
        "let p = picture(); let h = p.host_access::<[f32; 4], _>(Read)?; drop(p); let _ = h.read([0, 0]);",
    ),
    (
        "I08 a host accessor of an image on another thread",
        "E0277",
        "let p = picture(); let h = p.host_access::<[f32; 4], _>(Read)?; std::thread::scope(|s| { s.spawn(move || drop(h)); });",
    ),
    (
        "I09 the slice that an image writes back to is used",
        "E0503",
        "let mut v = vec![0u8; 16]; let s = &mut v[..]; let p = UnsampledImage::<2>::from_slice_mut(s, ImageFormat::R8G8B8A8_UNORM, [2, 2])?; s[0] = 1; drop(p);",
    ),
    (
        "I10 native image of a view of the host",
        "E0308",
        "q.submit(|cg| { let v = cg.host_task_image::<[f32; 4], _, _>(&picture(), Read)?; cg.host_task((v,), |ih, (v,)| { ih.native_image(&v)?; Ok(()) }) })?;",
    ),
    (
        "K07 a read accessor where an embedded kernel writes an image",
        "an accessor of mode `sycl::Read` does not write",
        "q.submit(|cg| { let p = picture(); let (a, b) = (cg.image(&p, Read)?, cg.image(&p, Read)?); cg.parallel_for(i::brighten, [1, 1], (&a, &b)) })?;",
    ),
    (
        "K08 an image of other dimensions than an embedded kernel's",
        "the kernel takes an image of 2 dimensions here",
        "q.submit(|cg| { let p = UnsampledImage::<1>::new(ImageFormat::R8G8B8A8_UNORM, 4)?; let (a, b) = (cg.image(&p, Read)?, cg.image(&picture(), Write)?); cg.parallel_for(i::brighten, [1, 1], (&a, &b)) })?;",
    ),
    (
        "K09 a buffer where an embedded kernel takes an image",
        "the kernel takes an image of 2 dimensions here",
        "q.submit(|cg| { let a = cg.access(b, Read)?; let o = cg.image(&picture(), Write)?; cg.parallel_for(i::brighten, [1, 1], (&a, &o)) })?;",
    ),
    (
        "K10 a number where an embedded kernel takes a sampler",
        "the kernel takes a sampler here",
        "q.submit(|cg| { let p = cg.image(&picture(), Read)?; let at = Buffer::<[f32; 2]>::new(1)?; let to = Buffer::<[f32; 4]>::new(1)?; let (at, to) = (cg.access(&at, Read)?, cg.access(&to, Write)?); cg.parallel_for(i::look_up, 1, (&p, 3u32, &at, &to)) })?;",
    ),
    (
        "K06 embedding without unsafe",
        "write `unsafe mod`",
        "sycl::kernels! { mod n = \"kernels/tests.spv\"; }",
    ),
];

fn source(body: &str) -> String {
    format!(
        "#![allow(unused)] use sycl::*;
        sycl::kernels! {{ unsafe mod m = \"kernels/tests.spv\" {{ set }} }}
        sycl::kernels! {{ unsafe mod i = \"kernels/images.spv\" {{ brighten, look_up }} }}
        fn picture() -> UnsampledImage<'static, 2> {{ UnsampledImage::new(ImageFormat::R8G8B8A8_UNORM, [2, 2]).unwrap() }}
        fn ints() -> Buffer<'static, i32> {{ Buffer::new(4).unwrap() }}
        fn case(q: &Queue, k: &Kernel, b: &Buffer<'_, f32>) -> Result<()> {{ {body} Ok(()) }}"
    )
}

fn compile_fail() {
    let deps = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_path_buf();
    // Another instance of this test may run at the same time.
    let folder = deps.join(format!("sycl-compile-fail-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let good = "q.submit(|cg| { let a = cg.access(b, Read)?; cg.parallel_for(k, 8, (&a, Val(1.0f32), 2u32)) })?; b.host_access(ReadWrite)?[0] = 1.0; q.submit(|cg| { let a = cg.access(&ints(), ReadWrite)?; cg.parallel_for(m::set, 4, (&a, 1)) })?; q.submit(|cg| { let p = picture(); let (a, b) = (cg.image(&p, Read)?, cg.image(&p, Write)?); cg.parallel_for(i::brighten, [1, 1], (&a, &b)) })?;";
    // The folder may contain other builds of the crate than the one that this test is linked with.
    let library = libraries(&deps)
        .into_iter()
        .find(|library| compile(&folder, library, good).is_ok())
        .expect("valid code compiles with some build of the crate");
    let mut wrong = Vec::new();
    let mut shown = shown();
    for (name, code, body) in CASES {
        match compile(&folder, &library, body) {
            Ok(()) => wrong.push(format!("{name}: compiles")),
            Err(text) if !text.contains(code) => wrong.push(format!("{name}: not {code}:\n{text}")),
            Err(text) => shown.retain(|line| !without_paths(&text).contains(&without_paths(line))),
        }
    }
    wrong.extend(shown.iter().map(|line| format!("docs/sycl.md: {line}")));
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A text of the compiler without the modules of this crate's types, which some versions leave out.
fn without_paths(text: &str) -> String {
    text.replace("sycl::embedded::", "").replace("sycl::", "")
}

/// The lines of the compiler that docs/sycl.md shows.
fn shown() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sycl.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, sample) = page.split_once("```\nerror[").expect("the sample");
    let (sample, _) = sample.split_once("\n```").expect("its end");
    let sample = format!("error[{sample}");
    sample.lines().map(|line| line.trim().to_owned()).collect()
}

/// Builds of the crate, the newest first.
fn libraries(deps: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(deps)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libsycl-") && name.ends_with(".rlib")
        })
        .collect();
    found.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
    found
}

fn compile(folder: &Path, library: &Path, body: &str) -> Result<(), String> {
    let file = folder.join("case.rs");
    std::fs::write(&file, source(body)).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut dependencies = std::ffi::OsString::from("dependency=");
    dependencies.push(library.parent().unwrap());
    let mut external = std::ffi::OsString::from("sycl=");
    external.push(library);
    let output = Command::new(rustc)
        .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--out-dir",
        ])
        .arg(folder)
        .arg("-L")
        .arg(dependencies)
        .arg("--extern")
        .arg(external)
        .arg(&file)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
