//! For fuzz targets, which bolero runs: the corpus of a crate, and structured inputs made from bytes.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

/// Runs a target on each file in `tests/corpus/NAME` of the crate in this folder (`env!("CARGO_MANIFEST_DIR")`). A
/// file that it fails on is named.
pub fn corpus(crate_folder: &str, name: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(crate_folder).join("tests/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.expect("a folder can be listed").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    for path in paths {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&bytes))) {
            eprintln!("the target {name} failed on {}", path.display());
            resume_unwind(panic);
        }
    }
}

/// Choices made by the bytes of an input, from its beginning; once they are used up, always the first.
#[derive(Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// True once all bytes are used.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// A number from 0 up to, and without, this one.
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % end.max(1)
    }

    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn pick<'b, T: ?Sized>(&mut self, from: &[&'b T]) -> &'b T {
        from[self.below(from.len())]
    }

    /// Some of these, joined; at most this many.
    pub fn text(&mut self, pieces: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(pieces)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_make_the_same_choices_and_too_few_bytes_are_enough() {
        let made = |bytes: &[u8]| {
            let mut choices = Choices::of(bytes);
            (choices.below(10), choices.flag(), choices.pick(&["a", "b"]), choices.text(&["x", "y"], 3))
        };
        assert_eq!(made(&[17, 1, 3, 2, 0, 1]), (7, true, "b", "xy".to_owned()));
        assert_eq!(made(&[]), (0, false, "a", String::new()));
    }
}
