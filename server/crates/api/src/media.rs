//! The media type of a body, from its `Content-Type`.

use axum::http::{HeaderMap, Uri, header};

/// The two kinds of bodies that are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// `application/json`.
    Json,
    /// `application/x-ndjson`: one JSON value per line.
    Lines,
}

impl Media {
    /// `None` for any other type, for several types at once, and for a charset other than UTF-8.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(header::CONTENT_TYPE).iter();
        let (Some(Ok(value)), None) = (values.next().map(|value| value.to_str()), values.next()) else { return None };
        let mut parts = value.split(';').map(str::trim);
        let media = match parts.next()?.to_ascii_lowercase().as_str() {
            "application/json" => Self::Json,
            "application/x-ndjson" => Self::Lines,
            _ => return None,
        };
        parts.filter(|part| !part.is_empty()).all(is_fitting).then_some(media)
    }

    /// Whether the body of an import is the file itself: lines, or JSON whose format is in the query.
    pub(crate) fn is_imported_file(headers: &HeaderMap, uri: &Uri) -> bool {
        let names_format = || uri.query().unwrap_or_default().split('&').any(|field| field.starts_with("format="));
        match Self::of(headers) {
            Some(Self::Lines) => true,
            Some(Self::Json) => names_format(),
            None => false,
        }
    }
}

/// Whether a parameter is compatible with UTF-8.
fn is_fitting(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_told_by_its_media_type() {
        let of = |value: &str| Media::of(&HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]));
        for good in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;"] {
            assert_eq!(of(good), Some(Media::Json), "{good}");
        }
        for good in ["application/x-ndjson", "application/x-ndjson; charset=\"UTF-8\""] {
            assert_eq!(of(good), Some(Media::Lines), "{good}");
        }
        for bad in
            ["", "text/plain", "application/jsonp", "text/plain; application/json", "application/json; charset=latin1"]
        {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(Media::of(&HeaderMap::new()), None);
    }

    #[test]
    fn an_import_is_a_file_if_it_is_lines_or_if_the_address_says_what_it_is() {
        let is_file = |kind: &str, uri: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]);
            Media::is_imported_file(&headers, &uri.parse().unwrap())
        };
        assert!(is_file("application/x-ndjson", "/api/v1/import?name=a"));
        assert!(is_file("application/json", "/api/v1/import?name=a&format=opencode"));
        for uri in ["/api/v1/import", "/api/v1/import?name=a", "/api/v1/import?name=format=x"] {
            assert!(!is_file("application/json", uri), "{uri}");
        }
        assert!(!is_file("text/plain", "/api/v1/import?format=claude"));
    }

    #[test]
    fn a_body_has_one_media_type() {
        let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, "application/json".parse().unwrap())]);
        headers.append(header::CONTENT_TYPE, "text/plain".parse().unwrap());
        assert_eq!(Media::of(&headers), None);
    }
}
