//! Resolves what a person wrote to one Pod, among all runtimes.

use futures_util::future::join_all;
use protocol::{ApiError, Candidate, ErrorCode, PodName, PodRef, RuntimeId, Target};

use super::{Backend, everywhere::within};

/// The most Pods that are suggested.
const CANDIDATES_MAX: usize = 5;

impl Backend {
    /// Resolves what a person wrote (`name`, `name@runtime`, `runtime/worker`) to an address.
    ///
    /// # Errors
    /// `ambiguous_name` with all candidates if more than one runtime has a Pod of this name; `pod_not_found` with
    /// similar names.
    pub async fn resolve(&self, target: &str) -> Result<PodRef, ApiError> {
        match target.parse::<Target>().map_err(|error| ApiError::invalid(error.to_string()))? {
            Target::Ref(pod) => match self.pod(&pod).await {
                // A Pod that its server listed last is meant, whether that server answers now or not.
                Err(error) if error.code == ErrorCode::RuntimeUnavailable => {
                    self.port(&pod.runtime_id)?.pod_seen(&pod.worker_id).map(|summary| summary.pod).ok_or(error)
                }
                found => found.map(|detail| detail.summary.pod),
            },
            Target::Name { name, runtime_id: Some(runtime_id) } => {
                match self.port(&runtime_id)?.pod_named(&name).await? {
                    Some(pod) => Ok(pod),
                    None => Err(unknown_name(self, &name, Some(&runtime_id)).await?),
                }
            }
            Target::Name { name, runtime_id: None } => named_anywhere(self, &name).await,
        }
    }
}

async fn named_anywhere(backend: &Backend, name: &PodName) -> Result<PodRef, ApiError> {
    // Other servers are asked only if the name is not known, so a slow server does not delay known names.
    let mut found = named(backend, name, Asked::Known).await?;
    if found.is_empty() {
        found = named(backend, name, Asked::Anew).await?;
    }
    match found.len() {
        0 => Err(unknown_name(backend, name, None).await?),
        1 => Ok(found.remove(0)),
        _ => Err(ambiguous(name, found)),
    }
}

/// The Pods of this name, in each runtime that answers.
async fn named(backend: &Backend, name: &PodName, asked: Asked) -> Result<Vec<PodRef>, ApiError> {
    let entries = backend.registry.entries();
    let answers = entries.iter().map(|(id, entry)| async move {
        let answer = async {
            match asked {
                Asked::Known => entry.port.pod_known(name).await,
                Asked::Anew => entry.port.pod_named(name).await,
            }
        };
        (id, within(answer).await)
    });
    let mut found = Vec::new();
    for (id, answer) in join_all(answers).await {
        match answer {
            Ok(pod) => found.extend(pod),
            // A runtime that does not answer delays nobody and does not hide our own Pods.
            Err(error) if *id != RuntimeId::local() => {
                tracing::debug!(%error, %id, "a name is not looked up there")
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

async fn unknown_name(backend: &Backend, name: &PodName, runtime_id: Option<&RuntimeId>) -> Result<ApiError, ApiError> {
    let mut near = match runtime_id {
        Some(id) if *id != RuntimeId::local() => Vec::new(),
        _ => backend.host.pods().near(name.as_str()).await?,
    };
    for (id, entry) in backend.registry.entries() {
        if runtime_id.is_none_or(|wanted| *wanted == id) {
            near.extend(entry.port.near_names(name));
        }
    }
    near.truncate(CANDIDATES_MAX);
    let hint = match near.first() {
        Some(candidate) => format!("; did you mean \"{}\"?", candidate.name),
        None => String::new(),
    };
    let place = match runtime_id {
        Some(id) if *id != RuntimeId::local() => format!(" in the runtime \"{id}\""),
        _ => String::new(),
    };
    let sentence = format!("no Pod is called \"{name}\"{place}{hint}");
    Ok(ApiError::new(ErrorCode::PodNotFound, sentence).with_candidates(near))
}

/// Whether to use the known lists of other servers or to ask them now.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Known,
    Anew,
}

fn ambiguous(name: &PodName, found: Vec<PodRef>) -> ApiError {
    let ways: Vec<String> = found.iter().map(|pod| format!("{name}@{}", pod.runtime_id)).collect();
    let sentence = format!("more than one Pod is called \"{name}\"; say which one: {}", ways.join(" or "));
    let candidates = found.into_iter().map(|pod| Candidate { pod, name: name.clone() }).collect();
    ApiError::new(ErrorCode::AmbiguousName, sentence).with_candidates(candidates)
}
