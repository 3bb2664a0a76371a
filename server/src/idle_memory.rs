//! Gives memory back while the server has nothing to do: what the allocator keeps for later, and the program's own pages.
//!
//! The kernel maps the file of the program 64 kB around each touch, and takes nothing out again while there is room: after
//! a start, two thirds of the program count as this process's memory, for the sake of code that ran once. What is given back
//! stays in the kernel's cache and is mapped again when it is touched, at about a microsecond for 64 kB.

use std::{fs, ops::Range, path::Path, time::Duration};

use anyhow::{Context, Result};
use rustix::{
    mm::{Advice, madvise},
    time::{ClockId, clock_gettime},
};

const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Processor time between two looks: a server with less has nothing to do.
const IDLE_MAX: Duration = Duration::from_millis(10);

/// Processor time since pages were given back: with less there is nothing worth another time.
const USED_MIN: Duration = Duration::from_millis(2);

/// Looks now and then, for as long as the process lives.
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

/// Where the parts of the program's file are that nobody can write and nobody has written.
fn program_pages() -> Result<Vec<Range<usize>>> {
    let program = fs::read_link("/proc/self/exe").context("the program's file is not known")?;
    let mappings = fs::read_to_string("/proc/self/smaps").context("the kernel does not tell what is mapped")?;
    Ok(clean_mappings(&mappings, &program))
}

/// Of the kernel's list of mappings, those of this file that are not writable and hold no page of the process's own: what
/// the loader has written into is no copy of the file any more.
fn clean_mappings(smaps: &str, program: &Path) -> Vec<Range<usize>> {
    let mut clean: Vec<Range<usize>> = Vec::new();
    let mut candidate = None;
    for line in smaps.lines() {
        if let Some((name, size)) = line.split_once(':').filter(|(name, _)| !name.contains(' ')) {
            if name == "Anonymous" && size.trim() == "0 kB" {
                clean.extend(candidate.take());
            }
        } else {
            candidate = mapping_of(line, program);
        }
    }
    clean
}

/// `55d0a000-55d0b000 r-xp 00000000 08:01 1234   /usr/bin/yoi`, when it is a part of this file that nobody can write.
fn mapping_of(line: &str, program: &Path) -> Option<Range<usize>> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let is_clean = matches!(words.next()?, "r-xp" | "r--p");
    let is_program = Path::new(words.nth(3)?.trim()) == program;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    (is_clean && is_program).then_some(address(start)?..address(end)?)
}

/// Pages of the heap on which nothing stands any more, such as those of a database's cache that was let go of.
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
    // SAFETY: these are whole pages of a private mapping of a file, they cannot be written, and none of them has been: when
    // one is touched again, the kernel maps the same bytes of the file. A program's file cannot change while it runs.
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
        assert_eq!(clean_mappings(SMAPS, Path::new("/opt/a yoi")), [0x1000..0x3000, 0x3000..0x5000]);
    }

    /// kB of these pages that are mapped now.
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
        // All of the program is touched.
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
        // SAFETY: nothing of the pages changes.
        unsafe { madvise(std::ptr::with_exposed_provenance_mut(pages.start), pages.len(), Advice::LinuxPopulateRead) }
            .unwrap();
    }
}
