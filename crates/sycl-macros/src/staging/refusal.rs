//! Constructs that kernels do not have: the name, the reason, and the way out.

use proc_macro2::Span;
use syn::Expr;
use syn::spanned::Spanned;

/// Why an expression cannot be staged.
pub(super) fn expression(expression: &Expr) -> (Span, &'static str) {
    let text = match expression {
        Expr::Async(_) | Expr::Await(_) => {
            "async code in a kernel: a device does not wait; submit several kernels, which the queue orders"
        }
        Expr::Closure(_) => {
            "a closure as a value in a kernel: give it a name, `let f = |x| …`, or pass it to a #[device] function"
        }
        Expr::Const(_) => "a const block in a kernel: use a `const` item outside the kernel",
        Expr::Let(_) => {
            "`let` inside of an expression in a kernel: `let` belongs into the condition of `if` and `while`"
        }
        Expr::Range(_) => {
            "a range as a value in a kernel: ranges are for loops and parts of slices, `for i in 0..n`, `(0..n).rev()`, `&x[a..b]`"
        }
        Expr::RawAddr(_) => "a raw pointer in a kernel: use a reference or a slice",
        Expr::Try(_) => {
            "`?` in a kernel: a device has nobody to return an error to; use a default, or write a flag to a buffer"
        }
        Expr::TryBlock(_) => "a try block in a kernel: a device has nobody to return an error to",
        Expr::Yield(_) => "`yield` in a kernel: kernels have no generators; write a loop",
        Expr::Infer(_) => "`_` as a value in a kernel: name the value",
        _ => "this expression is not supported in kernels",
    };
    (expression.span(), text)
}

/// Why a literal cannot be staged.
pub(super) fn literal(literal: &syn::Lit) -> Option<&'static str> {
    match literal {
        syn::Lit::Str(_) | syn::Lit::CStr(_) => {
            Some("a string in a kernel: devices have no strings; pass bytes as `&[u8]`")
        }
        syn::Lit::ByteStr(_) => Some("a byte string in a kernel: write an array, `[1u8, 2]`"),
        _ => None,
    }
}

/// Why a macro cannot be staged.
pub(super) fn invocation(name: &str) -> String {
    match name {
        "println" | "print" | "eprintln" | "eprint" | "dbg" => {
            format!("`{name}!` in a kernel: write `sycl::print!`, with `\\n` at the end of a line")
        }
        "vec" | "format" => format!(
            "`{name}!` in a kernel: devices have no heap; use an array, or a buffer that is a parameter"
        ),
        _ => format!(
            "`{name}!` in a kernel: kernels have the macros assert!, assert_eq!, assert_ne!, debug_assert!, matches!, panic!, unreachable!, todo! and unimplemented! only"
        ),
    }
}

/// Why a function cannot be called, if its type is known not to be for kernels.
pub(super) fn owner(name: &str) -> Option<String> {
    let text = match name {
        "String" | "Vec" | "Box" | "HashMap" | "HashSet" | "BTreeMap" | "VecDeque" => {
            "devices have no heap; use an array, or a buffer that is a parameter"
        }
        "Rc" | "Arc" => "devices have no heap and no counted references; pass a slice",
        "Cell" | "RefCell" | "Mutex" | "RwLock" => {
            "devices have no locks and no cells; use `let mut`, or the functions of `sycl::atomic`"
        }
        "Result" => "kernels have `Option`, and no `Result`; return an `Option`, or a code",
        "Instant" | "SystemTime" | "Duration" => {
            "devices have no clock; ask the event of the submission for its times"
        }
        _ => return None,
    };
    Some(format!("`{name}` in a kernel: {text}"))
}
