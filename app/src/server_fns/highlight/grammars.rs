//! The grammars, and which of them are used.
//!
//! Language names from people and models are only ever looked up in this table: of the many grammars in the crate it
//! allows only those that handle a hostile line in reasonable time.

use std::{
    collections::HashSet,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use syntect::parsing::{SyntaxReference, SyntaxSet};
use tokio::runtime::Handle;

/// Language names, each with the grammar's own token for it.
const LANGUAGES: [(&str, &str); 93] = [
    ("rust", "rs"),
    ("rs", "rs"),
    ("toml", "toml"),
    ("json", "json"),
    ("jsonc", "js"),
    ("json5", "js"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("python", "py"),
    ("py", "py"),
    ("python3", "py"),
    ("javascript", "js"),
    ("js", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("jsx", "tsx"),
    ("typescript", "ts"),
    ("ts", "ts"),
    ("mts", "ts"),
    ("tsx", "tsx"),
    ("bash", "bash"),
    ("sh", "bash"),
    ("shell", "bash"),
    ("zsh", "bash"),
    ("console", "bash"),
    // A call of Bash is shown under this name.
    ("command", "bash"),
    ("sql", "sql"),
    ("sqlite", "sql"),
    ("postgresql", "sql"),
    ("html", "html"),
    ("htm", "html"),
    ("css", "css"),
    ("scss", "scss"),
    ("c", "c"),
    ("h", "c"),
    ("cpp", "cpp"),
    ("c++", "cpp"),
    ("cc", "cpp"),
    ("hpp", "cpp"),
    ("cs", "cs"),
    ("csharp", "cs"),
    ("c#", "cs"),
    ("go", "go"),
    ("golang", "go"),
    ("java", "java"),
    ("kotlin", "kt"),
    ("kt", "kt"),
    ("swift", "swift"),
    ("ruby", "rb"),
    ("rb", "rb"),
    ("php", "php"),
    ("lua", "lua"),
    ("zig", "zig"),
    ("nix", "nix"),
    ("dockerfile", "dockerfile"),
    ("docker", "dockerfile"),
    ("makefile", "makefile"),
    ("make", "makefile"),
    ("mk", "makefile"),
    ("ini", "ini"),
    ("cfg", "ini"),
    ("conf", "ini"),
    ("xml", "xml"),
    ("svg", "xml"),
    ("diff", "diff"),
    ("patch", "diff"),
    ("graphql", "graphql"),
    ("gql", "graphql"),
    ("proto", "proto"),
    ("protobuf", "proto"),
    ("terraform", "tf"),
    ("tf", "tf"),
    ("hcl", "tf"),
    ("vue", "vue"),
    ("svelte", "svelte"),
    ("perl", "pl"),
    ("pl", "pl"),
    ("r", "r"),
    ("scala", "scala"),
    ("haskell", "hs"),
    ("hs", "hs"),
    ("elixir", "ex"),
    ("ex", "ex"),
    ("exs", "ex"),
    ("erlang", "erl"),
    ("erl", "erl"),
    ("ocaml", "ml"),
    ("ml", "ml"),
    ("clojure", "clj"),
    ("clj", "clj"),
    ("dart", "dart"),
    ("cmake", "cmake"),
    ("fish", "fish"),
];

/// A grammar caches what it has compiled: up to 45 MB for one language. Beyond this many languages, everything is
/// dropped and reloaded.
const LANGUAGES_LOADED: usize = 4;
/// After this long without use all grammars are dropped; loading them again takes a few milliseconds.
const UNUSED: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Loaded {
    set: Arc<SyntaxSet>,
    languages: HashSet<&'static str>,
    used: Instant,
}

static LOADED: LazyLock<Mutex<Option<Loaded>>> = LazyLock::new(Mutex::default);
/// Whether a task is already waiting to drop them.
static IS_WAITING: AtomicBool = AtomicBool::new(false);

/// A grammar, with the syntax set that it belongs to.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) set: Arc<SyntaxSet>,
    word: &'static str,
}

impl Grammar {
    pub(super) fn syntax(&self) -> Option<&SyntaxReference> {
        self.set.find_syntax_by_token(self.word)
    }
}

/// The token of a known language, ignoring case.
pub(super) fn word_of(language: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(name, _)| name.eq_ignore_ascii_case(language)).map(|(_, word)| *word)
}

/// The grammar for a token of this table.
pub(super) fn grammar(word: &'static str) -> Grammar {
    let mut place = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_full = |loaded: &Loaded| loaded.languages.len() >= LANGUAGES_LOADED && !loaded.languages.contains(word);
    if place.as_ref().is_some_and(is_full) {
        *place = None;
    }
    let loaded = place.get_or_insert_with(|| Loaded {
        set: Arc::new(two_face::syntax::extra_newlines()),
        languages: HashSet::new(),
        used: Instant::now(),
    });
    loaded.languages.insert(word);
    loaded.used = Instant::now();
    put_away_later();
    Grammar { set: loaded.set.clone(), word }
}

/// Drops the grammars once they have not been used for a while.
fn put_away_later() {
    // Without a runtime nothing is dropped; the number of languages is limited all the same.
    let Ok(runtime) = Handle::try_current() else { return };
    if IS_WAITING.swap(true, Ordering::AcqRel) {
        return;
    }
    runtime.spawn(async {
        loop {
            tokio::time::sleep(UNUSED).await;
            let mut place = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if place.as_ref().is_none_or(|loaded| loaded.used.elapsed() >= UNUSED) {
                *place = None;
                IS_WAITING.store(false, Ordering::Release);
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_of_the_table_has_a_grammar() {
        let set = two_face::syntax::extra_newlines();
        for (name, word) in LANGUAGES {
            assert!(set.find_syntax_by_token(word).is_some(), "{name}");
        }
        assert_eq!((word_of("Rust"), word_of("SystemVerilog")), (Some("rs"), None));
    }

    #[test]
    fn a_fifth_language_begins_anew() {
        let first = grammar("rs").set;
        for word in ["toml", "json", "ini"] {
            grammar(word);
        }
        // Other tests may have loaded some in between; the number of languages never exceeds the limit.
        grammar("xml");
        let loaded = LOADED.lock().unwrap();
        let loaded = loaded.as_ref().unwrap();
        assert!(loaded.languages.len() <= LANGUAGES_LOADED);
        assert!(!Arc::ptr_eq(&first, &loaded.set));
    }
}
