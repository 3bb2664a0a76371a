//! The icons of the installed console: drawn here, so that no picture has to be kept in the repository.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// The sizes that phones and desktops ask for, in pixels.
const SIZES: [u32; 3] = [180, 192, 512];
/// The ground and the letter, as grey values.
const GROUND: f64 = 34.0;
const LETTER: f64 = 255.0;
/// The letter's strokes in a square of 16 by 16, and half of their width.
const STROKES: [[f64; 4]; 3] = [[4.5, 4.5, 8.0, 8.5], [8.0, 8.5, 8.0, 12.0], [11.5, 4.5, 8.0, 8.5]];
const HALF_WIDTH: f64 = 0.9;

/// Writes `icon-SIZE.png` for each size. The ground fills the square: whatever shows it cuts it to its own shape.
pub(crate) fn write(site: &Path) -> Result<()> {
    for size in SIZES {
        let path = site.join(format!("icon-{size}.png"));
        fs::write(&path, png(size, &drawn(size))).with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(())
}

/// One grey value for each pixel, row by row.
fn drawn(size: u32) -> Vec<u8> {
    let scale = 16.0 / f64::from(size);
    let pixel = |at: u32| {
        let (x, y) = (f64::from(at % size) + 0.5, f64::from(at / size) + 0.5);
        let away = STROKES.iter().map(|stroke| distance(x * scale, y * scale, *stroke)).fold(f64::MAX, f64::min);
        let covered = ((HALF_WIDTH - away) / scale + 0.5).clamp(0.0, 1.0);
        (GROUND + (LETTER - GROUND) * covered).round() as u8
    };
    (0..size * size).map(pixel).collect()
}

/// From a point to a line between two points.
fn distance(x: f64, y: f64, [from_x, from_y, to_x, to_y]: [f64; 4]) -> f64 {
    let (along_x, along_y) = (to_x - from_x, to_y - from_y);
    let part = ((x - from_x) * along_x + (y - from_y) * along_y) / (along_x * along_x + along_y * along_y);
    let part = part.clamp(0.0, 1.0);
    (x - from_x - part * along_x).hypot(y - from_y - part * along_y)
}

/// A grey picture without compression: the whole file is compressed later, like all others.
fn png(size: u32, grey: &[u8]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(grey.len() + size as usize);
    for row in grey.chunks(size as usize) {
        rows.push(0);
        rows.extend_from_slice(row);
    }
    let mut head = [size.to_be_bytes(), size.to_be_bytes()].concat();
    // Eight bits of grey for each pixel.
    head.extend([8, 0, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &head);
    chunk(&mut file, *b"IDAT", &stored(&rows));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend_from_slice(content);
    let sum = crc(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// In the form of zlib, with blocks that are stored as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let count = bytes.len().div_ceil(0xffff);
    for (number, block) in bytes.chunks(0xffff).enumerate() {
        out.push(u8::from(number + 1 == count));
        let len = block.len() as u16;
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    let (one, other) = bytes.iter().fold((1u32, 0u32), |(one, other), byte| {
        let one = (one + u32::from(*byte)) % 65_521;
        (one, (other + one) % 65_521)
    });
    out.extend((other << 16 | one).to_be_bytes());
    out
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}
