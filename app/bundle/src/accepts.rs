//! Which encodings a client accepts: brotli, gzip, or neither.

/// Parsed from a request's `Accept-Encoding`. The default accepts only uncompressed bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepts {
    pub brotli: bool,
    pub gzip: bool,
}

impl Accepts {
    /// Parses the header's value. `*` covers every encoding not named; a weight of zero refuses. Other weights are
    /// not compared: the client gets the smallest encoding that it accepts.
    pub fn parse(header: &str) -> Self {
        let (mut brotli, mut gzip, mut any) = (None, None, false);
        for entry in header.split(',') {
            let mut parts = entry.split(';').map(str::trim);
            let coding = parts.next().unwrap_or_default();
            let taken = !parts.any(is_zero_weight);
            if coding.eq_ignore_ascii_case("br") {
                brotli = Some(taken);
            } else if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
                gzip = Some(taken);
            } else if coding == "*" {
                any = taken;
            }
        }
        Self { brotli: brotli.unwrap_or(any), gzip: gzip.unwrap_or(any) }
    }

    /// The accepted encoding with the smallest result; `None` for the uncompressed bytes.
    pub(crate) fn smallest(self) -> Option<&'static str> {
        match (self.brotli, self.gzip) {
            (true, _) => Some("br"),
            (false, true) => Some("gzip"),
            (false, false) => None,
        }
    }
}

fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::Accepts;

    #[test]
    fn the_header_of_each_kind_of_client_is_read_right() {
        let both = Accepts { brotli: true, gzip: true };
        let gzip = Accepts { brotli: false, gzip: true };
        let table = [
            ("gzip, deflate, br, zstd", both),
            ("gzip, deflate", gzip),
            ("GZIP;q=0.5", gzip),
            ("br;q=0, gzip", gzip),
            ("*", both),
            ("*, br; q=0.000", gzip),
            ("*;q=0", Accepts::default()),
            ("identity", Accepts::default()),
            ("", Accepts::default()),
            ("brotli, gzipped", Accepts::default()),
        ];
        for (header, expected) in table {
            assert_eq!(Accepts::parse(header), expected, "{header:?}");
        }
    }
}
