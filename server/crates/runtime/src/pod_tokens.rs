//! Tokens with which a Pod's agent reaches yoi's own MCP server as that Pod and nothing else.
//!
//! A token is for one Pod and one session of its agent. It is random, only its hash is kept, and only in memory. It
//! ends when its owner drops it, or with the server.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use protocol::{ApiError, ErrorCode, WorkerId};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The most tokens that are valid at once; further ones are refused.
const TOKENS_MAX: usize = 4_096;

type Hash = [u8; 32];

/// The tokens that are valid now.
#[derive(Debug, Clone, Default)]
pub struct PodTokens(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// The address of the MCP server for agents.
    url: OnceLock<String>,
    good: Mutex<HashMap<Hash, TokenHolder>>,
}

/// The Pod that a token speaks for.
#[derive(Debug, Clone)]
pub struct TokenHolder {
    pub worker_id: WorkerId,
    /// Cancelled when the token becomes invalid, which ends everything opened with it.
    pub ended: CancellationToken,
}

/// A token that is valid until this is dropped.
pub struct PodToken {
    tokens: PodTokens,
    secret: String,
    url: String,
}

impl PodTokens {
    /// Sets the address at which agents find the MCP server. Only the first call counts.
    pub fn serve_at(&self, url: String) {
        let _ = self.0.url.set(url);
    }

    /// Creates a token for one session of the Pod's agent. `None` if MCP is not served here.
    ///
    /// # Errors
    /// `rate_limited`: too many tokens are valid.
    pub fn mint(&self, worker_id: &WorkerId) -> Result<Option<PodToken>, ApiError> {
        let Some(url) = self.0.url.get().cloned() else { return Ok(None) };
        let secret = format!("pod-{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let holder = TokenHolder { worker_id: worker_id.clone(), ended: CancellationToken::new() };
        let mut good = self.good();
        if good.len() >= TOKENS_MAX {
            let sentence = format!("{TOKENS_MAX} agents of Pods have sessions; end one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        good.insert(hash(&secret), holder);
        Ok(Some(PodToken { tokens: self.clone(), secret, url }))
    }

    /// The holder of this token, or `None` if it is not valid.
    pub fn holder(&self, attempt: &str) -> Option<TokenHolder> {
        self.good().get(&hash(attempt)).cloned()
    }

    fn good(&self) -> MutexGuard<'_, HashMap<Hash, TokenHolder>> {
        self.0.good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PodToken {
    /// What the agent sends as `Authorization: Bearer …`.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The address that the agent sends it to.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PodToken {
    fn drop(&mut self) {
        if let Some(holder) = self.tokens.good().remove(&hash(&self.secret)) {
            holder.ended.cancel();
        }
    }
}

impl fmt::Debug for PodToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PodToken").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Only a hash is looked up, so the time that takes reveals nothing about the token.
fn hash(secret: &str) -> Hash {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_speaks_for_its_pod_until_it_is_let_go_of() {
        let (tokens, pod) = (PodTokens::default(), WorkerId::parse("w").unwrap());
        assert!(tokens.mint(&pod).unwrap().is_none(), "nobody serves");
        tokens.serve_at("http://127.0.0.1:1/mcp".to_owned());
        let token = tokens.mint(&pod).unwrap().unwrap();
        let other = tokens.mint(&pod).unwrap().unwrap();
        let holder = tokens.holder(token.secret()).unwrap();
        assert_eq!(holder.worker_id, pod);
        for wrong in ["", "pod-", &token.secret()[1..], &format!("{} ", token.secret())] {
            assert!(tokens.holder(wrong).is_none(), "{wrong}");
        }
        assert!(!format!("{tokens:?} {token:?}").contains(&token.secret()[8..]));
        let secret = token.secret().to_owned();
        drop(token);
        assert!(holder.ended.is_cancelled() && tokens.holder(&secret).is_none());
        assert!(tokens.holder(other.secret()).is_some(), "another session of the same Pod goes on");
    }

    #[test]
    fn no_more_tokens_are_good_than_are_counted() {
        let (tokens, pod) = (PodTokens::default(), WorkerId::parse("w").unwrap());
        tokens.serve_at("http://127.0.0.1:1/mcp".to_owned());
        let mut all: Vec<_> = (0..TOKENS_MAX).map(|_| tokens.mint(&pod).unwrap().unwrap()).collect();
        assert_eq!(tokens.mint(&pod).unwrap_err().code, ErrorCode::RateLimited);
        all.pop();
        assert!(tokens.mint(&pod).is_ok());
    }
}
