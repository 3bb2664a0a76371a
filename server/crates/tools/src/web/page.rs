//! Turns a response body into text: read up to a limit, decoded, and made readable.

use encoding_rs::{Encoding, UTF_8};
use reqwest::{Response, Url, header::CONTENT_TYPE};

use super::{failure::Failure, fetch::host, html};

/// The most bytes read of a body, after decompression.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Where a page declares its encoding, if it does.
const META_BYTES: usize = 1024;

/// What was fetched.
#[derive(Debug)]
pub(super) struct Page {
    /// As sent by the server, without parameters.
    pub(super) kind: String,
    pub(super) bytes: usize,
    /// There was more than was read.
    pub(super) is_cut: bool,
    pub(super) text: String,
}

/// How a body is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Plain,
    /// Nothing was declared: text if it looks like text.
    Unknown,
    Binary,
}

/// The caller can use at most `chars_max` characters.
pub(super) async fn read(mut response: Response, url: &Url, chars_max: usize) -> Result<Page, Failure> {
    let said = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("").to_owned();
    let kind = said.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let not_text = |size: String| {
        let kind = if kind.is_empty() { "data of no named type".to_owned() } else { kind.clone() };
        Err(Failure::NotText { host: host(url).to_owned(), kind, size })
    };
    let form = form(&kind);
    if form == Form::Binary {
        return not_text(response.content_length().map_or("of unknown size".to_owned(), size));
    }
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(piece) = response.chunk().await.map_err(|error| Failure::of(url, error))? {
        let room = BODY_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        is_cut = piece.len() > room;
        if is_cut {
            break;
        }
    }
    let bytes = body.len();
    if form == Form::Unknown && (body.contains(&0) || std::str::from_utf8(&body).is_err()) {
        return not_text(size(bytes as u64));
    }
    let base = url.clone();
    let readable = tokio::task::spawn_blocking(move || readable(&body, &said, form, &base, chars_max));
    let text = readable.await.map_err(|_| Failure::NoAnswer {
        host: host(url).to_owned(),
        why: "its page could not be turned into text".to_owned(),
    })?;
    Ok(Page { kind, bytes, is_cut, text })
}

fn form(kind: &str) -> Form {
    let (family, rest) = kind.split_once('/').unwrap_or((kind, ""));
    match (family, rest) {
        ("", _) => Form::Unknown,
        ("text", "html") | ("application", "xhtml+xml") => Form::Html,
        ("text", _) => Form::Plain,
        (
            "application",
            "json" | "xml" | "javascript" | "yaml" | "x-yaml" | "toml" | "x-sh" | "graphql" | "x-ndjson",
        ) => Form::Plain,
        _ if rest.ends_with("+json") || rest.ends_with("+xml") || rest.ends_with("+yaml") => Form::Plain,
        _ => Form::Binary,
    }
}

fn readable(body: &[u8], said: &str, form: Form, base: &Url, chars_max: usize) -> String {
    let (text, _, _) = encoding(body, said, form).decode(body);
    let text = if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.into_owned() };
    let text = text.trim_start_matches('\u{feff}');
    match form {
        Form::Html => html::text(text, base, chars_max),
        Form::Plain | Form::Unknown | Form::Binary => text.to_owned(),
    }
}

/// The server's declaration, otherwise the page's, otherwise UTF-8. A byte order mark overrides all of them.
fn encoding(body: &[u8], said: &str, form: Form) -> &'static Encoding {
    let head = String::from_utf8_lossy(&body[..body.len().min(META_BYTES)]);
    let by_page = || if form == Form::Html { charset(&head) } else { None };
    charset(said).or_else(by_page).unwrap_or(UTF_8)
}

/// The encoding after the first `charset=`.
fn charset(text: &str) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let label = text.split_once("charset=")?.1.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter));
    Encoding::for_label(&label.as_bytes()[..end.unwrap_or(label.len())])
}

/// For example `34 kB`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
