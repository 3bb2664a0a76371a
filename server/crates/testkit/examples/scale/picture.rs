//! Curves as SVG, in colours that can be read on light and on dark pages.

use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 110.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 44.0;
/// Grid lines across.
const LINES: usize = 4;
/// At most this many figures below, and points of a curve that get a dot.
const FIGURES_MAX: usize = 6;
const DOTS_MAX: usize = 12;

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#555}.title{font-weight:600;font-size:14px}\
    .grid{stroke:#8886;stroke-width:1}.line{fill:none;stroke-width:2.5;stroke-linejoin:round}\
    .s0{stroke:#3b7dd8}.s1{stroke:#d9822b}.s2{stroke:#3c9a5f}.d0{fill:#3b7dd8}.d1{fill:#d9822b}.d2{fill:#3c9a5f}\
    @media(prefers-color-scheme:dark){text{fill:#bbb}}";

/// One line of a picture.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    /// Where, and how much.
    pub(crate) points: Vec<(f64, f64)>,
}

/// What the axes show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes {
    pub(crate) title: &'static str,
    pub(crate) across: &'static str,
    /// Each step across is ten times the one before.
    pub(crate) is_log: bool,
}

/// The picture as a file's text.
pub(crate) fn svg(axes: Axes, curves: &[Curve]) -> String {
    let frame = Frame::of(axes, curves);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>\n",
        title = axes.title
    );
    frame.draw(axes, curves, &mut svg);
    let mut labels: Vec<f64> = Vec::new();
    for (number, curve) in curves.iter().enumerate() {
        let place = |point: &(f64, f64)| (frame.x(point.0), frame.y(point.1));
        let points: Vec<String> = curve.points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(svg, "<polyline class=\"line s{number}\" points=\"{}\"/>", points.join(" "));
        for (x, y) in curve.points.iter().map(place).filter(|_| curve.points.len() < DOTS_MAX) {
            let _ = writeln!(svg, "<circle class=\"d{number}\" r=\"3.5\" cx=\"{x:.1}\" cy=\"{y:.1}\"/>");
        }
        let Some((_, y)) = curve.points.last().map(place) else { continue };
        // Names that would cover each other move apart.
        let mut height = y + 4.0;
        while labels.iter().any(|other| (other - height).abs() < 15.0) {
            height -= 15.0;
        }
        labels.push(height);
        let (right, name) = (WIDTH - RIGHT + 10.0, curve.name);
        let _ = writeln!(svg, "<text class=\"d{number}\" x=\"{right:.1}\" y=\"{height:.1}\">{name}</text>");
    }
    svg + "</svg>\n"
}

/// Where a figure stands in the picture.
struct Frame {
    is_log: bool,
    /// Across, as it is drawn.
    first: f64,
    last: f64,
    most: f64,
}

impl Frame {
    fn of(axes: Axes, curves: &[Curve]) -> Self {
        let all = || curves.iter().flat_map(|curve| &curve.points);
        let mut frame = Self { is_log: axes.is_log, first: f64::MAX, last: f64::MIN, most: 0.0 };
        for (at, value) in all() {
            let place = frame.place(*at);
            (frame.first, frame.last) = (frame.first.min(place), frame.last.max(place));
            frame.most = frame.most.max(*value);
        }
        frame.most = round_up(frame.most);
        frame
    }

    fn place(&self, at: f64) -> f64 {
        if self.is_log { at.max(1.0).log10() } else { at }
    }

    fn x(&self, at: f64) -> f64 {
        let part = (self.place(at) - self.first) / (self.last - self.first).max(f64::MIN_POSITIVE);
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.most * (HEIGHT - TOP - BOTTOM)
    }

    /// The grid and what the axes say.
    fn draw(&self, axes: Axes, curves: &[Curve], svg: &mut String) {
        // Writing to a string cannot fail.
        for line in 0..=LINES {
            let value = self.most * line as f64 / LINES as f64;
            let (y, right, left) = (self.y(value), WIDTH - RIGHT, LEFT - 8.0);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            let (y, figure) = (y + 4.0, figure(value));
            let _ = writeln!(svg, "<text x=\"{left:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{figure}</text>");
        }
        let places: Vec<f64> = curves.iter().max_by_key(|curve| curve.points.len()).map_or_else(Vec::new, |curve| {
            let step = curve.points.len().div_ceil(FIGURES_MAX).max(1);
            curve.points.iter().step_by(step).map(|point| point.0).collect()
        });
        for at in places {
            let (x, y, figure) = (self.x(at), HEIGHT - BOTTOM + 18.0, figure(at));
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{figure}</text>");
        }
        let (middle, bottom) = (LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 8.0);
        let _ =
            writeln!(svg, "<text x=\"{middle:.1}\" y=\"{bottom:.1}\" text-anchor=\"middle\">{}</text>", axes.across);
    }
}

/// The next of 1, 2, 4, 10, 20, 40 … above, which four grid lines divide well.
fn round_up(most: f64) -> f64 {
    let power = 10_f64.powf(most.max(0.001).log10().floor());
    [1.0, 2.0, 4.0, 6.0, 8.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= most).unwrap_or(most)
}

fn figure(value: f64) -> String {
    match value {
        large if large >= 10_000.0 => format!("{:.0}k", large / 1e3),
        middle if middle >= 10.0 || middle.fract().abs() < 1e-9 => format!("{middle:.0}"),
        small => format!("{small:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}
