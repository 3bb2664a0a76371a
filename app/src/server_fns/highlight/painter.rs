//! Computes the colours within limits: a grammar's regular expressions can be slow, and the texts are untrusted.

use std::{
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use protocol::{ApiError, ErrorCode};
use syntect::parsing::{ParseState, ScopeStack};
use tokio::sync::Semaphore;

use super::{
    BLOCKS_MAX, CodeText, Run,
    cache::Cache,
    grammars::{grammar, word_of},
    kinds::Kinds,
};

/// How many calls compute at the same time; others wait.
const AT_ONCE_MAX: usize = 2;
/// A block with a longer line is left uncoloured from there on, in bytes: matching time grows faster than the length
/// of the line.
const LINE_BYTES_MAX: usize = 1_000;
/// The time limit of one block, checked between lines; the rest is left uncoloured.
const BLOCK_TIME_MAX: Duration = Duration::from_millis(800);
/// The time limit of all blocks in one call. What is left over stays uncoloured, and is tried again on the next
/// request.
const CALL_TIME_MAX: Duration = Duration::from_secs(3);

static PERMITS: Semaphore = Semaphore::const_new(AT_ONCE_MAX);
static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);
static RULES: LazyLock<Kinds> = LazyLock::new(Kinds::new);

/// The deadline for colouring in one page or call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(Instant);

impl Budget {
    pub(crate) fn of(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// The runs of a block; empty if the language is unknown, the block is too long, or no time is left. Blocks the
    /// thread.
    pub(crate) fn paint(self, code: &CodeText) -> Arc<[Run]> {
        let plain = || Arc::from([]);
        let Some(word) = word_of(&code.language).filter(|_| code.is_fit()) else { return plain() };
        // Different names of one language share a cache entry.
        let code = CodeText { language: word.to_owned(), text: code.text.clone() };
        if let Some(known) = cache().get(&code) {
            return known;
        }
        if Instant::now() >= self.0 {
            return plain();
        }
        let runs: Arc<[Run]> = runs(word, &code.text).into();
        cache().put(&code, runs.clone());
        runs
    }
}

fn cache() -> std::sync::MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The runs of these blocks, computed on a blocking thread.
pub(super) async fn paint_all(blocks: Vec<CodeText>) -> Result<Vec<Vec<Run>>, ApiError> {
    if blocks.len() > BLOCKS_MAX {
        return Err(ApiError::invalid(format!("at most {BLOCKS_MAX} blocks are coloured at once")));
    }
    apart(move || {
        let budget = Budget::of(CALL_TIME_MAX);
        blocks.iter().map(|code| budget.paint(code).to_vec()).collect()
    })
    .await
}

/// Runs `paint` on a blocking thread, once a permit is free.
async fn apart<T: Send + 'static>(paint: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let permit = PERMITS.acquire().await.map_err(|_| ApiError::new(ErrorCode::Internal, "the server is stopping"))?;
    let painted = tokio::task::spawn_blocking(move || {
        // Held to the end: the thread keeps running even if the caller has gone away.
        let _permit = permit;
        paint()
    });
    painted.await.map_err(|_| ApiError::new(ErrorCode::Internal, "the colours could not be found"))
}

/// Parses line by line. What is left when it stops is one uncoloured run; returns no runs if that is everything.
fn runs(word: &'static str, text: &str) -> Vec<Run> {
    let grammar = grammar(word);
    let Some(syntax) = grammar.syntax() else { return Vec::new() };
    let (mut state, mut stack, mut painted) = (ParseState::new(syntax), ScopeStack::new(), Painted::default());
    let until = Instant::now() + BLOCK_TIME_MAX;
    let mut done = 0;
    for line in text.split_inclusive('\n') {
        if line.len() > LINE_BYTES_MAX || Instant::now() >= until {
            break;
        }
        // Grammars expect a line break, which the last line may lack.
        let whole = if line.ends_with('\n') { line.to_owned() } else { format!("{line}\n") };
        let Ok(steps) = state.parse_line(&whole, &grammar.set) else { break };
        let mut at = 0;
        for (to, step) in steps {
            let to = to.min(line.len());
            painted.push(RULES.of(&stack), &line[at..to]);
            at = to;
            if stack.apply(&step).is_err() {
                return Vec::new();
            }
        }
        painted.push(RULES.of(&stack), &line[at..]);
        done += line.len();
    }
    painted.push(0, &text[done..]);
    match painted.runs.iter().all(|run| run.0 == 0) {
        true => Vec::new(),
        false => painted.runs,
    }
}

#[derive(Default)]
struct Painted {
    runs: Vec<Run>,
}

impl Painted {
    /// White space has no colour, so it joins the preceding run: fewer runs, fewer elements.
    fn push(&mut self, kind: u8, text: &str) {
        if text.is_empty() {
            return;
        }
        let bytes = u32::try_from(text.len()).expect("a block is far below 4 GB");
        match self.runs.last_mut() {
            Some(last) if last.0 == kind || text.trim().is_empty() => last.1 += bytes,
            _ => self.runs.push(Run(kind, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::KINDS, *};

    fn code(language: &str, text: &str) -> CodeText {
        CodeText { language: language.to_owned(), text: text.to_owned() }
    }

    fn painted(language: &str, text: &str) -> Vec<(&'static str, String)> {
        let mut at = 0;
        let budget = Budget::of(Duration::from_secs(60));
        let piece = |run: &Run| {
            let piece = text[at..at + run.1 as usize].to_owned();
            at += run.1 as usize;
            (KINDS[run.0 as usize], piece)
        };
        budget.paint(&code(language, text)).iter().map(piece).collect()
    }

    fn is_painted(language: &str, text: &str, kind: &str, word: &str) -> bool {
        painted(language, text).iter().any(|(of, piece)| *of == kind && piece.trim() == word)
    }

    #[test]
    fn what_people_write_most_has_its_colours_and_no_byte_is_lost() {
        let rust = "// hi\nfn é(x: u8) -> Vec<u8> {\n    let s = \"a\\n\"; 42\n}";
        for (kind, word) in
            [("code-keyword", "fn"), ("code-comment", "// hi"), ("code-number", "42"), ("code-type", "Vec")]
        {
            assert!(is_painted("Rust", rust, kind, word), "{word}: {:?}", painted("rust", rust));
        }
        assert!(is_painted("rust", rust, "code-string", "\"a\\n\"") && is_painted("rust", rust, "code-function", "é"));
        assert_eq!(painted("rust", rust).into_iter().map(|(_, piece)| piece).collect::<String>(), rust);
        assert!(is_painted("toml", "x = true\n", "code-number", "true"));
        assert!(is_painted("ts", "const a = 1;", "code-keyword", "const"));
        assert!(is_painted("py", "def f(): pass", "code-function", "f"));
        assert!(is_painted("sh", "for i in a; do echo 1; done", "code-keyword", "for"));
    }

    #[test]
    fn a_language_that_is_not_known_and_a_text_that_is_too_long_stay_plain() {
        assert!(painted("klingon", "fn main() {}").is_empty() && painted("", "fn").is_empty());
        assert!(painted("rust", &"fn a() {}\n".repeat(2_001)).is_empty());
        assert!(painted("rust", &"x".repeat(64 * 1024 + 1)).is_empty());
        assert!(painted("rust", "").is_empty());
    }

    #[test]
    fn from_a_very_long_line_on_a_block_is_plain() {
        let text = format!("fn a() {{}}\n{}\nfn b() {{}}\n", "\"".repeat(LINE_BYTES_MAX + 1));
        let painted = painted("rust", &text);
        assert_eq!(painted[0], ("code-keyword", "fn ".to_owned()));
        assert!(painted.last().unwrap().1.ends_with("fn b() {}\n"), "{:?}", painted.last());
    }

    #[test]
    fn without_time_a_block_is_plain_and_has_its_colours_the_next_time() {
        let fresh = code("rust", "fn only_here_and_nowhere_else() {}");
        assert!(Budget::of(Duration::ZERO).paint(&fresh).is_empty());
        assert!(!Budget::of(Duration::from_secs(60)).paint(&fresh).is_empty());
        assert!(!Budget::of(Duration::ZERO).paint(&fresh).is_empty(), "it is known now");
    }

    #[tokio::test]
    async fn a_call_takes_so_many_blocks_and_no_more() {
        let one = code("json", "{\"a\": 1}");
        assert_eq!(paint_all(vec![one.clone(); BLOCKS_MAX]).await.unwrap().len(), BLOCKS_MAX);
        assert_eq!(paint_all(vec![one; BLOCKS_MAX + 1]).await.unwrap_err().code, ErrorCode::InvalidInput);
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_a_thread_busy_and_makes_no_room_for_another() {
        let (began, has_begun) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let asked: Vec<_> = (0..AT_ONCE_MAX)
            .map(|_| {
                let (began, ended) = (began.clone(), ended.clone());
                tokio::spawn(apart(move || {
                    began.send(()).unwrap();
                    let _ = ended.lock().unwrap().recv();
                }))
            })
            .collect();
        tokio::task::spawn_blocking(move || (0..AT_ONCE_MAX).for_each(|_| has_begun.recv().unwrap())).await.unwrap();
        for asked in asked {
            asked.abort();
            assert!(asked.await.unwrap_err().is_cancelled());
        }
        assert_eq!(PERMITS.available_permits(), 0);
        drop(end);
        assert_eq!(apart(|| 1).await.unwrap(), 1);
    }
}
