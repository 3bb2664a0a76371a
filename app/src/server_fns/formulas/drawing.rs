//! From TeX to MathML, within limits: the texts are untrusted, and the library that reads them is not ours.

use std::thread;

use protocol::{ApiError, ErrorCode};
use pulldown_latex::{Parser, RenderConfig, Storage, config::DisplayMode, push_mathml};
use transcript::{markup::Formula, unseen};

use super::{FORMULAS_MAX, clean::clean};

/// A longer formula is not drawn, in bytes.
const TEX_BYTES_MAX: usize = 4 * 1024;
/// The most open brackets of a formula that is drawn.
const DEPTH_MAX: usize = 64;
/// What a formula is drawn on, in bytes. The library recurses, for each root in a root and each script of a script, so
/// the longest formula has to fit; only what is used is ever backed by memory.
const STACK_BYTES: usize = 512 << 20;
/// Longer MathML is not drawn, in bytes.
const DRAWN_BYTES_MAX: usize = 256 * 1024;
/// What would let a short formula stand for an endless one.
const DEFINITIONS: [&str; 8] =
    ["\\def", "\\gdef", "\\edef", "\\xdef", "\\let", "\\futurelet", "\\newcommand", "\\renewcommand"];

/// Draws each of them on a blocking thread.
pub(super) async fn draw_all(formulas: Vec<Formula>) -> Result<Vec<String>, ApiError> {
    if formulas.len() > FORMULAS_MAX {
        return Err(ApiError::invalid(format!("at most {FORMULAS_MAX} formulas are drawn at once")));
    }
    let drawing = move || formulas.iter().map(|formula| draw(formula).unwrap_or_default()).collect();
    let drawn = tokio::task::spawn_blocking(drawing).await;
    drawn.map_err(|_| ApiError::new(ErrorCode::Internal, "the formulas could not be drawn"))
}

/// A formula as MathML; `None` if it is wrong, too long, or defines something.
pub(crate) fn draw(formula: &Formula) -> Option<String> {
    let tex = unseen::shown(formula.tex()).into_owned();
    let is_fit = tex.len() <= TEX_BYTES_MAX && depth(&tex) <= DEPTH_MAX;
    if !is_fit || DEFINITIONS.iter().any(|definition| tex.contains(definition)) {
        return None;
    }
    let is_display = formula.is_display;
    // A library that gives up must not take the other formulas with it, nor the server.
    let drawing = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || mathml(&tex, is_display));
    let drawn = drawing.ok()?.join().ok()??;
    if drawn.len() > DRAWN_BYTES_MAX { None } else { clean(&drawn) }
}

fn mathml(tex: &str, is_display: bool) -> Option<String> {
    let storage = Storage::new();
    let events = Parser::new(tex, &storage).collect::<Result<Vec<_>, _>>().ok()?;
    let display_mode = if is_display { DisplayMode::Block } else { DisplayMode::Inline };
    let mut drawn = String::new();
    let events = events.into_iter().map(Ok::<_, std::io::Error>);
    push_mathml(&mut drawn, events, RenderConfig { display_mode, ..RenderConfig::default() }).ok()?;
    Some(drawn)
}

/// How deep the brackets are at most.
fn depth(tex: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for letter in tex.bytes() {
        match letter {
            b'{' | b'[' | b'(' => open += 1,
            b'}' | b']' | b')' => open = open.saturating_sub(1),
            _ => (),
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(source: &str) -> Option<String> {
        draw(&Formula { source: source.to_owned(), is_display: source.starts_with("$$") })
    }

    #[test]
    fn a_formula_is_drawn_and_nothing_but_mathml_is_in_it() {
        let fraction = drawn(r"$\frac{a_1}{\sqrt{2}}$").unwrap();
        assert!(fraction.starts_with("<math") && fraction.ends_with("</math>"), "{fraction}");
        assert!(fraction.contains("<mfrac>") && fraction.contains("<msqrt>"), "{fraction}");
        assert!(drawn("$$x$$").unwrap().contains("display=\"block\""));
        for tex in [
            r"$\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$",
            r"$\int_0^\infty e^{-x^2}\,dx$",
            r"$$\begin{aligned} a &= b \\ c &= d \end{aligned}$$",
            r"$$\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$$",
            r"$\mathbb{R} \to \mathcal{O}(n \log n)$",
            r"\(x < y \land \text{if } a & b\)",
            r"$\color{red} x$",
            r"$\href{javascript:alert(1)}{x}$",
            r"$\text{<script>alert(1)</script>}$",
            r#"$\class{x" onclick="alert(1)}{x}$"#,
        ] {
            let Some(html) = drawn(tex) else { continue };
            for bad in ["<script", "onclick", "style=", "href", "javascript:", "<a", "<merror", "<img"] {
                let is_text = bad == "javascript:" || bad == "onclick" || bad == "href";
                let within = if is_text { format!("{bad}=") } else { bad.to_owned() };
                assert!(!html.contains(&within), "{tex}: {html}");
            }
        }
        assert!(drawn(r"$\text{a<b}$").unwrap().contains("a&lt;b"));
    }

    #[test]
    fn what_is_wrong_endless_or_too_long_is_not_drawn() {
        for tex in [
            r"$\frac{a}$",
            r"$\nosuchcommand$",
            r"${$",
            r"$\def\a{x}\a$",
            r"$\newcommand{\a}{x}\a$",
            r"$\begin{matrix} a$",
        ] {
            assert_eq!(drawn(tex), None, "{tex}");
        }
        assert_eq!(drawn(&format!("${}$", "x".repeat(TEX_BYTES_MAX + 1))), None);
        assert_eq!(drawn(&format!("${}x{}$", "{".repeat(100), "}".repeat(100))), None);
    }

    #[test]
    fn no_formula_breaks_the_server() {
        for piece in
            [r"\sqrt", r"\left(", r"\frac", "^", "_", "&", r"\\", r"\begin{array}", "#1", "'", r"\hat", r"\text{"]
        {
            let longest = TEX_BYTES_MAX / piece.len();
            drawn(&format!("${}$", piece.repeat(longest)));
            drawn(&format!("${}x$", piece.repeat(longest - 1)));
        }
    }
}
