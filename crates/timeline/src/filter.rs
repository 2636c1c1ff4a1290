//! Filters of names: patterns with `*` and `?`, separated by commas; a leading `-` excludes.

/// A list of patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    only: Vec<String>,
    never: Vec<String>,
}

impl Filter {
    /// Reads patterns. Nothing shows everything.
    #[must_use]
    pub fn new(patterns: &str) -> Self {
        let mut filter = Self::default();
        let words = patterns.split(',').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            match word.strip_prefix('-') {
                Some(rest) => filter.never.push(rest.to_owned()),
                None => filter.only.push(word.to_owned()),
            }
        }
        filter
    }

    /// Whether a name is shown.
    #[must_use]
    pub fn shows(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        (self.only.is_empty() || any(&self.only)) && !any(&self.never)
    }
}

/// Glob matching without backtracking beyond the last star: linear but for one factor.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    p = after;
                    n = from + 1;
                    star = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_names() {
        let cases = [
            ("", "zeInit", true),
            ("ze*", "zeInit", true),
            ("ze*", "urInit", false),
            ("*Copy*,*Launch*", "zeCommandListAppendMemoryCopy", true),
            ("-ur*", "urEventWait", false),
            ("-ur*", "zeInit", true),
            ("ze*,-*Query*", "zeEventQueryStatus", false),
            ("ze?nit", "zeInit", true),
            ("a*b*c", "axxbxxbxc", true),
            ("a*b*c", "axxbxxbx", false),
        ];
        for (patterns, name, expected) in cases {
            assert_eq!(
                Filter::new(patterns).shows(name),
                expected,
                "{patterns} on {name}"
            );
        }
    }
}
