//! The built-in table of facts. `cargo xtask models` generates it; its first line has the date.

use std::{collections::HashMap, sync::OnceLock};

use protocol::{FactOrigins, ModelFacts, Price, Prices, Thinking};

const TABLE: &str = include_str!("models.tsv");

/// The row with the longest name that is a prefix of the model's name, ending at a separator. A path before the name
/// (`vendor/model`) is skipped.
pub(super) fn facts(model: &str) -> ModelFacts {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let ends = name.char_indices().rev().filter(|(_, mark)| matches!(mark, '-' | ':' | '@' | '.')).map(|(at, _)| at);
    let mut beginnings = std::iter::once(name.len()).chain(ends).filter(|end| *end > 0);
    beginnings.find_map(|end| rows().get(&name[..end])).map(|row| row.facts()).unwrap_or_default()
}

fn rows() -> &'static HashMap<&'static str, Row> {
    static ROWS: OnceLock<HashMap<&'static str, Row>> = OnceLock::new();
    ROWS.get_or_init(|| TABLE.lines().filter(|line| !line.starts_with('#')).skip(1).filter_map(Row::read).collect())
}

/// One row: the tab-separated columns after the name.
#[derive(Debug)]
struct Row([&'static str; 9]);

impl Row {
    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let (name, rest) = line.split_once('\t')?;
        let columns: Vec<_> = rest.split('\t').collect();
        Some((name, Self(columns.try_into().ok()?)))
    }

    fn facts(&self) -> ModelFacts {
        let [context, answer, input, cached, cache_write, output, images, tools, thinking] = self.0;
        let price = |text: &str| text.parse().ok().and_then(|amount| Price::of(amount).ok());
        let prices = price(input).zip(price(output)).map(|(input, output)| Prices {
            input,
            output,
            cached: price(cached),
            cache_write: price(cache_write),
        });
        let flag = |text: &str| (!text.is_empty()).then_some(text == "1");
        let levels = || thinking.split(',').filter_map(|level| level.parse::<Thinking>().ok()).collect();
        ModelFacts {
            context_limit: context.parse().ok(),
            output_limit: answer.parse().ok(),
            currency: prices.map(|_| super::DOLLARS.to_owned()),
            prices,
            images: flag(images),
            tools: flag(tools),
            thinking: (!thinking.is_empty()).then(levels),
            origin: FactOrigins::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_reads() {
        let lines: Vec<_> = TABLE.lines().collect();
        assert!(lines[0].starts_with('#') && lines[1].starts_with("model\tcontext\t"), "{:?}", &lines[..2]);
        assert_eq!(rows().len(), lines.len() - 2, "a line is short of a column, or a name is there twice");
        for (name, row) in rows() {
            let facts = row.facts();
            assert!(facts != ModelFacts::default(), "{name} says nothing");
            let is_read = |column: usize, is_there: bool| row.0[column].is_empty() != is_there;
            assert!(is_read(0, facts.context_limit.is_some()) && is_read(1, facts.output_limit.is_some()), "{name}");
            assert!(is_read(2, facts.prices.is_some()) && is_read(8, facts.thinking.is_some()), "{name}");
        }
    }

    #[test]
    fn the_longest_name_that_fits_decides() {
        let limit = |model: &str| facts(model).context_limit;
        assert_eq!(limit("gpt-5.1-some-day"), limit("gpt-5.1"));
        assert_eq!(limit("anthropic/claude-sonnet-4-5"), Some(200_000));
        assert_eq!(limit("Gemini-2.5-Flash"), Some(1_048_576));
        assert!(limit("qwen3:32b").is_some() && facts("qwen3:32b").prices.is_none());
        assert_eq!(facts("my-own-model"), ModelFacts::default());
        assert_eq!(facts("gpt"), ModelFacts::default());
        assert!(facts("claude-sonnet-4-5").prices.is_some());
    }
}
