//! Adds up the results that the test binaries print.

/// Totals over all binaries so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Count {
    /// Adds lines like `test result: ok. 4 passed; 1 failed; 0 ignored; …`; ignores all others.
    pub(crate) fn add_line(&mut self, line: &str) {
        let Some((_, numbers)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for part in numbers.split("; ") {
            match part.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => (),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn results_of_several_binaries_add_up_and_other_lines_do_not_count() {
        let mut count = Count::default();
        for line in [
            "running 5 tests",
            "test count::tests::a ... ok",
            "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s",
            "",
            "test result: FAILED. 10 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "say test result: ok. 99 passed; 99 failed;",
        ] {
            count.add_line(line);
        }
        assert_eq!(count, Count { passed: 14, failed: 3 });
    }
}
