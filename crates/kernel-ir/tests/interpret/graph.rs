//! Random kernels in the text form whose blocks jump anywhere.

use std::fmt::Write as _;

use super::ingredients::Random;

/// A kernel of blocks that jump anywhere, cycles with many entries included. Its variables lie in
/// private memory, its steps are counted. With `uniform` all work-items go the same way, and meet.
pub(crate) fn graph(seed: u64, uniform: bool) -> String {
    let mut random = Random::new(seed ^ 0x6a09_e667);
    let mut out = String::from(
        "var @tile: [64 x i32] in local
kernel @k(%in: ptr<global>, %out: ptr<global>, %counters: ptr<global>, %n: i32) {
b0:
  %steps: ptr<private> = alloca 4 align 4
  %dice: ptr<private> = alloca 4 align 4
  %v0: ptr<private> = alloca 4 align 4
  %v1: ptr<private> = alloca 4 align 4
  %v2: ptr<private> = alloca 4 align 4
  %gid: i64 = wi.GlobalInvocationId 0
  %lid: i64 = wi.LocalInvocationId 0
  %size: i64 = wi.WorkgroupSize 0
  %g32: i32 = to.trunc %gid
  %base: ptr<global> = offset %out [%gid * 80 + 0]
  store %steps, i32 0 align 4
  store %dice, %n align 4
  store %v0, %g32 align 4
  store %v1, %n align 4
  store %v2, i32 5 align 4
  br x0
",
    );
    let blocks = 3 + random.below(9);
    let mut names = 0;
    for block in 0..blocks {
        let _ = writeln!(out, "x{block}:");
        let mut line = |op: &str| {
            names += 1;
            let _ = writeln!(out, "  %t{names}{op}");
            format!("%t{names}")
        };
        let dice = line(": i32 = load %dice align 4");
        let scaled = line(&format!(": i32 = imul {dice}, i32 1103515245"));
        let next = line(&format!(": i32 = iadd {scaled}, i32 {}", 12345 + 2 * block));
        line(&format!(
            ": i32 = copy {next}\n  store %dice, {next} align 4"
        ));
        for _ in 0..random.below(3) {
            let (i, j, k) = (random.below(3), random.below(3), random.below(3));
            let a = line(&format!(": i32 = load %v{j} align 4"));
            let b = line(&format!(": i32 = load %v{k} align 4"));
            let op = random.pick(&["iadd", "xor", "imul", "isub", "smax"]);
            let c = line(&format!(": i32 = {op} {a}, {b}"));
            let c = line(&format!(": i32 = iadd {c}, i32 {}", block + 1));
            line(&format!(": i32 = copy {c}\n  store %v{i}, {c} align 4"));
        }
        if uniform && random.below(2) == 0 {
            let own = line(": i32 = load %v0 align 4");
            let at = line(": ptr<local> = offset @tile [%lid * 4 + 0]");
            line(&format!(
                ": i32 = copy {own}\n  barrier Workgroup\n  store {at}, {own} align 4\n  barrier Workgroup"
            ));
            let other = line(": i64 = iadd %lid, i64 3");
            let other = line(&format!(": i64 = urem {other}, %size"));
            let at = line(&format!(": ptr<local> = offset @tile [{other} * 4 + 0]"));
            let got = line(&format!(": i32 = load {at} align 4"));
            line(&format!(": i32 = copy {got}\n  store %v1, {got} align 4"));
        }
        let steps = line(": i32 = load %steps align 4");
        let more = line(&format!(": i32 = iadd {steps}, i32 1"));
        line(&format!(
            ": i32 = copy {more}\n  store %steps, {more} align 4"
        ));
        let stop = line(&format!(": bool = cmp.sgt {more}, i32 30"));
        let chosen = if uniform {
            line(&format!(": i32 = lshr {next}, i32 {}", 8 + random.below(8)))
        } else {
            let v = line(&format!(": i32 = load %v{} align 4", random.below(3)));
            line(&format!(": i32 = lshr {v}, i32 {}", random.below(4)))
        };
        let targets: Vec<String> = (0..3)
            .map(|_| format!("x{}", random.below(blocks)))
            .collect();
        let go = match random.below(3) {
            0 => format!("br {}", targets[0]),
            1 => {
                let bit = line(&format!(": i32 = and {chosen}, i32 1"));
                let cond = line(&format!(": bool = cmp.ine {bit}, i32 0"));
                format!("br_if {cond}, {}, {}", targets[0], targets[1])
            }
            _ => {
                let bits = line(&format!(": i32 = and {chosen}, i32 3"));
                format!(
                    "switch {bits}, {} [1: {}, 3: {}]",
                    targets[0], targets[1], targets[2]
                )
            }
        };
        line(&format!(
            ": i32 = copy {more}\n  br_if {stop}, end, y{block}\ny{block}:\n  {go}"
        ));
    }
    out.push_str("end:\n");
    for i in 0..3 {
        let _ = write!(
            out,
            "  %r{i}: i32 = load %v{i} align 4\n  %q{i}: ptr<global> = offset %base [{}]\n  store %q{i}, %r{i} align 4\n",
            i * 8
        );
    }
    out.push_str("  ret\n}\n");
    out
}
