//! What a file is on the disk, as opposed to what programs read of it.
//!
//! Programs read what was written last. The disk has for certain what was synced. Of the rest it has, after a power
//! loss, what the file system happened to write out: whole pages or some of their sectors, in any order. Changes of
//! length and of the directory (created, deleted, truncated) reach it in their order; what is written into a file
//! after such a change does not reach it before.

use std::collections::BTreeMap;

/// What the kernel writes out as a whole, in bytes.
const PAGE: usize = 4096;
/// What a disk writes as a whole, in bytes.
const SECTOR: usize = 512;
/// How many states of a page are remembered between two syncs.
const VERSIONS_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Image {
    /// What is certainly on the disk; `None` if there is no file of this name.
    stored: Option<Vec<u8>>,
    /// What programs read.
    now: Option<Vec<u8>>,
    /// What was done since the last sync, in order.
    unsynced: Vec<Epoch>,
}

/// A change of length or of the directory, and what was written after it.
#[derive(Debug, Default)]
struct Epoch {
    start: Start,
    pages: BTreeMap<usize, Page>,
    /// Lengths that the file had during this epoch, in bytes.
    lengths: Vec<usize>,
}

#[derive(Debug, Default, Clone, Copy)]
enum Start {
    #[default]
    Writes,
    Created,
    Deleted,
    Truncated(usize),
}

/// A page's states since the last sync, oldest first.
#[derive(Debug, Default)]
struct Page {
    versions: Vec<Vec<u8>>,
    /// A sync of it failed: the kernel takes it for written and will not write it out again, unless a program writes
    /// it again.
    is_lost: bool,
}

impl Image {
    /// The file as somebody else left it: this counts as synced.
    pub(super) fn adopt(&mut self, found: Option<Vec<u8>>) {
        *self = Self { stored: found.clone(), now: found, unsynced: Vec::new() };
    }

    /// What programs read.
    pub(super) fn now(&self) -> Option<&[u8]> {
        self.now.as_deref()
    }

    pub(super) fn create(&mut self) {
        if self.now.is_none() {
            self.now = Some(Vec::new());
            self.unsynced.push(Epoch { start: Start::Created, ..Epoch::default() });
        }
    }

    /// `is_synced`: the folder was synced after it.
    pub(super) fn delete(&mut self, is_synced: bool) {
        if is_synced {
            return self.adopt(None);
        }
        if self.now.take().is_some() {
            self.unsynced.push(Epoch { start: Start::Deleted, ..Epoch::default() });
        }
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        let Some(now) = &mut self.now else { return };
        let end = at + bytes.len();
        if now.len() < end {
            now.resize(end, 0);
        }
        now[at..end].copy_from_slice(bytes);
        if self.unsynced.is_empty() {
            self.unsynced.push(Epoch::default());
        }
        let Some(epoch) = self.unsynced.last_mut() else { return };
        for number in at / PAGE..end.div_ceil(PAGE) {
            let page = epoch.pages.entry(number).or_default();
            if page.versions.len() == VERSIONS_MAX {
                page.versions.remove(0);
            }
            page.versions.push(page_of(now, number));
            page.is_lost = false;
        }
        if epoch.lengths.last() != Some(&now.len()) {
            epoch.lengths.push(now.len());
        }
    }

    pub(super) fn truncate(&mut self, length: usize) {
        let Some(now) = &mut self.now else { return };
        if now.len() != length {
            now.resize(length, 0);
            self.unsynced.push(Epoch { start: Start::Truncated(length), ..Epoch::default() });
        }
    }

    /// Everything is on the disk now, except pages that an earlier sync lost.
    pub(super) fn sync(&mut self) {
        let Some(now) = &self.now else { return };
        let epochs = std::mem::take(&mut self.unsynced);
        let before = self.stored.take().unwrap_or_default();
        // Only written pages are copied, if there is nothing but those.
        let is_plain = epochs.iter().all(|epoch| matches!(epoch.start, Start::Writes));
        let mut newest: BTreeMap<usize, Page> = BTreeMap::new();
        for epoch in epochs {
            newest.extend(epoch.pages);
        }
        newest.retain(|number, _| number * PAGE < now.len());
        let lost = newest.iter().filter(|(_, page)| page.is_lost);
        let lost: Vec<_> = lost.map(|(number, _)| (*number, page_of(&before, *number))).collect();
        let mut stored = if is_plain { before } else { now.clone() };
        newest.keys().for_each(|number| put_page(&mut stored, *number, &page_of(now, *number)));
        lost.iter().for_each(|(number, page)| put_page(&mut stored, *number, page));
        stored.resize(now.len(), 0);
        newest.retain(|_, page| page.is_lost);
        if !newest.is_empty() {
            self.unsynced.push(Epoch { pages: newest, ..Epoch::default() });
        }
        self.stored = Some(stored);
    }

    /// Whether nobody knows yet if the disk has the file's name.
    pub(super) fn is_new(&self) -> bool {
        self.unsynced.iter().any(|epoch| matches!(epoch.start, Start::Created))
    }

    /// The folder was synced: the disk knows whether there is a file of this name, and nothing new of its content.
    pub(super) fn folder_synced(&mut self) {
        let named = |epoch: &Epoch| matches!(epoch.start, Start::Created | Start::Deleted);
        let Some(last) = self.unsynced.iter().rposition(named) else { return };
        let is_there = matches!(self.unsynced[last].start, Start::Created);
        self.stored = is_there.then(Vec::new);
        self.unsynced.drain(..last);
        if is_there {
            self.unsynced[0].start = Start::Writes;
        } else {
            self.unsynced.clear();
        }
    }

    /// The sync failed, and the kernel drops what it could not write.
    pub(super) fn sync_failed(&mut self) {
        for page in self.unsynced.iter_mut().flat_map(|epoch| epoch.pages.values_mut()) {
            page.is_lost = true;
        }
    }

    /// What a reader finds when the power is back.
    pub(super) fn power_off(&mut self, seed: &mut dyn FnMut() -> u64) {
        let mut image = self.stored.clone();
        let epochs = match seed() % 2 {
            0 => self.unsynced.len(),
            _ => below(seed, self.unsynced.len() + 1),
        };
        for epoch in &self.unsynced[..epochs] {
            match epoch.start {
                Start::Writes => (),
                Start::Created => image = Some(Vec::new()),
                Start::Deleted => image = None,
                Start::Truncated(length) => {
                    if let Some(image) = &mut image {
                        image.resize(length, 0);
                    }
                }
            }
            if let Some(image) = &mut image {
                epoch.reach(image, seed);
            }
        }
        self.adopt(image);
    }
}

impl Epoch {
    /// Writes to the disk what the file system happened to write out.
    fn reach(&self, image: &mut Vec<u8>, seed: &mut dyn FnMut() -> u64) {
        let before = image.len();
        // Nothing of it, all of it, or anything between.
        let luck = seed() % 4;
        for (number, page) in &self.pages {
            let kept = match luck {
                0 => 0,
                1 => page.versions.len(),
                _ => below(seed, page.versions.len() + 1),
            };
            let old = page_of(image, *number);
            let version = |kept: usize| if kept == 0 { &old } else { &page.versions[kept - 1] };
            let mut content = version(kept).clone();
            if luck > 1 && seed().is_multiple_of(8) {
                let other = version(below(seed, page.versions.len() + 1));
                let mask = seed();
                for sector in (0..PAGE / SECTOR).filter(|sector| mask >> sector & 1 == 1) {
                    let bytes = sector * SECTOR..(sector + 1) * SECTOR;
                    content[bytes.clone()].copy_from_slice(&other[bytes]);
                }
            }
            put_page(image, *number, &content);
        }
        let length = match (luck, self.lengths.last()) {
            (0, _) | (_, None) => before,
            (1, Some(last)) => *last,
            _ => match below(seed, self.lengths.len() + 1) {
                0 => before,
                chosen => self.lengths[chosen - 1],
            },
        };
        image.resize(length, 0);
    }
}

fn below(seed: &mut dyn FnMut() -> u64, limit: usize) -> usize {
    (seed() % limit as u64) as usize
}

/// A whole page; what lies beyond the file's end is zeros.
fn page_of(bytes: &[u8], number: usize) -> Vec<u8> {
    let start = (number * PAGE).min(bytes.len());
    let end = (start + PAGE).min(bytes.len());
    let mut page = bytes[start..end].to_vec();
    page.resize(PAGE, 0);
    page
}

fn put_page(bytes: &mut Vec<u8>, number: usize, page: &[u8]) {
    let start = number * PAGE;
    if bytes.len() < start + PAGE {
        bytes.resize(start + PAGE, 0);
    }
    bytes[start..start + PAGE].copy_from_slice(page);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        }
    }

    fn after_power_loss(prepare: impl Fn(&mut Image)) -> Vec<Option<Vec<u8>>> {
        let mut found: Vec<_> = (0..500)
            .map(|seed| {
                let mut image = Image::default();
                prepare(&mut image);
                image.power_off(&mut numbers(seed));
                image.stored
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn what_was_synced_is_there_and_what_was_not_is_there_or_not() {
        let found = after_power_loss(|image| {
            image.create();
            image.write(0, b"one");
            image.sync();
            image.write(3, b"two");
        });
        let possible = [&b"one"[..], b"onetwo", b"one\0\0\0"].map(|bytes| Some(bytes.to_vec()));
        assert!(found.iter().all(|found| possible.contains(found)), "{found:?}");
        assert!(found.len() == 3, "{found:?}");
    }

    #[test]
    fn a_file_that_was_never_synced_may_be_missing() {
        let found = after_power_loss(|image| {
            image.create();
            image.write(0, b"one");
        });
        assert!(found.contains(&None) && found.contains(&Some(b"one".to_vec())), "{found:?}");
    }

    #[test]
    fn a_deletion_that_was_not_synced_may_not_have_happened() {
        let found = after_power_loss(|image| {
            image.adopt(Some(b"one".to_vec()));
            image.delete(false);
            image.create();
            image.write(0, b"two");
        });
        // The new file's bytes never stand in the old one.
        let possible = [&b""[..], b"one", b"two", b"\0\0\0"].map(|bytes| Some(bytes.to_vec()));
        assert!(found.iter().all(|found| found.is_none() || possible.contains(found)), "{found:?}");
        assert!(found.contains(&Some(b"one".to_vec())) && found.contains(&Some(b"two".to_vec())), "{found:?}");
    }

    #[test]
    fn a_deletion_before_a_sync_of_the_folder_has_happened() {
        let found = after_power_loss(|image| {
            image.adopt(Some(b"one".to_vec()));
            image.delete(false);
            image.folder_synced();
        });
        assert_eq!(found, [None]);
    }

    #[test]
    fn what_a_failed_sync_lost_comes_to_the_disk_only_if_it_is_written_again() {
        let lost = |image: &mut Image| {
            image.adopt(Some(vec![1; PAGE * 2]));
            image.write(0, &[2; PAGE * 2]);
            image.sync_failed();
            image.write(PAGE, &[3; 10]);
            image.sync();
        };
        let found = after_power_loss(lost);
        assert!(found.len() > 1, "the first page is still in doubt");
        let second = [vec![3; 10], vec![2; PAGE - 10]].concat();
        assert!(found.iter().flatten().all(|found| found[PAGE..] == second), "the second was written again");
        let found = after_power_loss(|image| {
            lost(image);
            image.write(0, &[2; 1]);
            image.sync();
        });
        assert_eq!(found, [Some([vec![2; PAGE], second.clone()].concat())]);
    }

    #[test]
    fn a_page_may_be_torn_between_its_sectors() {
        let found = after_power_loss(|image| {
            image.adopt(Some(vec![1; PAGE]));
            image.write(0, &[2; PAGE]);
        });
        let torn = |found: &Vec<u8>| found.chunks(SECTOR).all(|sector| sector == [1; SECTOR] || sector == [2; SECTOR]);
        assert!(found.iter().flatten().all(torn) && found.len() > 2);
    }
}
