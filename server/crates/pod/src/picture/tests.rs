use super::*;

const SECRET: &[u8] = b"48.8584 N 2.2945 E";

fn chunk(name: &[u8], held: &[u8]) -> Vec<u8> {
    let length = u32::try_from(held.len()).unwrap().to_be_bytes();
    [&length[..], name, held, &[0; 4]].concat()
}

fn png() -> Vec<u8> {
    let parts = [
        chunk(b"IHDR", &[0; 13]),
        chunk(b"tEXt", SECRET),
        chunk(b"eXIf", SECRET),
        chunk(b"IDAT", b"looks"),
        chunk(b"IEND", b""),
    ];
    [b"\x89PNG\r\n\x1a\n".as_slice(), &parts.concat(), SECRET].concat()
}

fn riff(name: &[u8], held: &[u8]) -> Vec<u8> {
    let padding: &[u8] = if held.len() % 2 == 1 { &[0] } else { &[] };
    [name, &u32::try_from(held.len()).unwrap().to_le_bytes(), held, padding].concat()
}

fn webp() -> Vec<u8> {
    let chunks = [riff(b"VP8X", &[0x1c; 10]), riff(b"VP8 ", b"looks"), riff(b"EXIF", SECRET), riff(b"XMP ", SECRET)];
    let held = [b"WEBP".as_slice(), &chunks.concat()].concat();
    [b"RIFF".as_slice(), &u32::try_from(held.len()).unwrap().to_le_bytes(), &held, SECRET].concat()
}

fn gif() -> Vec<u8> {
    let comment = [&[0x21, 0xfe, u8::try_from(SECRET.len()).unwrap()], SECRET, &[0]].concat();
    let motion = [b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0".as_slice()].concat();
    let other = [b"\x21\xff\x0bXMP DataXMP".as_slice(), &comment[2..]].concat();
    let picture = b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x05looks\0".as_slice();
    let head = [b"GIF89a\x01\0\x01\0\x80\0\0".as_slice(), &[7; 6]].concat();
    [&head, &comment[..], &motion, &other, picture, b"\x3b", SECRET].concat()
}

fn segment(marker: u8, held: &[u8]) -> Vec<u8> {
    let length = u16::try_from(held.len() + 2).unwrap().to_be_bytes();
    [&[0xff, marker], &length[..], held].concat()
}

fn exif(orientation: u8) -> Vec<u8> {
    let head = b"Exif\0\0II*\0\x08\0\0\0\x02\0\x00\x01\x03\0\x01\0\0\0\x09\0\0\0\x12\x01\x03\0\x01\0\0\0";
    segment(0xe1, &[head.as_slice(), &[orientation, 0, 0, 0], SECRET].concat())
}

fn jpeg(orientation: u8) -> Vec<u8> {
    let parts = [
        segment(0xe0, b"JFIF\0\x01\x01"),
        exif(orientation),
        segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0".as_slice(), SECRET].concat()),
        segment(0xe2, b"ICC_PROFILE\0colours"),
        segment(0xe2, &[b"MPF\0".as_slice(), SECRET].concat()),
        segment(0xed, SECRET),
        segment(0xfe, SECRET),
        segment(0xda, b"scan"),
        b"looks\xff\0\xff\xd0looks".to_vec(),
        segment(0xc4, b"\xff\xd9 in a table"),
        segment(0xda, b"scan"),
        b"looks\xff\xd9".to_vec(),
    ];
    [b"\xff\xd8".as_slice(), &parts.concat(), b"\xff\xd8 a second picture", SECRET].concat()
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn a_picture_keeps_how_it_looks_and_nothing_that_tells_a_place() {
    for (kind, bytes) in [
        (PictureKind::Png, png()),
        (PictureKind::Webp, webp()),
        (PictureKind::Gif, gif()),
        (PictureKind::Jpeg, jpeg(1)),
        (PictureKind::Jpeg, jpeg(6)),
    ] {
        assert_eq!(PictureKind::of(&bytes), Some(kind));
        let bare = kind.bare(&bytes).unwrap();
        assert!(has(&bytes, SECRET) && !has(&bare, SECRET), "{kind:?}");
        assert!(has(&bare, b"looks"), "{kind:?}");
        assert_eq!(kind.bare(&bare), Some(bare.clone()), "{kind:?}: done again, it stays the same");
        assert_eq!(PictureKind::of(&bare), Some(kind));
    }
}

#[test]
fn a_turned_picture_stays_turned_and_its_colours_stay() {
    let bare = PictureKind::Jpeg.bare(&jpeg(6)).unwrap();
    let notes = bare.windows(6).position(|window| window == b"Exif\0\0").unwrap();
    assert_eq!(super::jpeg::bare(&bare).unwrap().len(), bare.len());
    assert_eq!(bare[notes + 25], 6);
    assert!(has(&bare, b"ICC_PROFILE\0colours") && has(&bare, b"\xff\xd9 in a table"));
    assert!(bare.ends_with(b"looks\xff\xd9"));
    assert!(!has(&PictureKind::Jpeg.bare(&jpeg(1)).unwrap(), b"Exif"));
}

#[test]
fn what_says_that_it_shows_notes_says_so_no_more() {
    let bare = PictureKind::Webp.bare(&webp()).unwrap();
    let at = bare.windows(4).position(|window| window == b"VP8X").unwrap() + 8;
    assert_eq!(bare[at], 0x10);
    assert_eq!(u32::from_le_bytes(bare[4..8].try_into().unwrap()) as usize, bare.len() - 8);
}

#[test]
fn what_is_cut_off_or_no_picture_is_told() {
    for (kind, bytes) in [(PictureKind::Png, png()), (PictureKind::Webp, webp()), (PictureKind::Gif, gif())] {
        let whole = bytes.len() - SECRET.len();
        assert!((0..whole).all(|cut| kind.bare(&bytes[..cut]).is_none()), "{kind:?}");
    }
    let jpeg = jpeg(1);
    assert!((0..jpeg.len()).all(|cut| PictureKind::Jpeg.bare(&jpeg[..cut]).is_none_or(|bare| !has(&bare, SECRET))));
    for other in [b"".as_slice(), b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", b"GIF", b"%PDF-1.7", b"RIFF....WAVE"]
    {
        assert_eq!(PictureKind::of(other), None);
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        for (kind, head) in [
            (PictureKind::Png, b"\x89PNG\r\n\x1a\n".as_slice()),
            (PictureKind::Jpeg, b"\xff\xd8\xff"),
            (PictureKind::Gif, b"GIF89a"),
            (PictureKind::Webp, b"RIFF"),
        ] {
            let bare = kind.bare(&[head, &bytes].concat());
            proptest::prop_assert!(bare.is_none_or(|bare| bare.len() <= head.len() + bytes.len() + 37));
        }
    }
}
