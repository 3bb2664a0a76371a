//! Models with open weights, by the names that servers use for them, without a tag: `qwen3:8b` is `qwen3`.
//!
//! Taken by hand from the makers' model cards. Where the sizes of a family differ, the column is left empty. There
//! are no prices, because running such a model costs nothing per token.

use super::facts::Model;

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// The name, context in tokens, images, tools, and thinking levels.
type Row = (&'static str, u64, Option<bool>, Option<bool>, &'static str);

const MODELS: &[Row] = &[
    ("codegemma", 8_192, NO, NO, "off"),
    ("codellama", 16_384, NO, NO, "off"),
    ("command-r", 131_072, NO, YES, "off"),
    ("command-r-plus", 131_072, NO, YES, "off"),
    ("deepseek-r1", 131_072, NO, None, ""),
    ("devstral", 131_072, NO, YES, "off"),
    ("gemma-2", 8_192, NO, NO, "off"),
    ("gemma-3", 131_072, None, None, "off"),
    ("gemma2", 8_192, NO, NO, "off"),
    ("gemma3", 131_072, None, None, "off"),
    ("gpt-oss", 131_072, NO, YES, "low,medium,high"),
    ("granite3.1-dense", 131_072, NO, YES, "off"),
    ("granite3.3", 131_072, NO, YES, ""),
    ("llama-3.1", 131_072, NO, YES, "off"),
    ("llama-3.2", 131_072, None, YES, "off"),
    ("llama-3.3", 131_072, NO, YES, "off"),
    ("llama2", 4_096, NO, NO, "off"),
    ("llama3", 8_192, NO, NO, "off"),
    ("llama3.1", 131_072, NO, YES, "off"),
    ("llama3.2", 131_072, NO, YES, "off"),
    ("llama3.2-vision", 131_072, YES, None, "off"),
    ("llama3.3", 131_072, NO, YES, "off"),
    ("mistral-nemo", 131_072, NO, YES, "off"),
    ("mistral-small3.1", 131_072, YES, YES, "off"),
    ("mistral-small3.2", 131_072, YES, YES, "off"),
    ("olmo2", 4_096, NO, NO, "off"),
    ("phi-4", 16_384, NO, None, "off"),
    ("phi4", 16_384, NO, None, "off"),
    ("phi4-mini", 131_072, NO, YES, "off"),
    ("qwen2.5", 32_768, NO, YES, "off"),
    ("qwen2.5-coder", 32_768, NO, YES, "off"),
    ("qwen3", 40_960, NO, YES, ""),
    ("qwen3-coder", 262_144, NO, YES, "off"),
    ("qwen3-next", 262_144, NO, YES, ""),
    ("qwen3-vl", 262_144, YES, YES, ""),
    ("smollm2", 8_192, NO, None, "off"),
    ("starcoder2", 16_384, NO, NO, "off"),
    ("tinyllama", 2_048, NO, NO, "off"),
];

pub(crate) fn models() -> impl Iterator<Item = (String, Model)> {
    MODELS.iter().map(|&(name, context, images, tools, thinking)| {
        let model = Model { context: Some(context), images, tools, thinking: thinking.to_owned(), ..Model::default() };
        (name.to_owned(), model)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_once_and_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn they_have_a_context_and_no_price() {
        for (name, model) in models() {
            let line = model.line(&name);
            let columns: Vec<_> = line.split('\t').collect();
            assert!(columns[1].parse::<u64>().is_ok_and(|tokens| tokens >= 1024), "{line}");
            assert!(columns[2..7].iter().all(|column| column.is_empty()), "{line}");
        }
    }
}
