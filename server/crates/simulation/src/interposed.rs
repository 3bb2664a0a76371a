//! The clock and the randomness of a thread that simulates.
//!
//! Programs that link this crate get both from here instead of from libc: on a thread that has [`begin`]-ed they follow
//! from the seed and from [`set_time`], on every other one they are the system's. So whoever asks, gets the seed's answer:
//! the standard library's clocks and hash maps, `jiff`, `uuid`, `getrandom`, tokio's `select!`.

#![expect(unsafe_code, reason = "these are libc's functions, by their names")]

use std::{cell::Cell, ffi::c_void, time::Duration};

use crate::Chance;

/// When each simulated day begins: 1 January 2026, in seconds since 1970.
const MORNING_SECONDS: u64 = 1_767_225_600;
/// By how much each look at a clock moves it, so that whoever waits by looking comes to an end.
const LOOK_NANOS: u64 = 50;

thread_local! {
    /// The state of the generator; `None` where the system's randomness and clock count.
    static RANDOM: Cell<Option<u64>> = const { Cell::new(None) };
    /// Since the morning.
    static NANOS: Cell<u64> = const { Cell::new(0) };
}

/// From now on this thread's clock and randomness follow from the seed.
pub fn begin(seed: u64) {
    RANDOM.set(Some(seed));
}

/// Sets this thread's clocks, if they are not ahead already.
pub fn set_time(since_morning: Duration) {
    let nanos = u64::try_from(since_morning.as_nanos()).unwrap_or(u64::MAX);
    NANOS.set(NANOS.get().max(nanos));
}

/// Fills `buffer` by the seed. False on a thread that does not simulate.
fn fill(buffer: &mut [u8]) -> bool {
    let Some(state) = RANDOM.get() else { return false };
    let mut chance = Chance::of(state);
    for part in buffer.chunks_mut(8) {
        part.copy_from_slice(&chance.number().to_le_bytes()[..part.len()]);
    }
    // Libraries ask for nothing, once per process, to see whether they would be answered.
    if !buffer.is_empty() {
        RANDOM.set(Some(chance.number()));
    }
    true
}

/// # Safety
/// As for the system call: `buffer` has `length` bytes that may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize {
    // SAFETY: the caller promises the bytes; they need not be initialized to be overwritten, and zeroing makes them so.
    let bytes = unsafe {
        buffer.cast::<u8>().write_bytes(0, length);
        std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length)
    };
    if fill(bytes) {
        return isize::try_from(length).unwrap_or(isize::MAX);
    }
    // SAFETY: the caller's own arguments.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) };
    isize::try_from(got).unwrap_or(-1)
}

/// # Safety
/// As for the system call: `time` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    if RANDOM.get().is_none() || clock == libc::CLOCK_PROCESS_CPUTIME_ID || clock == libc::CLOCK_THREAD_CPUTIME_ID {
        // SAFETY: the caller's own arguments.
        let done = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
        return libc::c_int::try_from(done).unwrap_or(-1);
    }
    let nanos = NANOS.get() + LOOK_NANOS;
    NANOS.set(nanos);
    // Far enough from zero for whoever subtracts from a clock that counts from the start of the machine.
    let base =
        if clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_REALTIME_COARSE { MORNING_SECONDS } else { 1_000_000 };
    let seconds = base + nanos / 1_000_000_000;
    // SAFETY: the caller promises that `time` may be written.
    unsafe {
        time.write(libc::timespec {
            tv_sec: libc::time_t::try_from(seconds).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::try_from(nanos % 1_000_000_000).unwrap_or_default(),
        });
    }
    0
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, thread, time::SystemTime};

    use super::*;

    fn asked() -> (SystemTime, Vec<u32>, uuid::Uuid, String) {
        begin(7);
        set_time(Duration::from_secs(60));
        let map: HashMap<u32, ()> = (0..99).map(|key| (key, ())).collect();
        let now = SystemTime::now();
        (now, map.into_keys().collect(), uuid::Uuid::new_v4(), jiff::Timestamp::now().to_string())
    }

    #[test]
    fn clock_and_randomness_of_a_simulating_thread_are_the_seeds() {
        let once = thread::spawn(asked).join().unwrap();
        assert_eq!(once, thread::spawn(asked).join().unwrap());
        assert_eq!(&once.3[..16], "2026-01-01T00:01");
        let real = thread::spawn(|| (SystemTime::now(), uuid::Uuid::new_v4())).join().unwrap();
        assert!(real.0 > once.0 && real.1 != once.2);
    }
}
