//! What a server offers to people: prompts and resources. They are listed, made and read outside of any call, over a
//! connection that lasts no longer than that. What comes back is bounded and cleaned, and counts as text from a stranger.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use protocol::{McpArgument, McpContent, McpPrompt, McpPromptText, McpResource, WorkerId};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, JsonObject, Prompt, ReadResourceRequestParams, Resource, ResourceContents,
    Role,
};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    bounds::{
        CONTENT_CHARS_MAX, DESCRIPTION_CHARS_MAX, DETAIL_CHARS_MAX, NAME_CHARS_MAX, PAGES_MAX, PICTURE_BYTES_MAX,
        SHELF_FRESH, SHELF_MAX, URI_CHARS_MAX, VISIT_MAX,
    },
    connection::{Connection, Status},
    handler::Running,
    live::{Failed, Live, page, within},
    names,
    servers::{Known, Servers},
    stand::Stand,
    stock::Shelf,
    templates,
    text::{line, plain},
};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShelfFailed {
    #[error("none of the Pod's MCP servers has this: {0}")]
    Missing(String),
    #[error("the prompt {0} does not fit: {1}")]
    Arguments(String, String),
    #[error("the MCP server \"{0}\" is away: {1}")]
    Away(String, String),
    #[error("the MCP server \"{0}\" refused: {1}")]
    Refused(String, String),
}

/// The arguments of a prompt, as a program gives them or as a person types them.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    Arguments(JsonObject),
    /// In the order of the prompt's arguments, each one word or in double quotes, or `name=value`. A single argument is
    /// all of the text.
    Words(String),
}

impl Given {
    fn arguments(self, prompt: &McpPrompt) -> Result<JsonObject, String> {
        let known = || prompt.arguments.iter().map(|one| one.name.as_str());
        let arguments = match self {
            Self::Arguments(arguments) => arguments,
            Self::Words(words) => typed(&words, &known().collect::<Vec<_>>())?,
        };
        if let Some(name) = arguments.keys().find(|name| !known().any(|known| known == **name)) {
            return Err(format!("it has no argument `{}`; {}", line(name, 80), wanted(prompt)));
        }
        match prompt.arguments.iter().find(|one| one.required && !arguments.contains_key(&one.name)) {
            Some(missing) => Err(format!("`{}` is missing; {}", missing.name, wanted(prompt))),
            None => Ok(arguments),
        }
    }
}

fn wanted(prompt: &McpPrompt) -> String {
    let names =
        prompt.arguments.iter().map(|one| if one.required { one.name.clone() } else { format!("{}?", one.name) });
    let names = names.collect::<Vec<_>>();
    if names.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", names.join(", ")) }
}

fn typed(words: &str, known: &[&str]) -> Result<JsonObject, String> {
    let named =
        |word: &str| word.split_once('=').and_then(|(name, _)| known.iter().find(|known| **known == name)).is_some();
    let mut arguments = JsonObject::new();
    if let [only] = known
        && !named(words.trim())
    {
        if !words.trim().is_empty() {
            arguments.insert((*only).to_owned(), words.trim().into());
        }
        return Ok(arguments);
    }
    for word in split(words)? {
        let (name, value) = match word.split_once('=').filter(|_| named(&word)) {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => {
                let next = known.iter().find(|known| !arguments.contains_key(**known));
                let next =
                    next.ok_or("there are more words than arguments; put words that belong together in quotes")?;
                ((*next).to_owned(), word)
            }
        };
        arguments.insert(name, value.into());
    }
    Ok(arguments)
}

/// Splits at spaces outside of double quotes.
fn split(words: &str) -> Result<Vec<String>, String> {
    let (mut all, mut word, mut is_quoted, mut is_word) = (Vec::new(), String::new(), false, false);
    for letter in words.chars() {
        match letter {
            '"' => (is_quoted, is_word) = (!is_quoted, true),
            letter if letter.is_whitespace() && !is_quoted => {
                if std::mem::take(&mut is_word) {
                    all.push(std::mem::take(&mut word));
                }
            }
            letter => {
                is_word = true;
                word.push(letter);
            }
        }
    }
    if is_quoted {
        return Err("a quotation mark has no other end".to_owned());
    }
    if is_word {
        all.push(word);
    }
    Ok(all)
}

/// The servers of one Pod, for a person who looks at what they offer.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    pub servers: &'a Servers,
    pub worker_id: &'a WorkerId,
    /// The servers that the Pod uses; `None` means all.
    pub named: Option<&'a [String]>,
    pub stand: &'a Stand,
}

impl Visit<'_> {
    /// Returns the prompts of all servers that answer.
    pub async fn prompts(self) -> Vec<McpPrompt> {
        let shelves = self.each(|_, shelf, _| async move { shelf }).await;
        shelves.iter().flat_map(|shelf| shelf.prompts.iter().map(|(_, prompt)| prompt.clone())).collect()
    }

    /// Returns the resources of all servers that answer, as they are offered to somebody who has typed `begun`.
    pub async fn resources(self, begun: &str) -> Vec<McpResource> {
        let begun: Arc<str> = begun.into();
        let offers = self.each(|known, shelf, (worker_id, stand)| {
            let begun = begun.clone();
            async move {
                // One at a time, so that a person who types does not start the server several times at once.
                let listing = known.listing.lock().await;
                let wanted = templates::wanted(&shelf, &begun);
                if !wanted.is_empty()
                    && let Ok((connection, live)) = connected(&known, &worker_id, &stand).await
                {
                    templates::ask(&shelf, &live, wanted).await;
                    connection.end().await;
                }
                drop(listing);
                templates::offered(&shelf, &begun)
            }
        });
        offers.await.into_iter().flatten().collect()
    }

    /// Does something with what each server that answers offers.
    async fn each<T, F>(self, then: impl Fn(Arc<Known>, Arc<Shelf>, (WorkerId, Stand)) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        // Each is listed to its end, even if nobody waits any more: the next one who asks gets it.
        let listed = self.servers.named(self.named).map(|known| {
            let (worker_id, stand) = (self.worker_id.clone(), self.stand.clone());
            tokio::spawn(async move { (shelf_of(&known, &worker_id, &stand).await, known, (worker_id, stand)) })
        });
        let mut done = Vec::new();
        for listed in listed.collect::<Vec<_>>() {
            if let Ok((Ok(shelf), known, whose)) = listed.await {
                done.push(tokio::spawn(then(known, shelf, whose)));
            }
        }
        let mut all = Vec::new();
        for done in done {
            all.extend(done.await.ok());
        }
        all
    }

    /// Has a prompt made. Its messages become one text.
    ///
    /// # Errors
    /// The Pod uses no such server, an argument is missing, or the server is away or refuses.
    pub async fn prompt(self, name: &str, given: Given) -> Result<McpPromptText, ShelfFailed> {
        let server = names::server_of(name).unwrap_or_default();
        let known = self.known(server)?;
        let shelf = shelf_of(&known, self.worker_id, self.stand).await?;
        let (original, prompt) =
            shelf.prompts.iter().find(|(_, prompt)| prompt.name == name).ok_or_else(|| missing(name))?;
        let arguments = given.arguments(prompt).map_err(|why| ShelfFailed::Arguments(name.to_owned(), why))?;
        let params = GetPromptRequestParams::new(original.clone()).with_arguments(arguments);
        let (connection, live) = connected(&known, self.worker_id, self.stand).await?;
        let made = within(live.peer.get_prompt(params)).await;
        connection.end().await;
        let made = made.map_err(|failed| refused(&known, &live, failed))?;
        let several = made.messages.len() > 1;
        let texts = made.messages.into_iter().map(|message| {
            let text = said(message.content);
            match (several, message.role) {
                (true, Role::Assistant) => format!("[The assistant:]\n{text}"),
                (true, _) => format!("[The user:]\n{text}"),
                (false, _) => text,
            }
        });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        let text = plain(&live.secrets.hide(text), CONTENT_CHARS_MAX);
        // In a console's field, a line that begins with a colon would be a command.
        let text = if text.starts_with(':') { format!(" {text}") } else { text };
        Ok(McpPromptText { name: name.to_owned(), text })
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// As for [`Self::prompt`].
    pub async fn resource(self, server: &str, uri: &str) -> Result<McpContent, ShelfFailed> {
        let known = self.known(server)?;
        let (connection, live) = connected(&known, self.worker_id, self.stand).await?;
        let read = within(live.peer.read_resource(ReadResourceRequestParams::new(uri))).await;
        connection.end().await;
        let read = read.map_err(|failed| refused(&known, &live, failed))?;
        let mut content =
            McpContent { uri: uri.to_owned(), media_type: "text/plain".to_owned(), text: None, data: None };
        let mut texts = Vec::new();
        for part in read.contents {
            match part {
                ResourceContents::TextResourceContents { text, .. } => texts.push(text),
                ResourceContents::BlobResourceContents { mime_type, blob, .. }
                    if texts.is_empty() && content.data.is_none() && blob.len() <= PICTURE_BYTES_MAX =>
                {
                    content.media_type = line(mime_type.as_deref().unwrap_or("application/octet-stream"), 100);
                    content.data = Some(blob);
                }
                _ => texts.push("[a part that is left out]".to_owned()),
            }
        }
        if content.data.is_none() {
            content.text = Some(plain(&live.secrets.hide(texts.join("\n")), CONTENT_CHARS_MAX));
        }
        Ok(content)
    }

    fn known(self, server: &str) -> Result<Arc<Known>, ShelfFailed> {
        let mut all = self.servers.named(self.named);
        all.find(|known| known.config.name.as_str() == server).ok_or_else(|| missing(server))
    }
}

/// Returns the bytes of a resource; none if they are no base64.
pub fn content_bytes(content: &McpContent) -> Vec<u8> {
    match (&content.text, &content.data) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(data)) => STANDARD.decode(data).unwrap_or_default(),
        (None, None) => Vec::new(),
    }
}

fn missing(name: &str) -> ShelfFailed {
    ShelfFailed::Missing(line(name, 80))
}

fn refused(known: &Known, live: &Live, failed: Failed) -> ShelfFailed {
    if let Failed::LoginWanted(demand) = &failed {
        return ShelfFailed::Away(known.config.name.to_string(), live.login.want(demand));
    }
    let why = line(&live.secrets.hide(failed.sentence()), DETAIL_CHARS_MAX);
    ShelfFailed::Refused(known.config.name.to_string(), why)
}

/// Returns what the server offers this Pod, as it was listed a moment ago, or as it lists it now.
async fn shelf_of(known: &Arc<Known>, worker_id: &WorkerId, stand: &Stand) -> Result<Arc<Shelf>, ShelfFailed> {
    let pod = worker_id.to_string();
    let _listing = known.listing.lock().await;
    if let Some(shelf) = known.shelf(&pod, SHELF_FRESH) {
        return Ok(shelf);
    }
    let (connection, live) = connected(known, worker_id, stand).await?;
    let listed = listed(known, &live).await;
    connection.end().await;
    let shelf = Arc::new(listed.map_err(|failed| refused(known, &live, failed))?);
    known.keep_shelf(pod, shelf.clone());
    Ok(shelf)
}

async fn connected(
    known: &Arc<Known>,
    worker_id: &WorkerId,
    stand: &Stand,
) -> Result<(Connection, Arc<Live>), ShelfFailed> {
    // Nobody answers questions here.
    let (asks, _) = mpsc::channel(1);
    let running = Running::new(known.config.name.clone(), asks);
    let mut connection = Connection::begin(known.clone(), stand.clone(), running, worker_id.to_string());
    let settled = timeout(VISIT_MAX, connection.status.wait_for(|status| !matches!(status, Status::Beginning))).await;
    let status = settled.ok().and_then(Result::ok).map(|status| status.clone());
    let why = match status {
        Some(Status::Live(live)) => return Ok((connection, live)),
        Some(Status::Away(why)) => why,
        Some(Status::Beginning) | None => "it takes too long to begin".to_owned(),
    };
    connection.end().await;
    Err(ShelfFailed::Away(known.config.name.to_string(), why))
}

async fn listed(known: &Known, live: &Live) -> Result<Shelf, Failed> {
    let server = known.config.name.as_str();
    let mut shelf = Shelf::default();
    let mut cursor = None;
    for _ in 0..if live.has(|can| can.prompts.is_some()) { PAGES_MAX } else { 0 } {
        let listed = within(live.peer.list_prompts(page(cursor))).await?;
        shelf.prompts.extend(listed.prompts.into_iter().map(|prompt| (prompt.name.clone(), shown(server, prompt))));
        cursor = listed.next_cursor;
        if cursor.is_none() || shelf.prompts.len() >= SHELF_MAX {
            break;
        }
    }
    let mut cursor = None;
    for _ in 0..if live.has(|can| can.resources.is_some()) { PAGES_MAX } else { 0 } {
        let listed = within(live.peer.list_resources(page(cursor))).await?;
        shelf.resources.extend(listed.resources.into_iter().filter_map(|resource| named(server, resource)));
        cursor = listed.next_cursor;
        if cursor.is_none() || shelf.resources.len() >= SHELF_MAX {
            break;
        }
    }
    let mut cursor = None;
    for _ in 0..if live.has(|can| can.resources.is_some()) { PAGES_MAX } else { 0 } {
        let listed = match within(live.peer.list_resource_templates(page(cursor))).await {
            Ok(listed) => listed,
            // It has none.
            Err(Failed::Refused { .. }) => break,
            Err(failed) => return Err(failed),
        };
        let shown = |template| templates::shown(server, template);
        shelf.templates.extend(listed.resource_templates.into_iter().filter_map(shown));
        cursor = listed.next_cursor;
        if cursor.is_none() || shelf.templates.len() >= SHELF_MAX {
            break;
        }
    }
    shelf.completes = live.has(|can| can.completions.is_some());
    shelf.prompts.truncate(SHELF_MAX);
    shelf.resources.truncate(SHELF_MAX);
    shelf.templates.truncate(SHELF_MAX);
    Ok(shelf)
}

fn shown(server: &str, prompt: Prompt) -> McpPrompt {
    let arguments = prompt.arguments.unwrap_or_default().into_iter().take(32).map(|argument| McpArgument {
        name: line(&argument.name, NAME_CHARS_MAX),
        description: argument.description.map(|words| line(&words, DETAIL_CHARS_MAX)),
        required: argument.required == Some(true),
    });
    McpPrompt {
        name: names::fit(server, &prompt.name),
        title: prompt.title.map(|title| line(&title, NAME_CHARS_MAX)),
        description: prompt.description.map(|words| line(&words, DESCRIPTION_CHARS_MAX)),
        arguments: arguments.collect(),
    }
}

fn named(server: &str, resource: Resource) -> Option<McpResource> {
    // An address that is cut or cleaned would be another one.
    let is_plain = resource.uri.len() <= URI_CHARS_MAX && plain(&resource.uri, URI_CHARS_MAX) == resource.uri;
    is_plain.then(|| McpResource {
        server: server.to_owned(),
        uri: resource.uri,
        name: line(&resource.name, NAME_CHARS_MAX),
        title: resource.title.map(|title| line(&title, NAME_CHARS_MAX)),
        description: resource.description.map(|words| line(&words, DETAIL_CHARS_MAX)),
        media_type: resource.mime_type.map(|kind| line(&kind, 100)),
        template: None,
    })
}

/// Returns a part of a prompt as text.
fn said(content: ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text,
        ContentBlock::ResourceLink(link) => format!("[{}]", line(&link.uri, URI_CHARS_MAX)),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[{}]\n{text}", line(&uri, URI_CHARS_MAX))
            }
            _ => "[a file that is left out]".to_owned(),
        },
        _ => "[a part that is left out]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(names: &[(&str, bool)]) -> McpPrompt {
        let argument = |(name, required): &(&str, bool)| McpArgument {
            name: (*name).to_owned(),
            description: None,
            required: *required,
        };
        McpPrompt {
            name: "s__p".into(),
            title: None,
            description: None,
            arguments: names.iter().map(argument).collect(),
        }
    }

    #[test]
    fn what_is_typed_after_a_prompt_becomes_its_arguments() {
        let of = |names: &[(&str, bool)], words: &str| {
            Given::Words(words.to_owned()).arguments(&prompt(names)).map(serde_json::Value::Object)
        };
        let two = &[("file", true), ("tone", false)][..];
        for (names, words, expected) in [
            (&[("topic", true)][..], " two words ", json!({ "topic": "two words" })),
            (&[("topic", true)][..], "topic=one", json!({ "topic": "one" })),
            (two, "a.rs", json!({ "file": "a.rs" })),
            (two, "\"a b.rs\" kind", json!({ "file": "a b.rs", "tone": "kind" })),
            (two, "tone=\"very kind\" a.rs", json!({ "file": "a.rs", "tone": "very kind" })),
            (&[][..], "", json!({})),
        ] {
            assert_eq!(of(names, words), Ok(expected), "{words}");
        }
        for (words, told) in [("", "`file` is missing"), ("a b c", "more words"), ("\"a", "quotation mark")] {
            assert!(of(two, words).unwrap_err().contains(told), "{words}");
        }
        let given = Given::Arguments(json!({ "other": "x" }).as_object().unwrap().clone());
        assert!(given.arguments(&prompt(two)).unwrap_err().contains("it takes file, tone?"));
    }
}
