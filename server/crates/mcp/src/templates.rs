//! Resources whose addresses are made from a template: what of them is offered to somebody who types one.

use std::collections::{HashMap, HashSet};

use protocol::McpResource;
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionContext, Reference, ResourceTemplate};
use tokio::time::timeout;

use crate::{
    bounds::{ASKED_MAX, COMPLETE_MAX, DETAIL_CHARS_MAX, NAME_CHARS_MAX, URI_CHARS_MAX, VALUES_MAX},
    live::{Live, within},
    stock::Shelf,
    template::{Open, Template},
    text::{line, plain},
};

/// Returns the template as people see it; `None` if it is not usable.
pub(crate) fn shown(server: &str, listed: ResourceTemplate) -> Option<(Template, McpResource)> {
    let text = listed.uri_template;
    let template =
        Template::parse(&text).filter(|_| text.len() <= URI_CHARS_MAX && plain(&text, URI_CHARS_MAX) == text)?;
    let resource = McpResource {
        server: server.to_owned(),
        uri: template.beginning().to_owned(),
        name: line(&listed.name, NAME_CHARS_MAX),
        title: listed.title.map(|title| line(&title, NAME_CHARS_MAX)),
        description: listed.description.map(|words| line(&words, DETAIL_CHARS_MAX)),
        media_type: listed.mime_type.map(|kind| line(&kind, 100)),
        template: Some(text),
    };
    Some((template, resource))
}

/// Whether the letters are in its name or address.
pub(crate) fn fits(resource: &McpResource, letters: &str) -> bool {
    let fits = |text: &str| text.to_lowercase().contains(letters);
    let McpResource { name, uri, title, template, .. } = resource;
    fits(name) || fits(uri) || title.as_deref().is_some_and(fits) || template.as_deref().is_some_and(fits)
}

/// The resource at this address of a template; with the template, if the address is not whole.
fn at(template: &Template, shown: &McpResource, uri: String) -> McpResource {
    match template.is_whole(&uri) {
        true => McpResource { name: line(&uri, NAME_CHARS_MAX), title: None, uri, template: None, ..shown.clone() },
        false => McpResource { uri, ..shown.clone() },
    }
}

/// The variables whose values can be completed.
pub(crate) type Wanted<'a> = Vec<(&'a Template, Open)>;

/// Returns the variables whose values the server has to be asked for, now that this has been typed.
pub(crate) fn wanted<'a>(shelf: &'a Shelf, begun: &str) -> Wanted<'a> {
    let open = |(template, _): &'a (Template, McpResource)| Some((template, template.typed(begun)?.open?));
    let is_new = |(template, open): &(&Template, Open)| shelf.known(template, open).is_none();
    match shelf.completes && !begun.is_empty() {
        true => shelf.templates.iter().filter_map(open).filter(is_new).take(ASKED_MAX).collect(),
        false => Vec::new(),
    }
}

/// Asks the server for the values of these variables. What it does not answer in time has none.
pub(crate) async fn ask(shelf: &Shelf, live: &Live, wanted: Wanted<'_>) {
    for (template, open) in wanted {
        let argument = ArgumentInfo::new(&open.name, &open.value);
        let mut asked = CompleteRequestParams::new(Reference::for_resource(&template.text), argument);
        if !open.before.is_empty() {
            let before: HashMap<_, _> = open.before.iter().cloned().collect();
            asked = asked.with_context(CompletionContext::with_arguments(before));
        }
        let answer = timeout(COMPLETE_MAX, within(live.peer.complete(asked))).await;
        let values = answer.ok().and_then(Result::ok).map(|answer| answer.completion.values).unwrap_or_default();
        let is_fit =
            |value: &String| !value.is_empty() && value.len() <= URI_CHARS_MAX && plain(value, URI_CHARS_MAX) == *value;
        shelf.keep(template, &open, values.into_iter().filter(is_fit).take(VALUES_MAX).collect());
    }
}

/// Returns what is offered of a server's resources to somebody who has typed this: those with the letters in their name
/// or address, then what a template makes of it. Nothing is offered twice.
pub(crate) fn offered(shelf: &Shelf, begun: &str) -> Vec<McpResource> {
    let letters = begun.to_lowercase();
    let mut all: Vec<_> = shelf.resources.iter().filter(|resource| fits(resource, &letters)).cloned().collect();
    for (template, shown) in &shelf.templates {
        let Some(typed) = template.typed(begun).filter(|_| !begun.is_empty()) else {
            all.extend(fits(shown, &letters).then(|| shown.clone()));
            continue;
        };
        let whole = typed.is_whole.then(|| begun.to_owned());
        let values = typed.open.iter().flat_map(|open| {
            let values = shelf.known(template, open).unwrap_or_default();
            values.into_iter().map(|value| open.filled(&value))
        });
        let uris = whole.into_iter().chain(values).chain(typed.next);
        let is_fit = |uri: &String| uri.len() <= URI_CHARS_MAX && (template.is_whole(uri) || uri != begun);
        all.extend(uris.filter(is_fit).map(|uri| at(template, shown, uri)));
    }
    let mut seen = HashSet::new();
    all.retain(|resource| seen.insert((resource.uri.clone(), resource.template.clone())));
    all
}
