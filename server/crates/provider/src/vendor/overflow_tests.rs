use serde_json::json;

use super::*;

/// The server, the content of `error` (or the whole body, as text), and the sizes that are read from it.
const TOLD: &[(&str, &str, Option<u64>, Option<u64>)] = &[
    (
        "OpenAI",
        r#"{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8269 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}"#,
        Some(8192),
        Some(8269),
    ),
    (
        "OpenAI, completions",
        r#"{"message":"This model's maximum context length is 4097 tokens, however you requested 6539 tokens (6283 in your prompt; 256 for the completion). Please reduce your prompt; or completion length."}"#,
        Some(4097),
        Some(6539),
    ),
    (
        "OpenAI, responses",
        r#"{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}"#,
        None,
        None,
    ),
    ("a name and nothing else", r#"{"code":"context_length_exceeded"}"#, None, None),
    (
        "Anthropic",
        r#"{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}"#,
        Some(200_000),
        Some(208_310),
    ),
    (
        "Anthropic, with the answer's share",
        r#"{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"}"#,
        Some(200_000),
        None,
    ),
    ("Anthropic, bytes", r#"{"type":"request_too_large","message":"Request exceeds the maximum size"}"#, None, None),
    (
        "Gemini",
        r#"{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}"#,
        Some(1_048_575),
        Some(1_196_265),
    ),
    (
        "Gemini, earlier",
        r#"{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}"#,
        Some(1_048_576),
        None,
    ),
    (
        "llama.cpp",
        r#"{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}"#,
        Some(8192),
        Some(14_429),
    ),
    (
        "llama.cpp, newer",
        r#"{"code":400,"message":"request (4124 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}"#,
        Some(4096),
        Some(4124),
    ),
    (
        "llama.cpp, in the midst",
        r#"{"code":500,"message":"Context size has been exceeded.","type":"server_error"}"#,
        None,
        None,
    ),
    ("llama-cpp-python", r#""Requested tokens (2285) exceed context window of 2048""#, Some(2048), Some(2285)),
    (
        "vLLM",
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 4506 tokens (4250 in the messages, 256 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}"#,
        Some(4096),
        Some(4506),
    ),
    (
        "vLLM, newer",
        r#"{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.","type":"BadRequestError"}"#,
        Some(4096),
        Some(5000),
    ),
    (
        "SGLang",
        r#"{"message":"The input (100 tokens) is longer than the model's context length (50 tokens)."}"#,
        Some(50),
        Some(100),
    ),
    ("Ollama", r#""prompt too long; exceeded max context length by 311 tokens""#, None, None),
    ("Ollama, embedding", r#""the input length exceeds the context length""#, None, None),
    (
        "LM Studio",
        r#""The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.""#,
        Some(4096),
        Some(13_055),
    ),
    (
        "LM Studio, earlier",
        r#""Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input""#,
        Some(32_768),
        Some(111_490),
    ),
    ("LM Studio, newer", r#""Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)""#, Some(7424), Some(15_028)),
    (
        "OpenRouter",
        r#"{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 150211 tokens (148000 of text input, 2211 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400}"#,
        Some(131_072),
        Some(150_211),
    ),
    (
        "Groq",
        r#"{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}"#,
        None,
        None,
    ),
    (
        "Cerebras",
        r#"{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","code":"context_length_exceeded"}"#,
        Some(8192),
        Some(9000),
    ),
    (
        "Mistral",
        r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":3051}"#,
        Some(32_768),
        Some(40_000),
    ),
    (
        "DeepSeek",
        r#"{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (62000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error"}"#,
        Some(65_536),
        Some(70_000),
    ),
    ("Bedrock", r#""Input is too long for requested model.""#, None, None),
    (
        "xAI",
        r#""This model's maximum prompt length is 131072 but the request contains 537812 tokens.""#,
        Some(131_072),
        Some(537_812),
    ),
    (
        "GitHub",
        r#"{"message":"prompt token count of 128523 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}"#,
        Some(128_000),
        Some(128_523),
    ),
    (
        "TGI",
        r#"{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 512 `max_new_tokens`"}"#,
        Some(4097),
        None,
    ),
    (
        "Cohere",
        r#""too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.""#,
        Some(4081),
        Some(4292),
    ),
    (
        "Moonshot",
        r#"{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"}"#,
        Some(131_072),
        Some(140_000),
    ),
    (
        "Qwen",
        r#"{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]"}"#,
        Some(30_720),
        None,
    ),
    ("MiniMax", r#"{"message":"invalid params, context window exceeds limit (2013)"}"#, None, None),
    (
        "with commas",
        r#"{"message":"exceeds the context window of 32,768 tokens: 40,001 were sent"}"#,
        Some(32_768),
        Some(40_001),
    ),
];

/// Messages about something else.
const OTHER: &[&str] = &[
    r#"{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens","type":"invalid_request_error"}"#,
    r#"{"message":"Rate limit reached: too many tokens per minute. Limit 30000, used 29000","type":"tokens","code":"rate_limit_exceeded"}"#,
    r#"{"message":"You exceeded your current quota, token limit included","code":"insufficient_quota"}"#,
    r#"{"message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute","type":"rate_limit_error"}"#,
    r#"{"message":"Incorrect API key provided","code":"invalid_api_key"}"#,
    r#"{"message":"The model `x` does not exist","code":"model_not_found"}"#,
    r#"{"message":"The server had an error while processing your request","type":"server_error"}"#,
    r#"{"message":"messages.1: `tool_use` ids were found without `tool_result` blocks","type":"invalid_request_error"}"#,
];

fn read(error: &str) -> (Value, String, Vec<String>) {
    let error: Value = serde_json::from_str(error).unwrap();
    let message = error.as_str().or_else(|| error["message"].as_str()).unwrap_or_default().to_owned();
    let names = ["type", "code"].iter().filter_map(|name| error[name].as_str()).map(str::to_lowercase).collect();
    (error, message, names)
}

#[test]
fn what_servers_say_of_a_question_that_is_too_long_is_known_with_its_sizes() {
    for (who, error, limit, used) in TOLD {
        let (error, message, names) = read(error);
        assert!(is_told(&names, &message), "{who}: {message}");
        assert_eq!(sizes(&error, &message), ContextSizes { limit: *limit, used: *used }, "{who}: {message}");
    }
}

#[test]
fn what_they_say_of_rates_answers_and_keys_is_something_else() {
    for error in OTHER {
        let (_, message, names) = read(error);
        assert!(!is_told(&names, &message), "{message}");
    }
}

#[test]
fn a_size_is_a_number_by_itself() {
    let found = |text: &str| numbers(text).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
    assert_eq!(found("1 and 22, then 3,333. But 4.5 v6 7b gpt-8 9/10 1,2 (11)"), [1, 22, 3333, 11]);
    assert_eq!(found("99999999999999999999999 0"), Vec::<u64>::new());
    assert_eq!(sizes(&json!({ "n_ctx": 0 }), "no number"), ContextSizes::default());
}
