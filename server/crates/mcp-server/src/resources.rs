//! Resources: transcripts, at `yoi://pods/{runtime_id}/{worker_id}/transcript`.

use backend::Backend;
use protocol::{
    ApiError, ErrorCode, PodRef, PodSummary,
    operation::{Filled, Limit, Loose},
    operations::Pods,
};
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use crate::{Caller, caller, transcripts};

const SCHEME: &str = "yoi://pods/";
const PART: &str = "/transcript";
const MARKDOWN: &str = "text/markdown";
/// How many are on one page of the list.
const LISTED: u32 = 100;

/// The URI of a Pod's transcript.
pub(crate) fn uri(pod: &PodRef) -> String {
    format!("{SCHEME}{pod}{PART}")
}

/// Parses a transcript's URI: the Pod, and the position before which to read.
pub(crate) fn parse(uri: &str) -> Result<(PodRef, Option<&str>), ApiError> {
    let nothing = || {
        let sentence =
            format!("there is no such resource; a transcript is at {SCHEME}{{runtime_id}}/{{worker_id}}{PART}");
        ApiError::new(ErrorCode::NotFound, sentence)
    };
    let (path, query) = uri.split_once('?').map_or((uri, None), |(path, query)| (path, Some(query)));
    let pod = path.strip_prefix(SCHEME).and_then(|rest| rest.strip_suffix(PART)).ok_or_else(nothing)?;
    let pod = pod.parse().map_err(|_| nothing())?;
    let before = query.map(|query| query.strip_prefix("before=").ok_or_else(nothing)).transpose()?;
    Ok((pod, before))
}

/// One page of what the caller may read: for a Pod's agent only its own transcript.
pub(crate) async fn listed(
    backend: &Backend,
    caller: &Caller,
    after: Option<String>,
) -> Result<ListResourcesResult, ApiError> {
    let mut result = ListResourcesResult::default();
    match caller {
        Caller::Pod(holder) => {
            let own = backend.pod(&caller::own(&holder.worker_id)).await?.summary;
            result.resources.push(described(&own));
        }
        Caller::Person => {
            let query = Pods {
                name: Filled(None),
                state: Filled(None),
                q: Loose(None),
                after: Loose(after),
                limit: Limit(LISTED),
            };
            let page = backend.read(query).await?;
            result.resources = page.items.iter().map(described).collect();
            result.next_cursor = page.next;
        }
    }
    Ok(result)
}

fn described(pod: &PodSummary) -> Resource {
    let mut resource = Resource::new(uri(&pod.pod), format!("{}.md", pod.name));
    resource.title = Some(format!("Transcript of {}", pod.name));
    resource.description = Some(format!("{}, {} {}", pod.state.as_str(), pod.provider, pod.model));
    resource.mime_type = Some(MARKDOWN.to_owned());
    let mut annotations = Annotations::default();
    annotations.last_modified = Some(pod.updated_at.to_string());
    resource.annotations = Some(annotations);
    resource
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |tail: &str, name: &str, about: &str| {
        let mut template = ResourceTemplate::new(format!("{SCHEME}{{runtime_id}}/{{worker_id}}{PART}{tail}"), name);
        template.description = Some(about.to_owned());
        template.mime_type = Some(MARKDOWN.to_owned());
        template
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template("", "transcript", "The newest page of a Pod's transcript."),
        template(
            "{?before}",
            "older transcript",
            "An older page: the records before the position that the newer page names.",
        ),
    ])
}

/// Reads one page of a transcript. For a Pod's agent other Pods' transcripts do not exist.
pub(crate) async fn read(backend: &Backend, caller: &Caller, asked: &str) -> Result<ReadResourceResult, ApiError> {
    let (pod, before) = readable(caller, asked)?;
    let page = transcripts::page(backend, &pod, before, transcripts::RECORDS_MAX).await?;
    let text = match page.next {
        Some(next) => format!("[older: {}?before={next}]\n\n{}", uri(&pod), page.text),
        None => page.text,
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, asked).with_mime_type(MARKDOWN)]))
}

/// Like [`parse`], if this caller may read it.
pub(crate) fn readable<'a>(caller: &Caller, asked: &'a str) -> Result<(PodRef, Option<&'a str>), ApiError> {
    let (pod, before) = parse(asked)?;
    match caller {
        Caller::Pod(holder) if caller::own(&holder.worker_id) != pod => {
            Err(ApiError::new(ErrorCode::NotVisible, "no such transcript, or none that this Pod may read"))
        }
        _ => Ok((pod, before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_transcript_names_a_pod_and_nothing_else_does() {
        let (pod, before) = parse("yoi://pods/local/w-1/transcript?before=12").unwrap();
        assert_eq!((pod.to_string().as_str(), before), ("local/w-1", Some("12")));
        assert_eq!(uri(&pod), "yoi://pods/local/w-1/transcript");
        assert_eq!(parse(&uri(&pod)).unwrap(), (pod, None));
        for wrong in [
            "",
            "yoi://pods/",
            "yoi://pods/local/transcript",
            "yoi://pods/local/w/transcript/x",
            "yoi://pods/local/w/transcript?x=1",
            "yoi://pods/LOCAL/w/transcript",
            "file:///etc/passwd",
            "yoi://pods/../../etc/transcript",
        ] {
            assert_eq!(parse(wrong).map_err(|error| error.code).err(), Some(ErrorCode::NotFound), "{wrong}");
        }
    }
}
