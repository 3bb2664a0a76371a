//! The scenarios of the suite that are claimed, and why the others are not.

/// A claimed scenario, and the protocol version that it is run with.
pub(crate) struct Claimed {
    pub(crate) scenario: &'static str,
    pub(crate) version: &'static str,
    /// Names of checks in it that cannot pass here, because they need tools of the suite's own server or features
    /// that are not claimed. Exactly these may fail.
    pub(crate) without: &'static [&'static str],
}

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

const fn whole(scenario: &'static str, version: &'static str) -> Claimed {
    Claimed { scenario, version, without: &[] }
}

pub(crate) const CLAIMED: &[Claimed] = &[
    whole("server-initialize", OLDER),
    whole("server-session-lifecycle", OLDER),
    whole("ping", OLDER),
    whole("tools-list", OLDER),
    whole("resources-list", OLDER),
    whole("server-sse-polling", OLDER),
    whole("server-sse-multiple-streams", OLDER),
    whole("dns-rebinding-protection", OLDER),
    Claimed {
        scenario: "server-stateless",
        version: NEWER,
        without: &[
            // These four call tools of the suite's own server: test_missing_capability, test_streaming_elicitation,
            // test_logging_tool.
            "ServerRejectsUndeclaredCapability",
            "MissingCapabilityHttp400",
            "HttpServerNoIndependentRequestsOnStream",
            "ServerNoLogWithoutLogLevel",
        ],
    },
    whole("tools-list", NEWER),
    whole("resources-list", NEWER),
    whole("sep-2164-resource-not-found", NEWER),
    whole("server-sse-multiple-streams", NEWER),
    whole("dns-rebinding-protection", NEWER),
    whole("http-header-validation", NEWER),
    // There are no prompts.
    Claimed { scenario: "caching", version: NEWER, without: &["PromptsListCachingHints"] },
];

const OWN_TOOL: &str = "it calls a tool that only the suite's own server has";
const OWN_RESOURCE: &str = "it reads a resource that only the suite's own server has";
const NO_PROMPTS: &str = "prompts are not offered";
const NO_ELICITATION: &str = "clients are asked nothing: what Pods ask is in the inbox";
const NO_SAMPLING: &str = "clients are not asked for answers of models";
const NO_TASKS: &str = "the extension for tasks is not offered: `wait` is bounded and tells progress";
const NO_SKILLS: &str = "the extension for skills is not offered";

/// Scenario, and why it is left out.
pub(crate) const LEFT_OUT: &[(&str, &str)] = &[
    ("logging-set-level", "logs are not sent to clients"),
    ("completion-complete", "completions are not offered"),
    ("tools-call-simple-text", OWN_TOOL),
    ("tools-call-image", OWN_TOOL),
    ("tools-call-audio", OWN_TOOL),
    ("tools-call-embedded-resource", OWN_TOOL),
    ("tools-call-mixed-content", OWN_TOOL),
    ("tools-call-with-logging", OWN_TOOL),
    ("tools-call-error", OWN_TOOL),
    ("tools-call-with-progress", OWN_TOOL),
    ("tools-call-sampling", NO_SAMPLING),
    ("tools-call-elicitation", NO_ELICITATION),
    ("json-schema-2020-12", OWN_TOOL),
    ("elicitation-sep1034-defaults", NO_ELICITATION),
    ("elicitation-sep1330-enums", NO_ELICITATION),
    ("resources-read-text", OWN_RESOURCE),
    ("resources-read-binary", OWN_RESOURCE),
    ("resources-templates-read", OWN_RESOURCE),
    ("resources-subscribe", OWN_RESOURCE),
    ("resources-unsubscribe", OWN_RESOURCE),
    ("sep-2640-skills-directory", NO_SKILLS),
    ("sep-2640-skills-enumeration", NO_SKILLS),
    ("sep-2640-skills-manifest", NO_SKILLS),
    ("prompts-list", NO_PROMPTS),
    ("prompts-get-simple", NO_PROMPTS),
    ("prompts-get-with-args", NO_PROMPTS),
    ("prompts-get-embedded-resource", NO_PROMPTS),
    ("prompts-get-with-image", NO_PROMPTS),
    ("http-custom-header-server-validation", "no tool of ours wants a header of its own"),
    ("tasks-lifecycle", NO_TASKS),
    ("tasks-capability-negotiation", NO_TASKS),
    ("tasks-wire-fields", NO_TASKS),
    ("tasks-request-state-removal", NO_TASKS),
    ("tasks-mrtr-input", NO_TASKS),
    ("tasks-request-headers", NO_TASKS),
    ("tasks-dispatch-and-envelope", NO_TASKS),
    ("tasks-status-notifications", NO_TASKS),
    ("tasks-required-task-error", NO_TASKS),
    ("tasks-mrtr-composition", NO_TASKS),
    ("input-required-result-basic-elicitation", NO_ELICITATION),
    ("input-required-result-basic-sampling", NO_SAMPLING),
    ("input-required-result-basic-list-roots", "clients are not asked for their roots"),
    ("input-required-result-request-state", NO_ELICITATION),
    ("input-required-result-multiple-input-requests", NO_ELICITATION),
    ("input-required-result-multi-round", NO_ELICITATION),
    ("input-required-result-missing-input-response", NO_ELICITATION),
    ("input-required-result-non-tool-request", NO_ELICITATION),
    ("input-required-result-result-type", NO_ELICITATION),
    ("input-required-result-unsupported-methods", NO_ELICITATION),
    ("input-required-result-tampered-state", NO_ELICITATION),
    ("input-required-result-capability-check", NO_ELICITATION),
    ("input-required-result-ignore-extra-params", NO_ELICITATION),
    ("input-required-result-validate-input", NO_ELICITATION),
];
