//! The models that a server offers and the facts that it reports, in each kind of server's own format.

use futures_util::{StreamExt, stream};
use protocol::{ModelFacts, ModelView, Price, Prices, Thinking};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{
    Extra, KEY_BYTES_MIN, Shape, Shared,
    bounds::{MODELS_MAX, NAME_BYTES_MAX, TooMuch},
    request::has_levels,
};
use crate::{ProviderError, ProviderKind, catalogue::OLLAMA_CONTEXT_MAX};

/// Ollama is asked individually about at most this many models; of others only the name is known.
const SHOWN_MAX: usize = 32;
/// How many of these requests run at once.
const SHOWN_AT_ONCE: usize = 8;

impl Shared {
    /// The models in the server's list.
    pub(super) async fn list(&self) -> Result<Vec<ModelView>, ProviderError> {
        self.check_key()?;
        let list = match self.config.kind {
            ProviderKind::Ollama => self.ollama().await?,
            ProviderKind::Gemini => views(&self.get("models?pageSize=1000").await?, "models", gemini),
            ProviderKind::Anthropic => views(&self.get("models?limit=1000").await?, "data", anthropic),
            _ => self.compatible().await?,
        };
        // Names are shown, so drop one that contains the key.
        let key = self.key().filter(|key| key.len() >= KEY_BYTES_MIN);
        let is_shown = |view: &ModelView| key.is_none_or(|key| !view.name.contains(key));
        match list.len() > MODELS_MAX {
            true => Err(self.failures.too_much(TooMuch::Models)),
            false => Ok(list.into_iter().filter(is_shown).collect()),
        }
    }

    async fn get(&self, path: &str) -> Result<Value, ProviderError> {
        self.asked(Method::GET, path, |question| question).await
    }

    /// Sends one request through the gate and returns the whole response.
    pub(super) async fn asked(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Value, ProviderError> {
        let line = self.line()?;
        let ask = line.gate.ask(Shape::Whole, Extra::default());
        let question = line.gate.client.request(method, format!("{}{path}", ask.base_url()));
        let question = match (self.key(), self.config.kind) {
            (None, _) => question,
            (Some(key), ProviderKind::Anthropic) => {
                question.header("x-api-key", key).header("anthropic-version", "2023-06-01")
            }
            (Some(key), ProviderKind::Gemini) => question.header("x-goog-api-key", key),
            (Some(key), _) => question.bearer_auth(key),
        };
        let broken = |error: &reqwest::Error| ask.failure().unwrap_or_else(|| self.failures.of_transport(error));
        let answer = tokio::time::timeout(self.limits.header, fill(question).send())
            .await
            .map_err(|_| self.failures.header_timeout())?
            .map_err(|error| broken(&error))?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.text().await.map_err(|error| broken(&error))?;
        if !status.is_success() {
            // The gate's reason is better than its own response.
            let refused = || self.failures.refused(status.as_u16(), &body, &headers);
            return Err(ask.failure().unwrap_or_else(refused));
        }
        let read = ask.work(|| serde_json::from_str(&body));
        read.map_err(|_| self.failures.unreadable())?.map_err(|_| self.failures.unreadable())
    }

    /// OpenAI's list, to which each server adds its own fields. llama.cpp reports its context size at another path.
    async fn compatible(&self) -> Result<Vec<ModelView>, ProviderError> {
        let answer = self.get("models").await?;
        let mut list = views(&answer, "data", compatible);
        if let [one] = list.as_mut_slice()
            && answer.pointer("/data/0/owned_by") == Some(&Value::from("llamacpp"))
            && let Ok(props) = self.get("/props").await
            && let Some(room) = count(&props, &["/default_generation_settings/n_ctx", "/n_ctx"])
        {
            one.facts.context_limit = Some(room);
        }
        Ok(list)
    }

    async fn ollama(&self) -> Result<Vec<ModelView>, ProviderError> {
        // Older versions do not report the context size of a running model.
        let running = self.get("api/ps").await.unwrap_or_default();
        let list = views(&self.get("api/tags").await?, "models", |model| {
            Some(ModelView { name: text(model, &["/model", "/name"])?, facts: ModelFacts::default() })
        });
        let shown = stream::iter(list.into_iter().enumerate()).map(async |(place, view)| {
            if place >= SHOWN_MAX {
                return view;
            }
            let body = json!({ "model": view.name });
            let shown = self.asked(Method::POST, "api/show", |question| question.json(&body)).await;
            let facts = shown.map(|shown| ollama(&view.name, &shown, room_given(&running, &view.name)));
            ModelView { facts: facts.unwrap_or_default(), ..view }
        });
        Ok(shown.buffered(SHOWN_AT_ONCE).collect().await)
    }
}

/// The models in the list under `key`. Unreadable ones are left out, and those without a name that can be typed.
fn views(answer: &Value, key: &str, view: impl Fn(&Value) -> Option<ModelView>) -> Vec<ModelView> {
    // Some servers return the bare list.
    let list = answer.get(key).unwrap_or(answer).as_array();
    let is_name = |view: &ModelView| view.name.len() <= NAME_BYTES_MAX && !view.name.contains(char::is_control);
    list.into_iter().flatten().filter_map(view).filter(is_name).collect()
}

fn count(value: &Value, places: &[&str]) -> Option<u64> {
    places.iter().find_map(|place| value.pointer(place)?.as_u64().filter(|count| *count > 0))
}

fn text(value: &Value, places: &[&str]) -> Option<String> {
    places.iter().find_map(|place| value.pointer(place)?.as_str().map(str::to_owned)).filter(|text| !text.is_empty())
}

/// Whether a list contains this word; `None` if there is no such list.
fn has(value: &Value, list: &str, word: &str) -> Option<bool> {
    Some(value.pointer(list)?.as_array()?.iter().any(|one| one.as_str() == Some(word)))
}

/// vLLM, LM Studio, OpenRouter, Groq, Mistral and llama.cpp each have their own field names for the same facts.
fn compatible(model: &Value) -> Option<ModelView> {
    let facts = ModelFacts {
        context_limit: count(
            model,
            &[
                "/max_model_len",
                "/loaded_context_length",
                "/context_length",
                "/context_window",
                "/max_context_length",
                "/meta/n_ctx",
                "/meta/n_ctx_train",
            ],
        ),
        output_limit: count(
            model,
            &["/top_provider/max_completion_tokens", "/max_completion_tokens", "/max_output_tokens"],
        ),
        prices: prices(model),
        currency: prices(model).map(|_| "USD".to_owned()),
        images: has(model, "/architecture/input_modalities", "image")
            .or_else(|| model.pointer("/capabilities/vision")?.as_bool()),
        tools: has(model, "/supported_parameters", "tools")
            .or_else(|| model.pointer("/capabilities/function_calling")?.as_bool()),
        ..ModelFacts::default()
    };
    Some(ModelView { name: text(model, &["/id", "/name"])?, facts })
}

/// OpenRouter gives the price of one token as a decimal string; free models have 0.
fn prices(model: &Value) -> Option<Prices> {
    let price = |key: &str| {
        let token: f64 = model.pointer(&format!("/pricing/{key}"))?.as_str()?.parse().ok()?;
        Price::of(token * 1e6).ok()
    };
    Some(Prices {
        input: price("prompt")?,
        output: price("completion")?,
        cached: price("input_cache_read"),
        cache_write: price("input_cache_write"),
    })
}

fn gemini(model: &Value) -> Option<ModelView> {
    let name = text(model, &["/name"])?;
    // Embedding models and the like cannot chat.
    if has(model, "/supportedGenerationMethods", "generateContent") == Some(false) {
        return None;
    }
    let facts = ModelFacts {
        context_limit: count(model, &["/inputTokenLimit"]),
        output_limit: count(model, &["/outputTokenLimit"]),
        ..ModelFacts::default()
    };
    Some(ModelView { name: name.strip_prefix("models/").unwrap_or(&name).to_owned(), facts })
}

fn anthropic(model: &Value) -> Option<ModelView> {
    let facts = ModelFacts {
        context_limit: count(model, &["/max_input_tokens"]),
        output_limit: count(model, &["/max_tokens"]),
        ..ModelFacts::default()
    };
    Some(ModelView { name: text(model, &["/id"])?, facts })
}

/// Describes a model. `given` is its current context size, if it is running.
fn ollama(name: &str, shown: &Value, given: Option<u64>) -> ModelFacts {
    let info = shown.get("model_info").and_then(Value::as_object);
    let length = info.and_then(|info| info.iter().find(|(key, _)| key.ends_with(".context_length")));
    let trained = length.and_then(|(_, length)| length.as_u64());
    // The size in the model's own parameters; otherwise the running model's, if it is above the default; otherwise the
    // default.
    let wanted = room_set(shown).or(given.filter(|given| *given > OLLAMA_CONTEXT_MAX)).unwrap_or(OLLAMA_CONTEXT_MAX);
    let can = |word: &str| has(shown, "/capabilities", word);
    let levels = |thinks: bool| match (thinks, has_levels(name)) {
        (true, true) => vec![Thinking::Low, Thinking::Medium, Thinking::High],
        (true, false) => vec![Thinking::Off, Thinking::High],
        (false, _) => vec![Thinking::Off],
    };
    ModelFacts {
        context_limit: trained.map(|trained| trained.min(wanted)),
        images: can("vision"),
        tools: can("tools"),
        thinking: can("thinking").map(levels),
        ..ModelFacts::default()
    }
}

/// Reads `num_ctx` from the model's own parameters, which are lines of a name and a value.
fn room_set(shown: &Value) -> Option<u64> {
    let lines = shown.get("parameters")?.as_str()?.lines();
    lines.filter_map(|line| line.trim().strip_prefix("num_ctx")).find_map(|value| value.trim().parse().ok())
}

/// Returns the context size of a running model.
fn room_given(running: &Value, name: &str) -> Option<u64> {
    let models = running.get("models")?.as_array()?;
    let one = models.iter().find(|one| text(one, &["/model", "/name"]).as_deref() == Some(name))?;
    count(one, &["/context_length"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(model: Value) -> Option<u64> {
        compatible(&model).unwrap().facts.context_limit
    }

    #[test]
    fn each_server_says_how_much_room_there_is_in_its_own_words() {
        assert_eq!(limit(json!({ "id": "qwen", "max_model_len": 40_960 })), Some(40_960));
        assert_eq!(limit(json!({ "id": "qwen", "meta": { "n_ctx_train": 32_768 } })), Some(32_768));
        assert_eq!(limit(json!({ "id": "x/y", "context_length": 131_072 })), Some(131_072));
        assert_eq!(limit(json!({ "id": "gpt" })), None);
        assert!(compatible(&json!({ "object": "model" })).is_none());
        let shown = json!({ "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960 }, "capabilities": ["completion", "tools"] });
        let facts = ollama("qwen3", &shown, None);
        assert_eq!((facts.context_limit, facts.tools, facts.images), (Some(16_384), Some(true), Some(false)));
        assert_eq!(facts.thinking, Some(vec![Thinking::Off]));
    }

    #[test]
    fn a_model_of_ollamas_has_the_room_that_its_maker_or_its_server_gives_it_and_else_a_bounded_one() {
        let shown = |trained: u64, parameters: &str| json!({ "model_info": { "qwen3.context_length": trained }, "parameters": parameters });
        let limit = |shown: &Value, given| ollama("qwen3", shown, given).context_limit;
        assert_eq!(limit(&shown(262_144, ""), None), Some(OLLAMA_CONTEXT_MAX));
        assert_eq!(limit(&shown(8_192, ""), None), Some(8_192));
        assert_eq!(limit(&shown(262_144, "stop \"x\"\nnum_ctx                        4096"), None), Some(4_096));
        assert_eq!(limit(&shown(262_144, ""), Some(4_096)), Some(OLLAMA_CONTEXT_MAX), "it is asked for more");
        assert_eq!(limit(&shown(262_144, ""), Some(32_768)), Some(32_768));
        assert_eq!(limit(&json!({}), None), None);
        let running = json!({ "models": [{ "model": "qwen3:8b", "context_length": 32_768 }] });
        assert_eq!((room_given(&running, "qwen3:8b"), room_given(&running, "qwen3")), (Some(32_768), None));
    }

    #[test]
    fn only_models_of_ollamas_with_levels_offer_them() {
        let thinks = json!({ "capabilities": ["completion", "thinking"] });
        assert_eq!(ollama("qwen3:8b", &thinks, None).thinking, Some(vec![Thinking::Off, Thinking::High]));
        let levels = vec![Thinking::Low, Thinking::Medium, Thinking::High];
        assert_eq!(ollama("gpt-oss:20b", &thinks, None).thinking, Some(levels));
    }

    #[test]
    fn a_name_that_nobody_could_type_is_left_out() {
        let list = json!([{ "id": "a\u{7}b" }, { "id": "x".repeat(600) }, { "id": "" }, { "id": "good" }]);
        let names: Vec<_> = views(&list, "data", compatible).into_iter().map(|view| view.name).collect();
        assert_eq!(names, ["good"]);
    }

    #[test]
    fn a_price_of_a_token_is_a_price_of_a_million() {
        let model = json!({ "id": "x", "pricing": { "prompt": "0.00000125", "completion": "0.00001" } });
        let prices = compatible(&model).unwrap().facts.prices.unwrap();
        assert_eq!((prices.input.to_string(), prices.output.to_string()), ("1.25".to_owned(), "10".to_owned()));
    }

    #[test]
    fn a_model_that_cannot_be_talked_to_is_left_out() {
        let list = json!({ "models": [
            { "name": "models/gemini-2.5-pro", "inputTokenLimit": 1_048_576, "supportedGenerationMethods": ["generateContent"] },
            { "name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"] },
        ] });
        let names: Vec<_> = views(&list, "models", gemini).into_iter().map(|view| view.name).collect();
        assert_eq!(names, ["gemini-2.5-pro"]);
    }
}
