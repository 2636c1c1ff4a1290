//! Constructs that kernels do not have.
use sycl::{item, kernel};

#[kernel]
fn question_mark(x: &[u32], y: &mut [u32]) {
    y[0] = *x.get(0)?;
}
#[kernel]
fn string(y: &mut [u32]) {
    let s = String::new();
}
#[kernel]
fn boxed(y: &mut [u32]) {
    let s = Box::new(1);
}
#[kernel]
fn vector(y: &mut [u32]) {
    let s = vec![1, 2];
}
#[kernel]
fn growing(y: &mut [u32]) {
    let s = Vec::<u32>::new();
}
#[kernel]
fn text(y: &mut [u32]) {
    let s = "text";
}
#[kernel]
fn byte_text(y: &mut [u32]) {
    let s = b"text";
}
#[kernel]
fn printing(y: &mut [u32]) {
    println!("{}", y[0]);
}
#[kernel]
fn formatting(y: &mut [u32]) {
    format!("{}", y[0]);
}
#[kernel]
fn unknown_macro(y: &mut [u32]) {
    stringify!(a);
}
#[kernel]
unsafe fn unsafe_kernel(y: &mut [u32]) {}
#[kernel]
async fn async_kernel(y: &mut [u32]) {}
#[kernel]
extern "C" fn foreign(y: &mut [u32]) {}
#[kernel]
fn returns(y: &mut [u32]) -> u32 {
    y[0]
}
#[kernel]
fn reference(y: &u32) {}
#[kernel]
fn lifetime<'a>(y: &'a mut [u32]) {}
#[kernel]
fn closure(y: &mut [u32]) {
    let f = (|x: u32| x + 1, 2);
}
#[kernel]
fn iterator(y: &mut [f32]) {
    for x in y.split(|x| *x > 2.0) {}
}
#[kernel]
fn endless_range(y: &mut [f32]) {
    for i in 0.. {}
}
#[kernel]
fn range_value(y: &mut [f32]) {
    let r = 0..3;
}
#[kernel]
fn by_ref(y: &mut [f32]) {
    let ref a = y[0];
}
#[kernel]
fn inner_function(y: &mut [i32]) {
    fn helper() {}
}
#[kernel]
fn raw_pointer(y: &mut [i32]) {
    let p = &raw const y[0];
}
#[kernel]
fn awaits(y: &mut [i32]) {
    y.await;
}
#[kernel]
fn lock(y: &mut [i32]) {
    let m = Mutex::new(1);
}
#[kernel]
fn clock(y: &mut [i32]) {
    let m = std::time::Instant::now();
}
#[kernel]
fn number_function(y: &mut [u32]) {
    y[0] = u32::from_str_radix(1, 2);
}
#[kernel]
fn call_of_variable(f: u32, y: &mut [u32]) {
    y[0] = f(1);
}
#[kernel(fast)]
fn with_argument(y: &mut [u32]) {}
#[kernel]
fn result(y: &mut [u32]) {
    let r = Ok(1);
}
#[kernel]
fn closure_parameter(f: impl Fn(u32) -> u32, y: &mut [u32]) {}
#[kernel]
fn async_closure(y: &mut [u32]) {
    let f = async |x: u32| x;
}
#[kernel]
fn slice_pattern(y: &mut [u32]) {
    let [a, rest @ ..] = [1u32, 2, 3];
}
#[kernel]
fn function_value(y: &mut [u32]) {
    let f = |x: u32| x;
    let g = [f];
}
#[derive(Clone, Copy, sycl::Device)]
enum Never {}
#[derive(Clone, Copy, sycl::Device)]
union Either {
    a: u32,
}
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Mixed<A, B> {
    a: A,
    b: B,
}
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Empty;
#[sycl::device]
struct Marked(u32);
#[derive(PartialEq, PartialOrd, Eq)]
struct Ordered;
#[sycl::device]
impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}
struct Point;
impl Point {
    #[kernel]
    fn method(&self, y: &mut [u32]) {}
}
