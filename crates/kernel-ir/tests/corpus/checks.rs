//! Kernels with all checks of `solum check` are valid modules.

use crate::corpus::files;
use kernel_ir::build::SpirvInput;
use kernel_ir::{Checks, Request, front, parse, passes, print, validate};

#[test]
fn kernels_with_checks_are_valid() {
    let mut checked = 0;
    for (name, words) in files::FILES {
        let request = Request {
            modules: vec![SpirvInput {
                words: words.to_vec(),
                constants: Vec::new(),
            }],
            sub_group_size: 16,
            ..Request::default()
        };
        let Ok(built) = front::build(&request) else {
            continue;
        };
        let mut module = built.module;
        if passes::stand_alone(&mut module).is_err() {
            continue;
        }
        passes::instrument(&mut module, Checks::ALL);
        passes::initialised(&mut module, Checks::ALL);
        validate(&module).unwrap_or_else(|e| panic!("{name}: {e:?}\n{}", print(&module)));
        let printed = print(&module);
        let again = parse(&printed).unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
        assert_eq!(print(&again), printed, "{name}");
        if passes::expand(&mut module).is_err() {
            continue;
        }
        validate(&module).unwrap_or_else(|e| panic!("{name}, expanded: {e:?}"));
        checked += usize::from(printed.contains("check.uninitialised"));
    }
    assert!(checked > 20, "{checked} modules with such checks");
}
