//! Terminals: a person's own shell in the folder of a Pod.

use serde::{Deserialize, Serialize};

/// The size of a terminal's screen, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// 1 to 1,000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000))]
    pub columns: u16,
    /// 1 to 500.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 500))]
    pub rows: u16,
}

impl TerminalSize {
    pub const COLUMNS_MAX: u16 = 1_000;
    pub const ROWS_MAX: u16 = 500;

    /// What is wrong with it, as a sentence.
    pub fn refusal(self) -> Option<&'static str> {
        let fits = (1..=Self::COLUMNS_MAX).contains(&self.columns) && (1..=Self::ROWS_MAX).contains(&self.rows);
        (!fits).then_some("a terminal has 1 to 1000 columns and 1 to 500 rows")
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// What a client says in a text frame. What it types is in binary frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TerminalAsk {
    /// The screen has another size.
    pub resize: TerminalSize,
}

/// What the server says in a text frame, which has one of these fields. What the shell prints is in binary frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TerminalTold {
    /// The shell runs: the first frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<TerminalPlace>,
    /// The shell has ended: the last frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TerminalEnd>,
    /// The shell could not be started, or a text frame could not be read; a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl TerminalTold {
    pub fn opened(place: TerminalPlace) -> Self {
        Self { opened: Some(place), ..Self::default() }
    }

    /// With the exit code; `None` if the shell did not end by itself.
    pub fn ended(code: Option<i32>) -> Self {
        Self { ended: Some(TerminalEnd { code }), ..Self::default() }
    }

    pub fn problem(sentence: impl Into<String>) -> Self {
        Self { problem: Some(sentence.into()), ..Self::default() }
    }
}

/// Which shell runs, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TerminalPlace {
    /// The name of the shell's program.
    pub shell: String,
    /// The folder in which it begins: the Pod's.
    pub folder: String,
}

/// How a shell ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TerminalEnd {
    /// Its exit code; absent if it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_say_what_they_are() {
        let ask = TerminalAsk { resize: TerminalSize { columns: 100, rows: 30 } };
        assert_eq!(serde_json::to_value(ask).unwrap(), json!({ "resize": { "columns": 100, "rows": 30 } }));
        for bad in [json!({ "resize": { "columns": 1 } }), json!({ "resize": { "columns": -1, "rows": 1 } }), json!({})]
        {
            assert!(serde_json::from_value::<TerminalAsk>(bad).is_err());
        }
        let ended = TerminalTold::ended(Some(3));
        assert_eq!(serde_json::to_value(ended).unwrap(), json!({ "ended": { "code": 3 } }));
        assert_eq!(serde_json::to_value(TerminalTold::problem("x")).unwrap(), json!({ "problem": "x" }));
    }

    #[test]
    fn a_screen_is_bounded() {
        let is_fit = |columns, rows| TerminalSize { columns, rows }.refusal().is_none();
        assert!(is_fit(1, 1) && is_fit(1_000, 500) && TerminalSize::default().refusal().is_none());
        assert!(!is_fit(0, 1) && !is_fit(1, 0) && !is_fit(1_001, 1) && !is_fit(1, 501));
    }
}
