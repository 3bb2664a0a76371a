//! The simulated disk as a VFS of SQLite (<https://www.sqlite.org/vfs.html>): each call is counted, may fail, is passed
//! on to SQLite's own VFS for Unix, and is noted in the file's image.
//!
//! A sync is only noted: the real file system need not wait for anything.

#![expect(unsafe_code, reason = "SQLite calls a VFS through C functions over raw pointers")]

use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int, c_void},
    fs, mem,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    ptr, slice,
};

use libsqlite3_sys::*;

use super::{Disk, Failure, Op};

/// From the Julian epoch, from which SQLite counts, to that of Unix, in ms.
const UNIX_EPOCH_MS: i64 = 210_866_760_000_000;
const DAY_MS: f64 = 86_400_000.0;

/// What SQLite holds for an open file. The real VFS's own part follows right behind it.
#[repr(C)]
struct Handle {
    base: sqlite3_file,
    open: *mut Open,
}

struct Open {
    disk: &'static Disk,
    /// `None` for temporary files, which no power loss concerns.
    path: Option<PathBuf>,
}

/// Without memory-mapped pages, which would pass the disk by.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

pub(super) fn register(disk: &'static Disk) {
    let real = real_vfs();
    assert!(!real.is_null(), "SQLite has no VFS for Unix here");
    let name = CString::new(disk.name()).expect("the name of a disk has no NUL").into_raw();
    // SAFETY: `real` is SQLite's own, which lives as long as the process; name, VFS and disk are never freed.
    let done = unsafe {
        let vfs = Box::new(sqlite3_vfs {
            iVersion: 2,
            szOsFile: mem::size_of::<Handle>() as c_int + (*real).szOsFile,
            mxPathname: (*real).mxPathname,
            pNext: ptr::null_mut(),
            zName: name,
            pAppData: ptr::from_ref(disk).cast_mut().cast(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: Some(get_last_error),
            xCurrentTimeInt64: Some(current_time_ms),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        });
        sqlite3_vfs_register(Box::into_raw(vfs), 0)
    };
    assert_eq!(done, SQLITE_OK, "SQLite takes the VFS");
}

fn real_vfs() -> *mut sqlite3_vfs {
    // SAFETY: the name is a C string.
    unsafe { sqlite3_vfs_find(c"unix".as_ptr()) }
}

impl Failure {
    fn code(self, op: Op) -> c_int {
        match (op, self) {
            (Op::Write, Self::Full | Self::ShortWrite) => SQLITE_FULL,
            (Op::Open, _) => SQLITE_CANTOPEN,
            (Op::Read, _) => SQLITE_IOERR_READ,
            (Op::Write, _) => SQLITE_IOERR_WRITE,
            (Op::Sync, _) => SQLITE_IOERR_FSYNC,
            (Op::Truncate, _) => SQLITE_IOERR_TRUNCATE,
            (Op::Delete, _) => SQLITE_IOERR_DELETE,
            (Op::Change, _) => SQLITE_IOERR,
        }
    }
}

/// Calls a method of the real file behind a handle.
macro_rules! pass {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        let real = real_file($file);
        match (*(*real).pMethods).$method {
            Some(method) => method(real $(, $argument)*),
            None => SQLITE_IOERR,
        }
    }};
}

/// Calls a method of the real VFS.
macro_rules! pass_vfs {
    ($method:ident $(, $argument:expr)*) => {{
        let real = real_vfs();
        match (*real).$method {
            Some(method) => method(real $(, $argument)*),
            None => SQLITE_ERROR,
        }
    }};
}

/// # Safety
/// `file` was given to [`open`], which SQLite guarantees.
unsafe fn real_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes, which has room for both parts.
    unsafe { file.cast::<Handle>().add(1).cast() }
}

/// # Safety
/// `file` is open.
unsafe fn open_of<'a>(file: *mut sqlite3_file) -> &'a Open {
    // SAFETY: `open` has put it there, and only `close` frees it.
    unsafe { &*(*file.cast::<Handle>()).open }
}

/// # Safety
/// `vfs` was registered by [`register`].
unsafe fn disk_of(vfs: *mut sqlite3_vfs) -> &'static Disk {
    // SAFETY: `register` has put it there, and it is never freed.
    unsafe { &*(*vfs).pAppData.cast::<Disk>() }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are those of SQLite's contract for xOpen.
    unsafe {
        // Without methods SQLite does not close what could not be opened.
        (*file).pMethods = ptr::null();
        let (disk, path) = (disk_of(vfs), path_of(name));
        let mut state = disk.state();
        let flags = match state.call(Op::Open) {
            Ok(()) => flags,
            Err(Failure::ReadOnly) => flags & !(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY,
            Err(failure) => return failure.code(Op::Open),
        };
        let known = path.as_deref().filter(|path| !state.is_open(path));
        let found = known.and_then(|path| fs::read(path).ok());
        let real = real_file(file);
        let done = pass_vfs!(xOpen, name, real, flags, flags_out);
        if done != SQLITE_OK {
            if !(*real).pMethods.is_null() {
                pass!(file, xClose);
            }
            return done;
        }
        if let Some(path) = &path {
            state.opened(path, found);
        }
        let handle = file.cast::<Handle>();
        (*handle).open = Box::into_raw(Box::new(Open { disk, path }));
        (*handle).base.pMethods = &METHODS;
        SQLITE_OK
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: the file is open, and is not used after this.
    unsafe {
        let done = pass!(file, xClose);
        let open = Box::from_raw((*file.cast::<Handle>()).open);
        if let Some(path) = &open.path {
            open.disk.state().closed(path);
            open.disk.closed.notify_all();
        }
        done
    }
}

unsafe extern "C" fn read(file: *mut sqlite3_file, data: *mut c_void, amount: c_int, at: sqlite3_int64) -> c_int {
    // SAFETY: the arguments are those of SQLite's contract for xRead.
    unsafe {
        if let Err(failure) = open_of(file).disk.state().call(Op::Read) {
            return failure.code(Op::Read);
        }
        pass!(file, xRead, data, amount, at)
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, data: *const c_void, amount: c_int, at: sqlite3_int64) -> c_int {
    // SAFETY: the arguments are those of SQLite's contract for xWrite: `data` has `amount` bytes.
    unsafe {
        let open = open_of(file);
        let mut state = open.disk.state();
        let (written, answer) = match state.call(Op::Write) {
            Ok(()) => (amount, SQLITE_OK),
            Err(failure @ Failure::ShortWrite) => (amount / 2, failure.code(Op::Write)),
            Err(failure) => return failure.code(Op::Write),
        };
        if written > 0 {
            let done = pass!(file, xWrite, data, written, at);
            if done != SQLITE_OK {
                return done;
            }
            if let Some(image) = state.image(open.path.as_deref()) {
                image.write(at as usize, slice::from_raw_parts(data.cast(), written as usize));
            }
        }
        answer
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: the file is open.
    unsafe {
        let open = open_of(file);
        let mut state = open.disk.state();
        if let Err(failure) = state.call(Op::Truncate) {
            return failure.code(Op::Truncate);
        }
        let done = pass!(file, xTruncate, size);
        if done == SQLITE_OK
            && let Some(image) = state.image(open.path.as_deref())
        {
            image.truncate(size as usize);
        }
        done
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is open.
    let open = unsafe { open_of(file) };
    let mut state = open.disk.state();
    match state.call(Op::Sync) {
        Ok(()) => {
            state.synced(open.path.as_deref());
            SQLITE_OK
        }
        Err(failure) => {
            if let Some(image) = state.image(open.path.as_deref()).filter(|_| failure != Failure::PowerCut) {
                image.sync_failed();
            }
            failure.code(Op::Sync)
        }
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: the arguments are those of SQLite's contract for xDelete.
    unsafe {
        let (disk, path) = (disk_of(vfs), path_of(name));
        let mut state = disk.state();
        if let Err(failure) = state.call(Op::Delete) {
            return failure.code(Op::Delete);
        }
        let done = pass_vfs!(xDelete, name, sync_folder);
        if done == SQLITE_OK
            && let Some(image) = state.image(path.as_deref())
        {
            image.delete(sync_folder != 0);
        }
        done
    }
}

// The rest is passed on as it is. SAFETY, of all: the arguments are those of SQLite's contract for the method.

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    unsafe { pass!(file, xFileSize, size) }
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    unsafe { pass!(file, xLock, level) }
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    unsafe { pass!(file, xUnlock, level) }
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, is_held: *mut c_int) -> c_int {
    unsafe { pass!(file, xCheckReservedLock, is_held) }
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, argument: *mut c_void) -> c_int {
    unsafe { pass!(file, xFileControl, op, argument) }
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    unsafe { pass!(file, xSectorSize) }
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    unsafe { pass!(file, xDeviceCharacteristics) }
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    mapped: *mut *mut c_void,
) -> c_int {
    unsafe { pass!(file, xShmMap, page, size, extend, mapped) }
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    unsafe { pass!(file, xShmLock, offset, count, flags) }
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    unsafe {
        let real = real_file(file);
        if let Some(barrier) = (*(*real).pMethods).xShmBarrier {
            barrier(real);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    unsafe { pass!(file, xShmUnmap, delete) }
}

unsafe extern "C" fn access(_: *mut sqlite3_vfs, name: *const c_char, flags: c_int, result: *mut c_int) -> c_int {
    unsafe { pass_vfs!(xAccess, name, flags, result) }
}

unsafe extern "C" fn full_pathname(_: *mut sqlite3_vfs, name: *const c_char, size: c_int, out: *mut c_char) -> c_int {
    unsafe { pass_vfs!(xFullPathname, name, size, out) }
}

unsafe extern "C" fn get_last_error(_: *mut sqlite3_vfs, size: c_int, out: *mut c_char) -> c_int {
    unsafe { pass_vfs!(xGetLastError, size, out) }
}

unsafe extern "C" fn randomness(vfs: *mut sqlite3_vfs, size: c_int, out: *mut c_char) -> c_int {
    unsafe {
        match disk_of(vfs).world().fill {
            Some(fill) => {
                fill(slice::from_raw_parts_mut(out.cast(), size as usize));
                size
            }
            None => pass_vfs!(xRandomness, size, out),
        }
    }
}

unsafe extern "C" fn sleep(vfs: *mut sqlite3_vfs, us: c_int) -> c_int {
    unsafe {
        match disk_of(vfs).world().sleep {
            Some(sleep) => {
                sleep(us.unsigned_abs().into());
                us
            }
            None => pass_vfs!(xSleep, us),
        }
    }
}

unsafe extern "C" fn current_time(vfs: *mut sqlite3_vfs, days: *mut f64) -> c_int {
    unsafe {
        match disk_of(vfs).world().now {
            Some(now) => {
                *days = (now() + UNIX_EPOCH_MS) as f64 / DAY_MS;
                SQLITE_OK
            }
            None => pass_vfs!(xCurrentTime, days),
        }
    }
}

unsafe extern "C" fn current_time_ms(vfs: *mut sqlite3_vfs, ms: *mut sqlite3_int64) -> c_int {
    unsafe {
        match disk_of(vfs).world().now {
            Some(now) => {
                *ms = now() + UNIX_EPOCH_MS;
                SQLITE_OK
            }
            None => pass_vfs!(xCurrentTimeInt64, ms),
        }
    }
}
