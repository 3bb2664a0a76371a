//! The table of a benchmark: what was measured, figure, floor, ratio, goal, and whether it was met.

use std::fmt;

use serde_json::{Value, json};

/// All lines so far, in the order in which they were measured.
#[derive(Debug, Default)]
pub struct Report {
    lines: Vec<Line>,
}

/// One figure.
#[derive(Debug, Clone)]
pub struct Line {
    /// Stands in files that compare runs; never changes.
    key: &'static str,
    what: String,
    unit: Unit,
    figure: f64,
    /// The same measured with a bare program, in the same run.
    floor: Option<f64>,
    goal: Option<Goal>,
    note: String,
}

/// What a figure has to reach.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Milliseconds,
    Megabytes,
    Kilobytes,
    PerSecond,
    Percent,
    Count,
    /// A ratio, without unit.
    Times,
}

impl Line {
    /// `what` is for people, `figure` counts `unit`s.
    pub fn new(key: &'static str, what: impl Into<String>, unit: Unit, figure: f64) -> Self {
        Self { key, what: what.into(), unit, figure, floor: None, goal: None, note: String::new() }
    }

    pub fn at_most(self, goal: f64) -> Self {
        Self { goal: Some(Goal::AtMost(goal)), ..self }
    }

    pub fn at_least(self, goal: f64) -> Self {
        Self { goal: Some(Goal::AtLeast(goal)), ..self }
    }

    pub fn floor(self, floor: impl Into<Option<f64>>) -> Self {
        Self { floor: floor.into(), ..self }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.floor.filter(|floor| *floor > 0.0).map(|floor| self.figure / floor)
    }

    fn is_met(&self) -> Option<bool> {
        self.goal.map(|goal| match goal {
            Goal::AtMost(most) => self.figure <= most,
            Goal::AtLeast(least) => self.figure >= least,
        })
    }

    fn to_json(&self) -> Value {
        let goal = self.goal.map(|goal| match goal {
            Goal::AtMost(most) => json!({ "at_most": most }),
            Goal::AtLeast(least) => json!({ "at_least": least }),
        });
        json!({
            "key": self.key, "what": self.what, "unit": self.unit.name(), "figure": self.figure, "floor": self.floor,
            "ratio": self.ratio(), "goal": goal, "met": self.is_met(), "note": self.note,
        })
    }

    fn cells(&self) -> [String; 7] {
        let goal = self.goal.map_or_else(String::new, |goal| match goal {
            Goal::AtMost(most) => format!("≤ {}", self.unit.show(most)),
            Goal::AtLeast(least) => format!("≥ {}", self.unit.show(least)),
        });
        let met = self.is_met().map_or("", |is_met| if is_met { "met" } else { "NOT met" });
        [
            self.what.clone(),
            self.unit.show(self.figure),
            self.floor.map_or_else(|| "–".to_owned(), |floor| self.unit.show(floor)),
            self.ratio().map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×")),
            goal,
            met.to_owned(),
            self.note.clone(),
        ]
    }
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Megabytes => "MB",
            Self::Kilobytes => "kB",
            Self::PerSecond => "/s",
            Self::Percent => "%",
            Self::Count => "",
            Self::Times => "×",
        }
    }

    fn show(self, figure: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", grouped(figure)),
            Self::Count => grouped(figure),
            Self::Times => format!("{figure:.2}×"),
            Self::Percent => format!("{figure:.0} %"),
            _ if figure < 10.0 => format!("{figure:.2} {}", self.name()),
            _ => format!("{figure:.1} {}", self.name()),
        }
    }
}

/// 1234567 as 1,234,567.
fn grouped(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Report {
    /// Adds a line and prints it at once, because a run takes minutes.
    pub fn add(&mut self, line: Line) {
        let [what, figure, floor, ..] = line.cells();
        eprintln!("{what}: {figure} (floor {floor})");
        self.lines.push(line);
    }

    /// All lines as JSON, for programs that compare runs.
    pub fn to_json(&self) -> Value {
        json!({ "lines": self.lines.iter().map(Line::to_json).collect::<Vec<_>>() })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["what", "figure", "floor", "ratio", "goal", "", "note"].map(str::to_owned);
        let rows: Vec<[String; 7]> = [header].into_iter().chain(self.lines.iter().map(Line::cells)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 7] = std::array::from_fn(width);
        for row in &rows {
            let mut line = format!("{:<1$}", row[0], widths[0]);
            for column in 1..5 {
                line.push_str(&format!("  {:>1$}", row[column], widths[column]));
            }
            line.push_str(&format!("  {:<1$}  {2}", row[5], widths[5], row[6]));
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
