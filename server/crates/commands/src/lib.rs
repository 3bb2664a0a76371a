//! What you can do in a console, and when: the table of commands with its completion, the rules of what is available,
//! the Pods by what they need from you and below their parents, and the search of the palette. Pure; the browser's and
//! the terminal's console use the same table, so a word means the same in both.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod allowed;
mod attention;
pub mod audited;
pub mod family;
mod fuzzy;
mod line;
mod lower;
pub mod making;
mod mention;
mod palette;
pub mod peering;
mod prompts;
pub mod said;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
pub mod sharing;
mod sign;
mod table;

pub use self::{
    attention::{Attention, SortBy, by_need, grouped, is_stuck, matches, needing, sorted, total_tokens},
    fuzzy::{Fit, fit},
    line::{
        Answer, CHOOSE, Client, Command, Here, NOT_ATTACHED, Named, Offer, PreviewAct, Standing, Topic, is_command,
        offers, own_word, parse, preselected, refusal,
    },
    lower::lower,
    mention::{FileWord, PIECE, file_word, may_begin_mention, rest_of_word},
    palette::{Choice, Does, RECENT_MAX, choices, found, of_agent, remembered},
    prompts::{Prompt, agent_commands, agent_word, may_be_prompt, prompts_starting},
    sign::Sign,
    table::{Entry, Page, TABLE, Where, by_key, entry},
};
