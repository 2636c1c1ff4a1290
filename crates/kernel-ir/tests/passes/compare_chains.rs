//! Chains of comparisons that become switches.

use super::whole::prepared;
use kernel_ir::print;

/// A chain of comparisons of `%v`; each case leads to the join `j` with a number of its own.
fn chain(numbers: &[u32], between: &str) -> String {
    let mut text = String::from(
        "kernel @k(%p: ptr<global>) {
         e:
           %v: i32 = load %p align 4
           br c0
",
    );
    for (k, number) in numbers.iter().enumerate() {
        text += &format!(
            "c{k}:
               %is{k}: bool = cmp.ieq %v, i32 {number}
               {between}
               br_if %is{k}, t{k}, c{}
             t{k}:
               store %p, i32 {} align 4 volatile
               br j
            ",
            k + 1,
            100 + k
        );
    }
    text += &format!("c{}:\n br j\n j:\n %to: i32 = phi ", numbers.len());
    for k in 0..numbers.len() {
        text += &format!("t{k}: i32 {}, ", 200 + k);
    }
    text += &format!(
        "c{}: i32 300\n store %p, %to align 4\n ret\n }}",
        numbers.len()
    );
    print(&prepared(&text))
}

#[test]
fn chains_become_switches() {
    let after = chain(&[3, 5, 7], "");
    assert!(after.contains("switch %"), "{after}");
    for case in ["3: ", "5: ", "7: "] {
        assert!(after.contains(case), "{after}");
    }
    assert!(!after.contains("cmp."), "{after}");
}

#[test]
fn other_chains_stay() {
    for (numbers, between) in [
        // Too short.
        (&[3, 5][..], ""),
        // The second test of a number never succeeds.
        (&[3, 5, 3], ""),
        // Work between the comparisons.
        (&[3, 5, 7], "store %p, %v align 4 volatile"),
    ] {
        let after = chain(numbers, between);
        assert!(!after.contains("switch"), "{after}");
    }
}

#[test]
fn targets_that_see_which_comparison_led_there_keep_the_chain() {
    let of = |second: u32| {
        print(&prepared(&format!(
            "kernel @k(%p: ptr<global>) {{
             e:
               %v: i32 = load %p align 4
               %a: bool = cmp.ieq %v, i32 1
               br_if %a, j, c1
             c1:
               %b: bool = cmp.ieq %v, i32 2
               br_if %b, j, c2
             c2:
               %c: bool = cmp.ine %v, i32 3
               br_if %c, d, j
             d:
               store %p, i32 4 align 4 volatile
               br j
             j:
               %to: i32 = phi e: i32 7, c1: i32 {second}, c2: i32 7, d: i32 9
               store %p, %to align 4
               ret
             }}"
        )))
    };
    let same = of(7);
    assert!(same.contains("switch"), "{same}");
    let other = of(8);
    assert!(!other.contains("switch"), "{other}");
}
