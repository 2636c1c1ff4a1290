//! Pointers that are null, where kernels do not compare them with null.

use super::{Arg, Case, case, changed, input, output, value};

const GROUPS: u32 = 3;
const SIZE: u32 = 16;
const ITEMS: i32 = (GROUPS * SIZE) as i32;

/// What `f` gives for each work-item.
fn each(f: impl Fn(i32) -> i32) -> Vec<i32> {
    (0..ITEMS).map(f).collect()
}

fn nulls(kernel: &str, args: Vec<Arg>) -> Case {
    case("nulls", kernel, GROUPS, SIZE, args)
}

pub(super) fn cases() -> Vec<Case> {
    let own = || each(|i| i);
    let out = |f: fn(i32) -> i32| output(&each(f));
    let all = |v: i32| output(&each(|_| v));
    // A sum over each group of what the weights are and one.
    let sums = |weight: i32| {
        let of_group = |group: i32| {
            let items = group * SIZE as i32..(group + 1) * SIZE as i32;
            items.map(|i| i * weight + 1).sum::<i32>()
        };
        let groups: Vec<i32> = (0..GROUPS as i32).map(of_group).collect();
        (each(|i| groups[(i / SIZE as i32) as usize]), groups)
    };
    let (plain, totals) = sums(1);
    let (weightless, ones) = sums(0);
    let room = || Arg::Local(SIZE * 4);
    let mut places = [0_u8; 32];
    places[0] = 11;
    vec![
        nulls("writes", vec![out(|i| i), Arg::Null]),
        nulls("writes", vec![Arg::Null, out(|i| i)]),
        nulls("writes", vec![Arg::Null, Arg::Null]),
        nulls("writes", vec![out(|i| i), out(|i| i)]),
        nulls("reads", vec![all(7), Arg::Null]),
        nulls("reads", vec![out(|i| i + 7), input(&own())]),
        nulls("counts", vec![all(3), Arg::Null]),
        nulls("counts", vec![Arg::Null, changed(&[5], &[5 + ITEMS])]),
        nulls("compares", vec![all(3), Arg::Null]),
        nulls("compares", vec![all(2), all(1)]),
        nulls("walks", vec![all(5), Arg::Null, value(ITEMS as u32 * 2)]),
        nulls("chases", vec![all(9), Arg::Null]),
        nulls(
            "copies",
            vec![output(&[0_i32; 20 * ITEMS as usize]), Arg::Null],
        ),
        nulls(
            "copies",
            vec![Arg::Null, input(&[4_i32; 20 * ITEMS as usize])],
        ),
        nulls(
            "sums",
            vec![output(&plain), input(&own()), output(&totals), room()],
        ),
        nulls(
            "sums",
            vec![output(&plain), input(&own()), Arg::Null, room()],
        ),
        nulls(
            "sums",
            vec![output(&weightless), Arg::Null, output(&ones), room()],
        ),
        nulls("sums", vec![Arg::Null, Arg::Null, output(&ones), room()]),
        case(
            "by_value",
            "fields",
            GROUPS,
            SIZE,
            vec![all(11), Arg::Value(places.to_vec())],
        ),
    ]
}
