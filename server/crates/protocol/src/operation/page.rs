//! Pages of lists that are short enough to be read as a whole: runtimes, peers, approvals and the like. Without
//! `limit` everything is one page.

use crate::{
    AgentItem, ApiError, Approval, BackgroundCommand, ErrorCode, McpPrompt, McpResource, McpServerItem, ModelItem,
    OpenRequest, OwnCommand, PeerView, ProfileView, ProviderView, RuleItem, RuntimeView, SessionView, ToolDefault,
    VisiblePod, WallItem, open_cursor, seal_cursor,
};

/// The requested part of a short list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// `next` of the previous page.
    pub after: Option<String>,
    /// The maximum number of items; all if absent.
    pub limit: Option<u32>,
}

/// An item of a short list, with a key that is unique in it.
pub trait Keyed {
    fn key(&self) -> String;
}

impl Page {
    /// Returns the items after the cursor, and the cursor of the next page. The cursor contains the key of the last
    /// item before it, so that insertions and removals elsewhere do not shift the pages.
    ///
    /// # Errors
    /// `cursor_invalid` if no item has this key, or none any longer.
    pub fn cut<T: Keyed>(&self, items: Vec<T>) -> Result<(Vec<T>, Option<String>), ApiError> {
        let fit = self.limit.unwrap_or(u32::MAX) as usize;
        let start = match &self.after {
            None => 0,
            Some(after) => {
                let last = open_cursor(after).ok_or_else(stale)?;
                1 + items.iter().position(|item| item.key() == last).ok_or_else(stale)?
            }
        };
        let is_last = items.len() - start <= fit;
        let items: Vec<T> = items.into_iter().skip(start).take(fit).collect();
        let next = items.last().filter(|_| !is_last).map(|last| seal_cursor(&last.key()));
        Ok((items, next))
    }
}

fn stale() -> ApiError {
    let sentence = "the cursor is not one of this list, or what it pointed to is gone; begin without `after`";
    ApiError::new(ErrorCode::CursorInvalid, sentence)
}

macro_rules! keyed {
    ($($kind:ty => |$item:ident| $key:expr;)*) => {
        $(impl Keyed for $kind {
            fn key(&self) -> String {
                let $item = self;
                $key
            }
        })*
    };
}

keyed! {
    AgentItem => |agent| agent.name.clone();
    Approval => |approval| approval.id.clone();
    BackgroundCommand => |command| command.id.clone();
    McpPrompt => |prompt| prompt.name.clone();
    McpResource => |resource| {
        format!("{} {} {}", resource.server, resource.uri, resource.template.as_deref().unwrap_or_default())
    };
    McpServerItem => |server| server.name.clone();
    ModelItem => |item| format!("{}/{}", item.provider, item.model);
    OpenRequest => |request| request.request_id.clone();
    OwnCommand => |command| command.name.clone();
    PeerView => |peer| peer.pod.to_string();
    ProfileView => |profile| profile.name.clone();
    ProviderView => |provider| provider.name.clone();
    RuleItem => |rule| rule.id.clone();
    RuntimeView => |runtime| runtime.runtime_id.to_string();
    SessionView => |session| session.id.clone();
    ToolDefault => |known| known.tool.clone();
    VisiblePod => |seen| seen.pod.to_string();
    WallItem => |item| item.wall.as_str().to_owned();
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keyed for char {
        fn key(&self) -> String {
            self.to_string()
        }
    }

    fn page(after: Option<&str>, limit: Option<u32>) -> Result<(String, Option<String>), ErrorCode> {
        let page = Page { after: after.map(seal_cursor), limit };
        let (items, next) = page.cut(vec!['a', 'b', 'c']).map_err(|error| error.code)?;
        Ok((items.into_iter().collect(), next))
    }

    #[test]
    fn a_short_list_is_one_page_unless_less_is_asked_for() {
        let sealed = |key| Some(seal_cursor(key));
        assert_eq!(page(None, None), Ok(("abc".to_owned(), None)));
        assert_eq!(page(None, Some(3)), Ok(("abc".to_owned(), None)));
        assert_eq!(page(None, Some(2)), Ok(("ab".to_owned(), sealed("b"))));
        assert_eq!(page(Some("b"), Some(2)), Ok(("c".to_owned(), None)));
        assert_eq!(page(Some("a"), Some(1)), Ok(("b".to_owned(), sealed("b"))));
        assert_eq!(page(Some("c"), None), Ok((String::new(), None)));
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        assert_eq!(page(Some("z"), None), Err(ErrorCode::CursorInvalid));
    }
}
