//! Which tests of a program failed, and what they said, by what the program printed.

/// How many lines of what a failed test said are kept for the summary: its message, and the beginning of a backtrace.
const LINES_MAX: usize = 16;

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The program, as the output calls it.
    pub(crate) program: String,
    /// The test's name; `None` if the program ended before it could say which.
    pub(crate) test: Option<String>,
    /// The first lines of what it said.
    pub(crate) said: String,
}

impl Failure {
    /// The failures in the output of a program, in the order of their reports.
    pub(crate) fn all(program: &str, output: &str) -> Vec<Self> {
        let mut failures: Vec<Self> = Vec::new();
        let mut lines_left = 0;
        for line in output.lines() {
            if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
                failures.push(Self { program: program.to_owned(), test: Some(test.to_owned()), said: String::new() });
                lines_left = LINES_MAX;
            } else if line == "failures:" {
                lines_left = 0;
            } else if lines_left > 0
                && !line.is_empty()
                && let Some(failure) = failures.last_mut()
            {
                failure.said.push_str(line);
                failure.said.push('\n');
                lines_left -= 1;
            }
        }
        failures
    }

    /// One that could not be told from the others of its program, with the last lines of the program's output.
    pub(crate) fn of_program(program: &str, output: &str) -> Self {
        let lines: Vec<&str> = output.lines().collect();
        let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
        Self { program: program.to_owned(), test: None, said: last.iter().map(|line| format!("{line}\n")).collect() }
    }

    /// Prints it for the summary.
    pub(crate) fn print(&self, how: &str) {
        println!("\n    {how}: {}  {}", self.program, self.test.as_deref().unwrap_or("(the whole program)"));
        for line in self.said.lines() {
            println!("      {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, LINES_MAX};

    const OUTPUT: &str = "\nrunning 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... FAILED\n\nfailures:\n\n\
        ---- b stdout ----\n\nthread 'b' panicked at x.rs:1:1:\nit broke\n\n---- c stdout ----\nit broke, too\n\n\n\
        failures:\n    b\n    c\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";

    #[test]
    fn failed_tests_are_named_with_what_they_said() {
        let failures = Failure::all("server/tests/day.rs", OUTPUT);
        let names: Vec<_> = failures.iter().map(|failure| failure.test.as_deref()).collect();
        assert_eq!(names, [Some("b"), Some("c")]);
        assert_eq!(failures[0].said, "thread 'b' panicked at x.rs:1:1:\nit broke\n");
        assert_eq!(failures[1].said, "it broke, too\n");
    }

    #[test]
    fn of_what_a_test_said_at_length_the_beginning_is_kept() {
        let long = format!("---- b stdout ----\n{}", "line\n".repeat(100));
        assert_eq!(Failure::all("a", &long)[0].said.lines().count(), LINES_MAX);
    }

    #[test]
    fn of_a_program_that_ended_without_a_word_the_last_lines_are_kept() {
        assert_eq!(Failure::all("a", "running 3 tests\nerror: it ended with signal: 9\n"), []);
        let failure = Failure::of_program("a", "running 3 tests\nerror: it ended with signal: 9\n");
        assert_eq!((failure.test, failure.said.lines().last()), (None, Some("error: it ended with signal: 9")));
    }
}
