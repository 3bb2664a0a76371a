//! Maps a grammar's many scopes to the few kinds that have a colour.

use syntect::parsing::{Scope, ScopeStack};

/// The kinds as indices into [`super::KINDS`].
const OTHER: u8 = 0;
const KEYWORD: u8 = 1;
const STRING: u8 = 2;
const COMMENT: u8 = 3;
const NUMBER: u8 = 4;
const FUNCTION: u8 = 5;
const TYPE: u8 = 6;
const MARK: u8 = 7;

/// A scope prefix and its kind; the first match counts.
const RULES: [(&str, u8); 40] = [
    // Code embedded in a string.
    ("meta.interpolation", OTHER),
    ("meta.template.expression", OTHER),
    ("source", OTHER),
    ("punctuation.definition.comment", COMMENT),
    ("punctuation.definition.string", STRING),
    ("punctuation.definition.numeric", NUMBER),
    ("punctuation.definition.constant", NUMBER),
    ("punctuation.definition.entity", TYPE),
    ("punctuation.definition.variable", OTHER),
    ("punctuation", MARK),
    ("comment", COMMENT),
    ("constant.character", STRING),
    ("constant.other.placeholder", STRING),
    ("constant", NUMBER),
    ("string", STRING),
    ("keyword.operator.word", KEYWORD),
    ("keyword.operator.logical.python", KEYWORD),
    ("keyword.operator", MARK),
    ("keyword", KEYWORD),
    ("storage", KEYWORD),
    ("variable.language", KEYWORD),
    ("variable.annotation", TYPE),
    ("variable.function", FUNCTION),
    ("entity.name.function", FUNCTION),
    ("entity.name.macro", FUNCTION),
    ("entity.name.tag", KEYWORD),
    ("entity.name", TYPE),
    ("entity.other", TYPE),
    ("support.function", FUNCTION),
    ("support.macro", FUNCTION),
    ("support.constant", NUMBER),
    ("support.type.property-name", TYPE),
    ("support.type", TYPE),
    ("support.class", TYPE),
    ("markup.inserted", STRING),
    ("markup.deleted", NUMBER),
    ("markup.heading", KEYWORD),
    ("markup.raw", STRING),
    ("markup.underline.link", FUNCTION),
    ("meta.diff.range", COMMENT),
];

/// The rules with scopes in the grammar library's numeric form.
#[derive(Debug)]
pub(super) struct Kinds(Vec<(Scope, u8)>);

impl Kinds {
    pub(super) fn new() -> Self {
        let scope = |text| Scope::new(text).expect("the rules are well-formed scopes");
        Self(RULES.iter().map(|(text, kind)| (scope(text), *kind)).collect())
    }

    /// Decided by the innermost scope that matches a rule.
    pub(super) fn of(&self, stack: &ScopeStack) -> u8 {
        let said = |scope: &Scope| self.0.iter().find(|(rule, _)| rule.is_prefix_of(*scope)).map(|(_, kind)| *kind);
        stack.as_slice().iter().rev().find_map(said).unwrap_or(OTHER)
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn kind(stack: &str) -> u8 {
        Kinds::new().of(&ScopeStack::from_str(stack).unwrap())
    }

    #[test]
    fn the_innermost_scope_that_has_a_kind_decides() {
        assert_eq!(
            kind("source.rust meta.block.rust string.quoted.double.rust constant.character.escape.rust"),
            STRING
        );
        assert_eq!(kind("source.rust comment.line.rust punctuation.definition.comment.rust"), COMMENT);
        assert_eq!(kind("source.rust meta.function.rust storage.type.function.rust"), KEYWORD);
        assert_eq!(kind("source.rust meta.block.rust support.macro.rust"), FUNCTION);
        assert_eq!(kind("source.rust meta.block.rust"), OTHER);
    }

    #[test]
    fn code_within_a_string_is_no_string() {
        assert_eq!(kind("source.ts string.template.ts meta.template.expression.ts variable.other.ts"), OTHER);
        assert_eq!(kind("source.ts string.template.ts"), STRING);
    }
}
