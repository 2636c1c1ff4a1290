//! Index facts in their text form: each file in `facts` is a module with its own facts as comments.
//!
//! After a change that is meant, run with `SOLUM_BLESS=1` and read the difference.

use std::path::Path;

#[test]
fn facts_are_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes/facts");
    let mut differ = Vec::new();
    let mut files = 0;
    for file in std::fs::read_dir(&folder).expect("a folder") {
        let path = file.expect("an entry").path();
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("a module");
        let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let made = kernel_ir::index::print(&module);
        files += 1;
        if std::env::var_os("SOLUM_BLESS").is_some() {
            std::fs::write(&path, &made).expect("bless");
        } else if text != made {
            differ.push(format!("{name}:\n{made}"));
        }
    }
    assert!(files >= 4, "{files} files");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
