//! Links LLVM 22: statically by default, exactly the components in use; `SOLUM_LLVM=shared` takes the
//! distribution's shared library instead, for short edit-test cycles. `LLVM_CONFIG` names llvm-config.

use std::process::{Command, exit};

/// What the code generator uses; llvm-config adds what these need.
const COMPONENTS: [&str; 4] = ["x86codegen", "x86desc", "x86info", "passes"];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=SOLUM_LLVM");
    println!("cargo:rerun-if-changed=build.rs");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".into());
    let version = ask(&config, &["--version"]);
    if !version.starts_with("22.") {
        fail(&format!(
            "{config} is of LLVM {version}; LLVM 22 is needed: apt install llvm-22-dev, or set LLVM_CONFIG"
        ));
    }
    println!("cargo:rustc-env=SOLUM_LLVM_VERSION={version}");
    println!(
        "cargo:rustc-link-search=native={}",
        ask(&config, &["--libdir"])
    );
    match std::env::var("SOLUM_LLVM").as_deref() {
        Ok("shared") => println!("cargo:rustc-link-lib=dylib=LLVM-22"),
        Ok("static" | "") | Err(_) => link_statically(&config),
        Ok(other) => fail(&format!("SOLUM_LLVM is {other:?}; allowed: static, shared")),
    }
}

fn link_statically(config: &str) {
    let mut arguments = vec!["--link-static", "--libnames"];
    arguments.extend(COMPONENTS);
    for file in ask(config, &arguments).split_whitespace() {
        let name = file
            .strip_prefix("lib")
            .and_then(|name| name.strip_suffix(".a"))
            .unwrap_or_else(|| {
                fail(&format!(
                    "{config} names {file}, which is no static archive"
                ))
            });
        // Not bundled: 50 archives would be copied into our rlib.
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    for (name, package) in [("zstd", "libzstd-dev"), ("z", "zlib1g-dev")] {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let path = ask(&compiler, &[&format!("-print-file-name=lib{name}.a")]);
        let Some((folder, _)) = path.rsplit_once('/') else {
            fail(&format!("lib{name}.a is missing: apt install {package}"));
        };
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    println!("cargo:rustc-link-lib=dylib=stdc++");
}

fn ask(program: &str, arguments: &[&str]) -> String {
    match Command::new(program).args(arguments).output() {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        Ok(out) => fail(&format!(
            "{program} {} failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&out.stderr).trim()
        )),
        Err(error) => fail(&format!(
            "{program} cannot be run ({error}): apt install llvm-22-dev libpolly-22-dev zlib1g-dev libzstd-dev, \
             or set LLVM_CONFIG"
        )),
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
