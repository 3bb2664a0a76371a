//! `cargo xtask models`: updates the table of facts about language models in the provider's catalogue.
//!
//! The facts come from the price table in PyPI's package `litellm`, and from a short list of our own. Only numbers,
//! booleans and names are used. The generated file is committed: no build and no running program contacts PyPI.

mod facts;
mod open_weights;
mod wheel;

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::{
    facts::{COLUMNS, Model},
    wheel::{Release, Wheel},
};
use crate::run::{step, workspace};

const TABLE: &str = "server/crates/provider/src/catalogue/models.tsv";
/// A table with fewer models than this was not understood, and the old one is kept.
const MODELS_MIN: usize = 100;

pub(crate) fn run() -> Result<bool> {
    let done = step("models", || {
        let Wheel { release, prices } = wheel::newest()?;
        let prices = serde_json::from_str(&prices).context("the price table is not JSON")?;
        let models = models(&prices)?;
        let text = text(&models, &release);
        write(&text)?;
        println!("    {TABLE}: {} models, {} bytes", models.len(), text.len());
        Ok(true)
    });
    Ok(done.is_ok)
}

/// The vendors' models, plus those of our own list. Some models occur in the price table twice, with and without the
/// vendor in their names; the entry with the vendor is used, because it is better maintained.
fn models(prices: &Value) -> Result<BTreeMap<String, Model>> {
    let entries = prices.as_object().context("the price table is no object")?;
    let (plain, prefixed): (Vec<_>, Vec<_>) = entries.iter().partition(|(key, _)| !key.contains('/'));
    let mut models = BTreeMap::new();
    for (key, entry) in plain.into_iter().chain(prefixed) {
        models.extend(facts::read(key, entry));
    }
    ensure!(models.len() >= MODELS_MIN, "only {} models were understood; has the table changed?", models.len());
    for (name, model) in open_weights::models() {
        models.entry(name).or_insert(model);
    }
    Ok(models)
}

fn text(models: &BTreeMap<String, Model>, release: &Release) -> String {
    let Release { version, day } = release;
    let count = models.len();
    let from = format!("read by cargo xtask models from litellm {version} (PyPI)");
    let mut text = format!("# {count} models; facts of {day}, {from}\n{COLUMNS}\n");
    for (name, model) in models {
        text.push_str(&model.line(name));
        text.push('\n');
    }
    text
}

fn write(text: &str) -> Result<()> {
    let path = workspace().join(TABLE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    }
    fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Map, json};

    use super::*;

    fn prices(entries: &[(&str, Value)]) -> Value {
        let fill = (0..MODELS_MIN).map(|n| (format!("o{n}"), json!({"litellm_provider": "openai", "mode": "chat"})));
        let entries = entries.iter().map(|(key, entry)| ((*key).to_owned(), entry.clone()));
        Value::Object(fill.chain(entries).collect::<Map<_, _>>())
    }

    #[test]
    fn of_two_entries_the_one_below_its_vendor_counts() {
        let of = |context: u64| json!({"litellm_provider": "deepseek", "mode": "chat", "max_input_tokens": context});
        for entries in [[("deepseek/x", of(2)), ("x", of(1))], [("x", of(1)), ("deepseek/x", of(2))]] {
            assert_eq!(models(&prices(&entries)).unwrap()["x"].context, Some(2));
        }
    }

    #[test]
    fn what_a_vendor_says_wins_over_our_list() {
        let entry = json!({"litellm_provider": "deepseek", "mode": "chat", "max_input_tokens": 7});
        let models = models(&prices(&[("deepseek/deepseek-r1", entry)])).unwrap();
        assert_eq!(models["deepseek-r1"].context, Some(7));
        assert_eq!(models["qwen3"].context, Some(40_960));
    }

    #[test]
    fn a_table_that_is_not_understood_is_refused() {
        assert!(models(&json!({"gpt-4": {"provider": "openai"}})).is_err());
        assert!(models(&json!([])).is_err());
    }

    #[test]
    fn the_first_line_says_how_many_from_when_and_where() {
        let models = BTreeMap::from([("b".to_owned(), Model::default()), ("a".to_owned(), Model::default())]);
        let release = Release { version: "1.2.3".to_owned(), day: "2026-01-02".to_owned() };
        let text = text(&models, &release);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "# 2 models; facts of 2026-01-02, read by cargo xtask models from litellm 1.2.3 (PyPI)");
        assert_eq!(lines[1], "model\tcontext\toutput\tinput\tcached\tcache_write\tout\timages\ttools\tthinking");
        assert_eq!(lines[2], "a\t\t\t\t\t\t\t\t\t");
        assert!(lines[3].starts_with("b\t"));
        assert_eq!(lines.len(), 4);
    }
}
