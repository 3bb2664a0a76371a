//! What an agent is sent in a turn.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

/// What has been said since the agent was last asked, as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Sent only if the session is new: the instructions, and what a Pod is.
    pub introduction: Option<String>,
    pub texts: Vec<String>,
    pub attachments: Vec<Attachment>,
}

/// A picture or a file that is sent along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub content: Bytes,
    /// Whether the content is text.
    pub is_text: bool,
}

impl Prompt {
    /// Returns the content blocks of the protocol, and a sentence for each attachment that could not be sent.
    pub(crate) fn blocks(self, takes_pictures: bool, is_new: bool) -> (Vec<Value>, Vec<String>) {
        let text = |text: String| json!({ "type": "text", "text": text });
        let introduction = self.introduction.filter(|_| is_new);
        let mut blocks: Vec<Value> = introduction.into_iter().chain(self.texts).map(text).collect();
        let mut unsent = Vec::new();
        for Attachment { name, media_type, content, is_text } in self.attachments {
            if is_text {
                blocks.push(text(format!("[file {name}]\n{}", String::from_utf8_lossy(&content))));
            } else if takes_pictures && media_type.starts_with("image/") {
                let data = STANDARD.encode(&content);
                blocks.push(json!({ "type": "image", "mimeType": media_type, "data": data }));
            } else {
                unsent.push(format!("{name} ({media_type}) was not sent: the agent does not take it"));
            }
        }
        (blocks, unsent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_go_only_to_an_agent_that_takes_them_and_the_introduction_only_into_a_new_session() {
        let picture = Attachment {
            name: "a.png".to_owned(),
            media_type: "image/png".to_owned(),
            content: Bytes::from_static(b"abc"),
            is_text: false,
        };
        let prompt = Prompt {
            introduction: Some("be kind".to_owned()),
            texts: vec!["look".to_owned()],
            attachments: vec![picture],
        };
        let (blocks, unsent) = prompt.clone().blocks(true, true);
        assert_eq!(
            blocks,
            [
                json!({ "type": "text", "text": "be kind" }),
                json!({ "type": "text", "text": "look" }),
                json!({ "type": "image", "mimeType": "image/png", "data": "YWJj" }),
            ]
        );
        assert!(unsent.is_empty());
        let (blocks, unsent) = prompt.blocks(false, false);
        assert_eq!(blocks, [json!({ "type": "text", "text": "look" })]);
        assert_eq!(unsent, ["a.png (image/png) was not sent: the agent does not take it"]);
    }
}
