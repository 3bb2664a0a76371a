//! What a server is set up with, who is logged in to it, and who did what.

use std::time::Duration;

use protocol::{
    AuditRow, Gathered, Listing, LoginCode, PodRules, ProfileView, ProviderTest, SessionView, ToolDefault, WallItem,
};
use reqwest::Method;

use crate::{Client, ClientError, calls::segment};

/// The server gives a provider 10 s; the rest is room for its answer.
const TEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Which rows of the audit are asked for; what is absent lets all through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditFilter<'a> {
    pub action: Option<&'a str>,
    /// `done`, `refused` or `failed`.
    pub result: Option<&'a str>,
    /// A Pod's is `runtime_id/worker_id`.
    pub target: Option<&'a str>,
    /// Of this runtime's server alone.
    pub runtime: Option<&'a str>,
    /// `next` of the page before.
    pub after: Option<&'a str>,
    /// As many as the server likes when absent.
    pub limit: Option<u32>,
}

impl Client {
    /// Asks a provider now. What is wrong with it is an answer, no error.
    pub async fn test_provider(&self, name: &str) -> Result<ProviderTest, ClientError> {
        let path = format!("/api/v1/providers/{}/test", segment(name)?);
        self.post(&path)?.within(TEST_TIMEOUT).json().await
    }

    pub async fn profiles(&self) -> Result<Listing<ProfileView>, ClientError> {
        self.get("/api/v1/profiles")?.json().await
    }

    /// What stands around the commands of the server's Pods.
    pub async fn walls(&self) -> Result<Listing<WallItem>, ClientError> {
        self.get("/api/v1/walls")?.json().await
    }

    /// The tools, and what happens to a call that no rule is about.
    pub async fn tool_defaults(&self) -> Result<Listing<ToolDefault>, ClientError> {
        self.get("/api/v1/tools")?.json().await
    }

    /// The Pods that have rules of their own.
    pub async fn rules(&self) -> Result<Gathered<PodRules>, ClientError> {
        self.get("/api/v1/rules")?.json().await
    }

    /// As [`Client::rules`], those of one runtime.
    pub async fn rules_of(&self, runtime: &str) -> Result<Gathered<PodRules>, ClientError> {
        self.call(Method::GET, "/api/v1/rules", &[("runtime", Some(runtime))])?.json().await
    }

    /// The browsers that are logged in.
    pub async fn sessions(&self) -> Result<Listing<SessionView>, ClientError> {
        self.get("/api/v1/sessions")?.json().await
    }

    /// Ends a browser's login.
    pub async fn sign_out(&self, id: &str) -> Result<(), ClientError> {
        self.call(Method::DELETE, &format!("/api/v1/sessions/{}", segment(id)?), &[])?.done().await
    }

    /// Ends the logins of all browsers.
    pub async fn sign_out_all(&self) -> Result<(), ClientError> {
        self.call(Method::DELETE, "/api/v1/sessions", &[])?.done().await
    }

    /// A code that logs one browser in.
    pub async fn login_code(&self) -> Result<LoginCode, ClientError> {
        self.post("/api/v1/login-codes")?.json().await
    }

    /// Who did what, newest first: those rows alone that the filter lets through.
    pub async fn audit_of(&self, filter: AuditFilter<'_>) -> Result<Gathered<AuditRow>, ClientError> {
        let AuditFilter { action, result, target, runtime, after, limit } = filter;
        let limit = limit.map(|limit| limit.to_string());
        let query = [
            ("action", action),
            ("result", result),
            ("target", target),
            ("runtime", runtime),
            ("after", after),
            ("limit", limit.as_deref()),
        ];
        self.call(Method::GET, "/api/v1/audit", &query)?.json().await
    }
}
