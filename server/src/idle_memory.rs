//! Returns memory while the server has nothing to do: what the allocator keeps in reserve, and the program's own pages.
//!
//! The kernel maps 64 kB of the program's file around each access, and unmaps nothing while there is room: after a
//! start, two thirds of the program count as this process's memory because of code that ran once. What is returned
//! stays in the kernel's cache and is mapped again on access, at about a microsecond per 64 kB.

use std::{fs, ops::Range, path::Path, time::Duration};

use anyhow::{Context, Result};
use rustix::{
    mm::{Advice, madvise},
    time::{ClockId, clock_gettime},
};

const LOOK_EVERY: Duration = Duration::from_secs(10);

/// A server that uses less processor time than this between two looks is idle.
const IDLE_MAX: Duration = Duration::from_millis(10);

/// If less processor time has been used since pages were last returned, it is not worth doing again.
const USED_MIN: Duration = Duration::from_millis(2);

/// Checks periodically, for as long as the process lives.
pub(crate) async fn give_back_while_idle() {
    let pages = match program_pages() {
        Ok(pages) => pages,
        Err(error) => return tracing::debug!(%error, "memory is not given back"),
    };
    let (mut looked, mut given) = (processor_time(), Duration::ZERO);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = processor_time();
        let is_idle = now.saturating_sub(looked) < IDLE_MAX;
        if is_idle && now.saturating_sub(given) >= USED_MIN {
            give_back_freed();
            pages.iter().for_each(give_back);
            given = processor_time();
        }
        looked = now;
    }
}

fn processor_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// The parts of this program that are not writable and have never been written.
fn program_pages() -> Result<Vec<Range<usize>>> {
    let program = fs::read_link("/proc/self/exe").context("the program's file is not known")?;
    let mappings = fs::read_to_string("/proc/self/smaps").context("the kernel does not tell what is mapped")?;
    Ok(clean_mappings(&mappings, &program, program_pages as fn() -> _ as usize))
}

/// A mapped part of the program's file.
#[derive(Debug)]
struct Part {
    pages: Range<usize>,
    is_writable: bool,
    /// No page is private: pages that the loader has written to no longer match the file.
    is_clean: bool,
}

/// From the kernel's list of mappings, those of the program itself that are not writable and match the file. The
/// program is the contiguous run of mappings around its own code at `own`, which stays as long as the process. Code
/// that maps the file again, as printing a backtrace does, may unmap it later, and then something else may be at that
/// address.
fn clean_mappings(smaps: &str, program: &Path, own: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_part = false;
    for line in smaps.lines() {
        match (line.split_once(':').filter(|(name, _)| !name.contains(' ')), parts.last_mut()) {
            (Some(("Anonymous", size)), Some(part)) if is_part => part.is_clean = size.trim() == "0 kB",
            (Some(_), _) => (),
            (None, _) => {
                let part = part_of(line, program);
                is_part = part.is_some();
                parts.extend(part);
            }
        }
    }
    let mut runs = parts.chunk_by(|before, after| before.pages.end == after.pages.start);
    let image = runs.find(|run| run.iter().any(|part| part.pages.contains(&own))).unwrap_or_default();
    image.iter().filter(|part| part.is_clean && !part.is_writable).map(|part| part.pages.clone()).collect()
}

/// Parses `55d0a000-55d0b000 r-xp 00000000 08:01 1234   /usr/bin/yoi`, if it is a private mapping of this file.
fn part_of(line: &str, program: &Path) -> Option<Part> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let is_program = rights.ends_with('p') && Path::new(words.nth(3)?.trim()) == program;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    let pages = address(start)?..address(end)?;
    is_program.then_some(Part { pages, is_writable: !matches!(rights, "r-xp" | "r--p"), is_clean: false })
}

/// Returns unused heap pages, such as those of a database cache that was freed.
#[allow(unsafe_code, reason = "only the C library has it")]
fn give_back_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called at any time from any thread, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[allow(unsafe_code, reason = "there is no safe way to say which pages are not needed")]
fn give_back(pages: &Range<usize>) {
    // SAFETY: these are whole pages of the program itself, so nothing else is ever at these addresses. They are not
    // writable, and none had been written to when they were looked up, so the kernel's cache has the same bytes and
    // maps them again on access. A change of the file would be visible without this as well; a file that is replaced
    // stays mapped as it was. What a debugger has written reverts to the program's own bytes.
    let given =
        unsafe { madvise(std::ptr::with_exposed_provenance_mut(pages.start), pages.len(), Advice::LinuxDontNeed) };
    if let Err(error) = given {
        tracing::debug!(%error, "the kernel keeps the program's pages");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
1000-3000 r--p 00000000 08:01 7                          /opt/a yoi
Rss:                   8 kB
Anonymous:             0 kB
3000-5000 r-xp 00002000 08:01 7                          /opt/a yoi
Anonymous:             0 kB
VmFlags: rd ex mr mw me
5000-6000 r--p 00004000 08:01 7                          /opt/a yoi
Anonymous:             4 kB
6000-7000 rw-p 00005000 08:01 7                          /opt/a yoi
Anonymous:             0 kB
7000-8000 r-xp 00000000 08:01 9                          /lib/libc.so.6
Anonymous:             0 kB
8000-9000 rw-p 00000000 00:00 0
Anonymous:             0 kB
";

    #[test]
    fn what_the_loader_wrote_or_anybody_could_write_is_kept() {
        for own in [0x1000, 0x3abc, 0x6fff] {
            assert_eq!(clean_mappings(SMAPS, Path::new("/opt/a yoi"), own), [0x1000..0x3000, 0x3000..0x5000]);
        }
        assert!(clean_mappings(SMAPS, Path::new("/opt/a yoi"), 0x7000).is_empty());
    }

    #[test]
    fn where_the_file_is_mapped_once_more_something_else_may_stand_later_and_is_kept() {
        // As during a backtrace.
        let twice = format!("{SMAPS}9000-b000 r--p 00000000 08:01 7   /opt/a yoi\nAnonymous:   0 kB\n");
        assert_eq!(clean_mappings(&twice, Path::new("/opt/a yoi"), 0x4000), [0x1000..0x3000, 0x3000..0x5000]);
    }

    #[test]
    fn a_list_that_cannot_be_read_names_nothing() {
        for smaps in ["", "1000-3000", "1000-3000 r-xp 00000000 08:01 7   /opt/a yoi", "Anonymous: 0 kB"] {
            assert!(clean_mappings(smaps, Path::new("/opt/a yoi"), 0x1000).is_empty(), "{smaps}");
        }
    }

    /// How many kB of these pages are mapped now.
    fn mapped_kb(pages: &[Range<usize>]) -> usize {
        let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_ours = false;
        let mut kb = 0;
        for line in smaps.lines() {
            match line.split_once(':').filter(|(name, _)| !name.contains(' ')) {
                Some(("Rss", size)) if is_ours => kb += size.trim().trim_end_matches(" kB").parse::<usize>().unwrap(),
                Some(_) => (),
                None => is_ours = pages.iter().any(|pages| line.starts_with(&format!("{:x}-", pages.start))),
            }
        }
        kb
    }

    #[test]
    fn a_process_that_gave_its_pages_back_goes_on_with_fewer() {
        let pages = program_pages().unwrap();
        assert!(!pages.is_empty());
        // Touches the whole program.
        for pages in &pages {
            madvise_willneed(pages);
        }
        let before = mapped_kb(&pages);
        pages.iter().for_each(give_back);
        let after = mapped_kb(&pages);
        assert!(after < before, "{before} kB, then {after} kB");
        assert_eq!(format!("{:?}", (1..4).map(|n| n * 2).collect::<Vec<_>>()), "[2, 4, 6]");
    }

    #[allow(unsafe_code, reason = "as above")]
    fn madvise_willneed(pages: &Range<usize>) {
        // SAFETY: this does not change the pages' contents.
        unsafe { madvise(std::ptr::with_exposed_provenance_mut(pages.start), pages.len(), Advice::LinuxPopulateRead) }
            .unwrap();
    }
}
