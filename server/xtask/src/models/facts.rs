//! Converts an entry of litellm's price table to a row of ours: which are kept, what a token costs, which thinking
//! levels can be chosen.
//!
//! Unknown facts stay empty. A wrong fact is worse than none: vendors refuse requests for what a model cannot do.

use serde_json::Value;

pub(crate) const COLUMNS: &str = "model\tcontext\toutput\tinput\tcached\tcache_write\tout\timages\ttools\tthinking";

/// The vendors whose entries are used: those that make the models and serve them.
const VENDORS: [&str; 8] = ["openai", "anthropic", "gemini", "deepseek", "mistral", "xai", "moonshot", "zai"];

/// Words in the names of models that are not made for text conversations. The last two are not names that a vendor
/// offers.
const LEFT_OUT: [&str; 15] = [
    "audio",
    "computer-use",
    "deep-research",
    "embedding",
    "image",
    "lyria",
    "omni",
    "realtime",
    "search",
    "streaming",
    "transcribe",
    "tts",
    "voxtral",
    "gemini-gemma",
    "container",
];

/// The facts about one model; prices are US dollars per million tokens, as text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) context: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) input: String,
    pub(crate) cached: String,
    pub(crate) cache_write: String,
    pub(crate) out: String,
    pub(crate) images: Option<bool>,
    pub(crate) tools: Option<bool>,
    pub(crate) thinking: String,
}

impl Model {
    /// The columns of [`COLUMNS`].
    pub(crate) fn line(&self, name: &str) -> String {
        let tokens = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        let flag = |flag: Option<bool>| flag.map_or("", |is_so| if is_so { "1" } else { "0" });
        let columns = [
            name,
            &tokens(self.context),
            &tokens(self.output),
            &self.input,
            &self.cached,
            &self.cache_write,
            &self.out,
            flag(self.images),
            flag(self.tools),
            &self.thinking,
        ];
        columns.join("\t")
    }
}

/// The model of an entry with its name; `None` if it is left out.
pub(crate) fn read(key: &str, entry: &Value) -> Option<(String, Model)> {
    let vendor = entry["litellm_provider"].as_str().filter(|vendor| VENDORS.contains(vendor))?;
    if !matches!(entry["mode"].as_str(), Some("chat" | "responses")) {
        return None;
    }
    let name = name(key, vendor)?;
    let model = Model {
        context: tokens(&entry["max_input_tokens"]),
        output: tokens(&entry["max_output_tokens"]),
        input: dollars(&entry["input_cost_per_token"]),
        cached: dollars(&entry["cache_read_input_token_cost"]),
        cache_write: dollars(&entry["cache_creation_input_token_cost"]),
        out: dollars(&entry["output_cost_per_token"]),
        images: supports(entry, "supports_vision"),
        tools: supports(entry, "supports_function_calling"),
        thinking: thinking(vendor, &name, entry),
    };
    Some((name, model))
}

/// The name in the vendor's own API. `None` for fine-tunes, for paths of other vendors, and for what is left out.
fn name(key: &str, vendor: &str) -> Option<String> {
    let own = key.strip_prefix(vendor).and_then(|rest| rest.strip_prefix('/')).unwrap_or(key);
    let name = own.to_ascii_lowercase();
    if name.contains(['/', ':', '\t', '\n']) {
        return None;
    }
    let words = format!("-{name}-");
    let is_left_out = LEFT_OUT.iter().any(|left_out| words.contains(&format!("-{left_out}-")));
    (!is_left_out).then_some(name)
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&count| count > 0)
}

/// Converts dollars per token to dollars per million tokens. A price of zero means that none was entered.
fn dollars(value: &Value) -> String {
    let Some(price) = value.as_f64().filter(|&price| price > 0.0) else { return String::new() };
    let text = format!("{:.6}", price * 1e6);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "0" { String::new() } else { short.to_owned() }
}

/// Whether the model supports this. An entry that lists other supported features would list this one too.
fn supports(entry: &Value, key: &str) -> Option<bool> {
    entry[key].as_bool().or_else(|| says_what_it_supports(entry).then_some(false))
}

fn says_what_it_supports(entry: &Value) -> bool {
    entry.as_object().is_some_and(|facts| facts.keys().any(|key| key.starts_with("supports_")))
}

/// The thinking levels that can be chosen, separated by commas. Levels listed in the entry itself override what is
/// known about the vendor.
fn thinking(vendor: &str, name: &str, entry: &Value) -> String {
    if let Some(listed) = entry["reasoning_effort_levels"].as_array() {
        return levels_of(listed);
    }
    let thinks = supports(entry, "supports_reasoning");
    match (vendor, thinks) {
        ("openai", Some(true)) => openai(name, entry),
        // Some of them always think.
        ("anthropic", Some(true)) if entry["thinking_always_on"] == true => "low,medium,high,max".to_owned(),
        ("anthropic", Some(true)) => "off,low,medium,high,max".to_owned(),
        ("gemini", Some(true)) => gemini(name).to_owned(),
        ("openai" | "anthropic" | "gemini", Some(false)) => "off".to_owned(),
        // For other vendors the levels are known only if the entry lists them.
        _ => String::new(),
    }
}

/// The efforts of an API as our levels, in our order.
fn levels_of(efforts: &[Value]) -> String {
    let has = |words: &[&str]| efforts.iter().filter_map(Value::as_str).any(|effort| words.contains(&effort));
    let levels = [
        ("off", has(&["none"])),
        ("low", has(&["low"])),
        ("medium", has(&["medium"])),
        ("high", has(&["high"])),
        ("max", has(&["xhigh", "max"])),
    ];
    chosen(&levels)
}

fn openai(name: &str, entry: &Value) -> String {
    // ChatGPT's own models decide by themselves how long they think.
    if name.contains("-chat") {
        return String::new();
    }
    // The first `pro` has only this effort, and later ones have no low one.
    if name.starts_with("gpt-5-pro") {
        return "high".to_owned();
    }
    let is_pro = name.starts_with("gpt-") && name.contains("-pro");
    let takes = |effort: &str| entry[format!("supports_{effort}_reasoning_effort")].as_bool();
    let levels = [
        ("off", takes("none").unwrap_or_else(|| is_gpt_5_1_or_later(name))),
        ("low", takes("low").unwrap_or(!is_pro)),
        ("medium", true),
        ("high", true),
        ("max", takes("xhigh") == Some(true)),
    ];
    chosen(&levels)
}

/// Whether it is `gpt-5.N` itself, possibly with a date. Its variants (`-codex`, `-pro`) do not all accept the effort
/// `none`.
fn is_gpt_5_1_or_later(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("gpt-5.") else { return false };
    let (minor, day) = rest.split_once('-').unwrap_or((rest, ""));
    minor.parse::<u32>().is_ok_and(|minor| minor >= 1) && day.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn gemini(name: &str) -> &'static str {
    let Some(rest) = name.strip_prefix("gemini-") else { return "" };
    if rest.starts_with("2.5-flash") {
        return "off,low,medium,high";
    }
    let major = rest.split(['.', '-']).next().and_then(|major| major.parse::<u32>().ok());
    // `gemini-flash-latest` and the like are always among the newest.
    let is_new = major.is_some_and(|major| major >= 3) || rest.ends_with("-latest");
    if is_new || rest.starts_with("2.5-pro") { "low,medium,high" } else { "" }
}

fn chosen(levels: &[(&str, bool)]) -> String {
    let chosen: Vec<_> = levels.iter().filter(|(_, is_there)| *is_there).map(|(level, _)| *level).collect();
    chosen.join(",")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    /// Parsed from text, as the table is.
    fn price(text: &str) -> String {
        dollars(&serde_json::from_str(text).unwrap())
    }

    fn thinking_of(vendor: &str, key: &str, mut entry: Value) -> String {
        entry["litellm_provider"] = json!(vendor);
        entry["mode"] = json!("chat");
        read(key, &entry).unwrap().1.thinking
    }

    fn is_kept(vendor: &str, mode: &str, key: &str) -> bool {
        read(key, &json!({"litellm_provider": vendor, "mode": mode})).is_some()
    }

    #[test]
    fn prices_are_the_shortest_exact_decimals() {
        for (text, dollars) in [
            ("1.25e-06", "1.25"),
            ("1.25e-07", "0.125"),
            ("1.5e-05", "15"),
            ("0.000168", "168"),
            ("2.8e-08", "0.028"),
            ("1e-07", "0.1"),
            ("3e-07", "0.3"),
            ("7e-7", "0.7"),
            ("3.625e-09", "0.003625"),
            ("0.0001", "100"),
            ("1.00000049e-06", "1"),
            ("1", "1000000"),
        ] {
            assert_eq!(price(text), dollars, "{text}");
        }
    }

    #[test]
    fn a_price_of_nothing_is_not_known() {
        for text in ["0", "0.0", "1e-14", "-1e-06", "null", "\"free\""] {
            assert_eq!(price(text), "", "{text}");
        }
    }

    #[test]
    fn an_entry_becomes_a_line() {
        let entry = json!({
            "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200_000, "max_output_tokens": 64_000,
            "input_cost_per_token": 3e-6, "cache_read_input_token_cost": 3e-7, "cache_creation_input_token_cost": 3.75e-6,
            "output_cost_per_token": 1.5e-5, "supports_vision": true, "supports_function_calling": true,
            "supports_reasoning": true,
        });
        let (name, model) = read("anthropic/Claude-X", &entry).unwrap();
        let line = "claude-x\t200000\t64000\t3\t0.3\t3.75\t15\t1\t1\toff,low,medium,high,max";
        assert_eq!(model.line(&name), line);
        assert_eq!(line.split('\t').count(), COLUMNS.split('\t').count());
    }

    #[test]
    fn what_an_entry_does_not_say_is_no_or_not_known() {
        let read = |entry| read("gpt-x", &entry).unwrap().1;
        let silent = read(json!({"litellm_provider": "openai", "mode": "chat"}));
        assert_eq!(silent, Model::default());
        let says = read(json!({"litellm_provider": "openai", "mode": "chat", "supports_tool_choice": true}));
        assert_eq!((says.images, says.tools, says.thinking.as_str()), (Some(false), Some(false), "off"));
    }

    #[test]
    fn only_conversations_in_text_of_the_vendors_themselves_are_kept() {
        assert!(is_kept("openai", "chat", "gpt-4o"));
        assert!(is_kept("openai", "responses", "gpt-rosalind-research"));
        assert!(is_kept("gemini", "chat", "gemini/gemini-2.5-pro"));
        for (vendor, mode, key) in [
            ("openai", "embedding", "text-3"),
            ("azure", "chat", "azure/gpt-4o"),
            ("vertex_ai", "chat", "gemini-2.5-pro"),
            ("openai", "chat", "ft:gpt-4o-2024-08-06"),
            ("openai", "chat", "gpt-audio-mini"),
            ("openai", "chat", "gpt-4o-search-preview"),
            ("openai", "responses", "o3-deep-research"),
            ("openai", "chat", "computer-use-preview"),
            ("openai", "chat", "openai/container"),
            ("gemini", "chat", "gemini/gemini-2.5-pro-preview-tts"),
            ("gemini", "chat", "gemini/gemini-2.5-computer-use-preview-10-2025"),
            ("xai", "chat", "other/grok"),
        ] {
            assert!(!is_kept(vendor, mode, key), "{key}");
        }
    }

    #[test]
    fn openai_says_which_efforts_it_takes() {
        let of = |name, mut entry: Value| {
            entry["supports_reasoning"] = json!(true);
            thinking_of("openai", name, entry)
        };
        let with = |none: bool, xhigh: bool| json!({"supports_none_reasoning_effort": none, "supports_xhigh_reasoning_effort": xhigh});
        assert_eq!(of("o3", json!({})), "low,medium,high");
        assert_eq!(of("gpt-5", with(false, false)), "low,medium,high");
        assert_eq!(of("gpt-5.1-2025-11-13", json!({})), "off,low,medium,high");
        assert_eq!(of("gpt-5.10", json!({})), "off,low,medium,high");
        assert_eq!(of("gpt-5.1-codex", json!({})), "low,medium,high");
        assert_eq!(of("gpt-5.2", with(true, true)), "off,low,medium,high,max");
        assert_eq!(of("gpt-5.2-pro", with(false, true)), "medium,high,max");
        assert_eq!(of("gpt-5-pro", with(false, false)), "high");
        assert_eq!(of("gpt-5.1-chat-latest", json!({})), "");
        assert_eq!(thinking_of("openai", "gpt-4.1", json!({"supports_vision": true})), "off");
    }

    #[test]
    fn anthropic_can_turn_it_off_where_it_is_not_always_on() {
        let on = json!({"supports_reasoning": true, "thinking_always_on": true});
        assert_eq!(thinking_of("anthropic", "claude-x", on), "low,medium,high,max");
        let maybe = json!({"supports_reasoning": true});
        assert_eq!(thinking_of("anthropic", "claude-x", maybe), "off,low,medium,high,max");
        assert_eq!(thinking_of("anthropic", "claude-x", json!({"supports_reasoning": false})), "off");
    }

    #[test]
    fn gemini_goes_by_its_generation() {
        let of = |name: &str| thinking_of("gemini", name, json!({"supports_reasoning": true}));
        assert_eq!(of("gemini/gemini-2.5-flash"), "off,low,medium,high");
        assert_eq!(of("gemini/gemini-2.5-flash-lite"), "off,low,medium,high");
        assert_eq!(of("gemini/gemini-2.5-pro"), "low,medium,high");
        assert_eq!(of("gemini/gemini-3.1-pro-preview"), "low,medium,high");
        assert_eq!(of("gemini/gemini-flash-latest"), "low,medium,high");
        assert_eq!(of("gemini/gemini-robotics-er-2-preview"), "");
        assert_eq!(of("gemini/gemma-4-31b-it"), "");
        assert_eq!(thinking_of("gemini", "gemini/gemini-2.0-flash", json!({"supports_vision": true})), "off");
    }

    #[test]
    fn others_have_the_levels_that_their_entry_lists() {
        let of = |efforts: Value| thinking_of("mistral", "mistral/x", json!({"reasoning_effort_levels": efforts}));
        assert_eq!(of(json!(["none", "high"])), "off,high");
        assert_eq!(of(json!(["max", "xhigh", "minimal", "low", "high"])), "low,high,max");
        assert_eq!(thinking_of("xai", "xai/x", json!({"supports_reasoning": true})), "");
        assert_eq!(thinking_of("xai", "xai/x", json!({"supports_reasoning": false})), "");
    }
}
