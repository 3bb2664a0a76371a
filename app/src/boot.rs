//! What starts the page: the style sheet, the script that loads the WebAssembly, and the content security policy that
//! allows only these.

use leptos::{config::LeptosOptions, nonce::use_nonce, prelude::*};

/// Sets the theme before anything is painted.
const THEME_SCRIPT: &str =
    "try{const t=localStorage.getItem('yoi:theme');if(t)document.documentElement.dataset.theme=t}catch{}";

/// Restores the transcript's scroll position, or scrolls to its end, before the first paint. The WebAssembly takes
/// over from there.
const PLACE_SCRIPT: &str = "(()=>{const l=document.getElementById('log');if(!l)return;let s=null;\
try{s=JSON.parse(sessionStorage.getItem('yoi:scroll:'+l.dataset.pod))}catch{}\
const h=location.hash.slice(1);if(h&&document.getElementById(h))return;\
const b=s&&!s.following&&document.getElementById(s.anchor);\
if(b)l.scrollTop+=b.getBoundingClientRect().top-l.getBoundingClientRect().top-s.offset;\
else l.scrollTop=l.scrollHeight})()";

/// Only where the console is installed: its worker has a page for when the server cannot be reached.
const INSTALLED_SCRIPT: &str = "if(matchMedia('(display-mode: standalone)').matches)\
navigator.serviceWorker?.register('WORKER',{scope:'/'}).catch(()=>{})";

/// Keeps files that are dropped onto the page from navigating away.
const DROPS_SCRIPT: &str = include_str!("boot/drops.js");

/// Retries parts of the program that could not be fetched, and says so. The files of the page's own part come in one,
/// `PACK_URL`, which has `PACK_FILES` in it.
const FETCHING_SCRIPT: &str = include_str!("boot/fetching.js");

/// Starts the program, `SCRIPT` and `MODULE`, once the page is painted.
const STARTING_SCRIPT: &str = include_str!("boot/starting.js");

/// The icon as inline SVG, so that no request is made for it.
pub(crate) const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23222'/%3E%3Cpath d='M4.5 4.5 8 8.5v3.5M11.5 4.5 8 8.5' fill='none' stroke='%23fff' stroke-width='1.8' stroke-linecap='round'/%3E%3C/svg%3E";

/// True when the binary was built without the browser's half.
pub(crate) fn is_bare(options: &LeptosOptions) -> bool {
    options.site_pkg_dir.ends_with("absent")
}

/// The parts of the WebAssembly that are fetched later, each with its files and their uncompressed sizes in bytes. The
/// binary provides them to every page.
#[derive(Debug, Clone, Copy)]
pub struct LaterParts(pub &'static [(&'static str, &'static [(&'static str, usize)])]);

impl LaterParts {
    pub(crate) fn of(self, part: &str) -> Option<&'static [(&'static str, usize)]> {
        self.0.iter().find(|(name, _)| *name == part).map(|(_, files)| *files)
    }
}

/// The address of the file that a page's part comes in, and as JSON the files in it, each with its size in bytes.
fn pack(pkg: &str, part: Option<&'static str>) -> Option<(String, String)> {
    let part = part?;
    let files = use_context::<LaterParts>()?.of(part)?.iter().map(|(file, bytes)| format!("\"{file}\":{bytes}"));
    Some((format!("{pkg}/{part}.pack"), format!("{{{}}}", files.collect::<Vec<_>>().join(","))))
}

#[cfg(feature = "ssr")]
pub(crate) fn path_of_request() -> String {
    use_context::<axum::http::request::Parts>().map(|parts| parts.uri.path().to_owned()).unwrap_or_default()
}

#[cfg(not(feature = "ssr"))]
pub(crate) fn path_of_request() -> String {
    String::new()
}

/// Goes into the head of every page except the login. `part` is what the page needs at once in addition to the main
/// module.
#[component]
pub(crate) fn Boot(options: LeptosOptions, part: Option<&'static str>) -> impl IntoView {
    let nonce = use_nonce();
    let pkg = format!("/{}", options.site_pkg_dir.trim_matches('/'));
    let name = options.output_name.to_string();
    let (script, wasm, style) =
        (format!("{pkg}/{name}.js"), format!("{pkg}/{name}_bg.wasm"), format!("{pkg}/{name}.css"));
    let (pack, files) = pack(&pkg, part).unwrap_or_else(|| (String::new(), "{}".to_owned()));
    let fetching = bare(FETCHING_SCRIPT).replace("PACK_URL", &pack).replace("PACK_FILES", &files);
    let preload = (!pack.is_empty())
        .then(|| view! { <link rel="preload" r#as="fetch" crossorigin="anonymous" href=pack /> }.into_any());
    let start = bare(STARTING_SCRIPT).replace("SCRIPT", &script).replace("MODULE", &wasm);
    let loads = (!is_bare(&options)).then(|| {
        view! {
            <link rel="stylesheet" href=style />
            <link rel="modulepreload" href=script />
            <link rel="preload" r#as="fetch" type="application/wasm" crossorigin="anonymous" href=wasm />
            {preload}
            <script nonce=nonce.clone()>{fetching}</script>
            <script type="module" nonce=nonce.clone()>
                {start}
            </script>
        }
        .into_any()
    });
    // Fetched with the login, like every other file.
    let (manifest, touch_icon) = (format!("{pkg}/yoi.webmanifest"), format!("{pkg}/icon-180.png"));
    let installed = INSTALLED_SCRIPT.replace("WORKER", &format!("{pkg}/worker.js"));
    let installs = (!is_bare(&options)).then(|| {
        view! {
            <link rel="manifest" crossorigin="use-credentials" href=manifest />
            <link rel="apple-touch-icon" href=touch_icon />
            <script nonce=nonce.clone()>{installed}</script>
        }
        .into_any()
    });
    view! {
        <link rel="icon" href=ICON />
        {installs}
        <script nonce=nonce.clone()>{THEME_SCRIPT}</script>
        <script nonce=nonce.clone()>{bare(DROPS_SCRIPT)}</script>
        {loads}
    }
}

/// Strips indentation and comment lines. Safe because the scripts contain no string in which a line begins with
/// spaces or `//`.
fn bare(script: &str) -> String {
    script.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Goes to the end of the body.
#[component]
pub(crate) fn PlaceTranscript() -> impl IntoView {
    view! { <script nonce=use_nonce()>{PLACE_SCRIPT}</script> }
}

/// The content security policy of one response. `host` is the request's `Host`, which the server has already checked.
#[cfg(feature = "ssr")]
fn policy(nonce: &str, host: Option<&str>) -> String {
    let fits = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    let sockets = host.filter(fits).map(|host| format!(" ws://{host} wss://{host}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self' 'nonce-{nonce}'; \
         img-src 'self' data:; connect-src 'self'{sockets}; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'; object-src 'none'"
    )
}

/// Sets the policy header on the page that is being rendered.
#[cfg(feature = "ssr")]
pub(crate) fn send_policy() {
    use axum::http::{HeaderValue, header, request::Parts};

    let Some(options) = use_context::<leptos_axum::ResponseOptions>() else { return };
    let nonce = use_nonce().map(|nonce| nonce.to_string()).unwrap_or_default();
    let parts = use_context::<Parts>();
    let host = parts.as_ref().and_then(|parts| parts.headers.get(header::HOST)?.to_str().ok());
    if let Ok(value) = HeaderValue::from_str(&policy(&nonce, host)) {
        options.insert_header(header::CONTENT_SECURITY_POLICY, value);
    }
}

#[cfg(not(feature = "ssr"))]
pub(crate) fn send_policy() {}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests {
    use super::{DROPS_SCRIPT, FETCHING_SCRIPT, STARTING_SCRIPT, bare, policy};

    #[test]
    fn scripts_are_sent_without_their_comments_and_whole() {
        assert_eq!(bare("a();\n  // why\n  b();"), "a();\nb();");
        for script in [DROPS_SCRIPT, FETCHING_SCRIPT, STARTING_SCRIPT] {
            // The script is inside an element, where nothing is escaped.
            assert!(!bare(script).contains("</") && !bare(script).contains("<!--"));
        }
        assert_eq!(STARTING_SCRIPT.matches("SCRIPT").count(), 1);
        assert_eq!(STARTING_SCRIPT.matches("MODULE").count(), 1);
        assert_eq!(FETCHING_SCRIPT.matches("PACK_URL").count(), 1);
        assert_eq!(FETCHING_SCRIPT.matches("PACK_FILES").count(), 1);
    }

    #[test]
    fn the_policy_allows_our_own_files_one_nonce_and_our_own_socket() {
        let policy = policy("N", Some("127.0.0.1:7474"));
        assert!(policy.contains("script-src 'self' 'nonce-N' 'wasm-unsafe-eval';"), "{policy}");
        assert!(policy.contains("connect-src 'self' ws://127.0.0.1:7474 wss://127.0.0.1:7474;"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
    }

    #[test]
    fn a_host_that_could_end_a_directive_is_left_out() {
        assert!(policy("N", Some("x; script-src *")).contains("connect-src 'self';"));
    }
}
