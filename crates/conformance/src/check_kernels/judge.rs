//! Whether the findings of a checker are what a file's marks say.

use super::{KernelFile, Mark, Role};

/// A finding, as far as marks know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Its stable name.
    pub kind: String,
    /// The lines of this file among the frames of `access`.
    pub access: Vec<usize>,
    /// The same of `other`.
    pub other: Vec<usize>,
}

/// Kinds whose findings have two sides, both of which must be named.
const TWO_SIDES: [&str; 8] = [
    "race-work-items",
    "race-groups",
    "race-commands",
    "race-host",
    "same-value-write",
    "atomic-scope",
    "mixed-atomic",
    "lock-step",
];

impl Found {
    fn touches(&self, line: usize) -> bool {
        self.access.contains(&line) || self.other.contains(&line)
    }

    fn joins(&self, one: usize, two: usize) -> bool {
        let in_order = |a: usize, b: usize| self.access.contains(&a) && self.other.contains(&b);
        in_order(one, two) || in_order(two, one)
    }

    fn one_of(&self, kinds: &[String]) -> bool {
        kinds.contains(&self.kind)
    }
}

impl KernelFile {
    /// What is wrong with the findings of a run of this file; nothing: they are what the marks say.
    #[must_use]
    pub fn judge(&self, findings: &[Found]) -> Vec<String> {
        let mut wrong = Vec::new();
        for kinds in &self.expect {
            if !findings.iter().any(|found| found.one_of(kinds)) {
                wrong.push(format!("expected and not found: {}", kinds.join("|")));
            }
        }
        for mark in &self.marks {
            if let Role::Must(kinds) = &mark.role {
                wrong.extend(self.missed(mark.line, kinds, findings));
            }
        }
        for found in findings {
            if !self.is_expected(found) {
                wrong.push(format!(
                    "unexpected: {} at {:?}, other side {:?}",
                    found.kind, found.access, found.other
                ));
            }
        }
        wrong
    }

    /// As [`Self::judge`], of a module without lines: only the kinds count.
    #[must_use]
    pub fn judge_kinds(&self, findings: &[Found]) -> Vec<String> {
        let mut kinds_only = self.clone();
        for mark in &self.marks {
            if let Role::Must(kinds) = &mark.role {
                kinds_only.expect.push(kinds.clone());
            }
        }
        kinds_only
            .marks
            .retain(|mark| !matches!(mark.role, Role::Must(_)));
        kinds_only.judge(findings)
    }

    /// The lines of the marks `//~^other` that belong to the mark on `line`.
    fn others(&self, line: usize) -> Vec<usize> {
        let others = self
            .marks
            .iter()
            .filter(|mark| mark.role == Role::Other(line));
        others.map(|mark| mark.line).collect()
    }

    fn missed(&self, line: usize, kinds: &[String], findings: &[Found]) -> Option<String> {
        let others = self.others(line);
        let fulfils = |found: &&Found| {
            if others.is_empty() {
                found.touches(line)
            } else if TWO_SIDES.contains(&found.kind.as_str()) {
                others.iter().any(|&other| found.joins(line, other))
            } else {
                found.touches(line) || others.iter().any(|&other| found.touches(other))
            }
        };
        let of_kind: Vec<_> = findings
            .iter()
            .filter(|found| found.one_of(kinds))
            .collect();
        if of_kind.iter().any(fulfils) {
            return None;
        }
        let kinds = kinds.join("|");
        Some(if of_kind.is_empty() {
            format!("line {line}: not found: {kinds}")
        } else if others.is_empty() {
            format!("line {line}: {kinds} was found, but not at this line")
        } else {
            format!(
                "line {line}: {kinds} was found, but not between this line and one of {others:?}"
            )
        })
    }

    fn is_expected(&self, found: &Found) -> bool {
        if self.expect.iter().any(|kinds| found.one_of(kinds)) || self.follows_from_a_race(found) {
            return true;
        }
        let allowed = |mark: &&Mark| self.allows(mark, found);
        let lines: Vec<_> = self
            .marks
            .iter()
            .filter(allowed)
            .map(|mark| mark.line)
            .collect();
        let side = |side: &[usize]| side.is_empty() || side.iter().any(|line| lines.contains(line));
        !lines.is_empty() && side(&found.access) && side(&found.other)
    }

    /// Whether the mark allows a finding of this kind at its line.
    fn allows(&self, mark: &Mark, found: &Found) -> bool {
        match &mark.role {
            Role::Must(kinds) | Role::May(kinds) => found.one_of(kinds),
            Role::Other(line) => self.marks.iter().any(|above| {
                above.line == *line
                    && matches!(&above.role, Role::Must(kinds) if found.one_of(kinds))
            }),
        }
    }

    /// Who reads before the other side has written reads what nobody wrote.
    fn follows_from_a_race(&self, found: &Found) -> bool {
        let race = |kind: &String| TWO_SIDES.contains(&kind.as_str());
        found.kind == "uninitialised-value"
            && self
                .marks
                .iter()
                .any(|mark| matches!(&mark.role, Role::Must(kinds) if kinds.iter().any(race)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACE: &str = "\
// run k global=64 local=64 args=buffer(i32,64)
kernel void k(global int *a) {
  a[0] = 1; //~ race-work-items|mixed-atomic
  a[1] = 2; //~^other
  a[2] = 3; //~^other
  a[3] = 4; //~? out-of-bounds
}
";
    const VALUE: &str = "\
// run k global=64 local=64 args=buffer(i32,64)
// expect: leak
kernel void k(global int *a) {
  int b = a[0]; //~ uninitialised-value
  a[1] = b; //~^other
  a[2] = 1; //~ out-of-bounds
}
";

    fn found(kind: &str, access: &[usize], other: &[usize]) -> Found {
        Found {
            kind: kind.to_owned(),
            access: access.to_vec(),
            other: other.to_vec(),
        }
    }

    fn judged(text: &str, findings: &[Found]) -> String {
        let file: KernelFile = text.parse().expect("good");
        file.judge(findings).join("; ")
    }

    #[test]
    fn a_race_names_both_lines_in_any_order() {
        let good: &[&[Found]] = &[
            &[found("race-work-items", &[3], &[4])],
            &[found("mixed-atomic", &[5], &[3])],
            &[
                found("race-work-items", &[3], &[4]),
                found("race-work-items", &[4], &[5]),
                found("out-of-bounds", &[6], &[]),
                found("uninitialised-value", &[9], &[]),
                found("race-work-items", &[], &[]),
            ],
            // A function that was inlined: the caller's line is a frame, too.
            &[found("race-work-items", &[20, 3], &[4, 21])],
        ];
        for findings in good {
            assert_eq!(judged(RACE, findings), "", "{findings:?}");
        }
        let bad: &[(&[Found], &str)] = &[
            (&[], "line 3: not found: race-work-items|mixed-atomic"),
            (&[found("race-work-items", &[3], &[])], "not between"),
            (&[found("race-work-items", &[4], &[5])], "not between"),
            (&[found("race-groups", &[3], &[4])], "not found"),
        ];
        for (findings, part) in bad {
            let told = judged(RACE, findings);
            assert!(told.contains(part), "{findings:?}: {told}");
        }
        let right = found("race-work-items", &[3], &[4]);
        for more in [
            found("race-work-items", &[3], &[7]),
            found("out-of-bounds", &[3], &[]),
            found("leak", &[], &[]),
        ] {
            let told = judged(RACE, &[right.clone(), more.clone()]);
            assert!(told.starts_with("unexpected"), "{more:?}: {told}");
        }
    }

    #[test]
    fn without_lines_kinds_are_compared() {
        let file: KernelFile = RACE.parse().expect("good");
        let race = found("race-work-items", &[], &[]);
        let bounds = found("out-of-bounds", &[], &[]);
        let cases: [(&[Found], &str); 3] = [
            (&[race.clone(), bounds.clone()], ""),
            (
                &[bounds],
                "expected and not found: race-work-items|mixed-atomic",
            ),
            (
                &[race, found("leak", &[], &[])],
                "unexpected: leak at [], other side []",
            ),
        ];
        for (findings, expected) in cases {
            assert_eq!(file.judge_kinds(findings).join("; "), expected);
        }
    }

    #[test]
    fn other_kinds_name_one_of_the_lines() {
        let leak = found("leak", &[], &[]);
        let bounds = found("out-of-bounds", &[6], &[]);
        for line in [4, 5] {
            let value = found("uninitialised-value", &[line], &[]);
            assert_eq!(judged(VALUE, &[leak.clone(), bounds.clone(), value]), "");
        }
        let value = found("uninitialised-value", &[6], &[]);
        let told = judged(VALUE, &[leak.clone(), bounds.clone(), value]);
        assert!(
            told.contains("line 4") && told.contains("unexpected"),
            "{told}"
        );
        let told = judged(VALUE, &[bounds, found("uninitialised-value", &[4], &[])]);
        assert_eq!(told, "expected and not found: leak");
        let told = judged(VALUE, &[leak, found("out-of-bounds", &[5], &[])]);
        assert!(
            told.contains("line 6: out-of-bounds was found, but not at"),
            "{told}"
        );
    }
}
