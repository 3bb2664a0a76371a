use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::{boot::ICON, redrawn::redrawn};

/// The styles of this page alone. Before login no file may be fetched, not even the style sheet.
const STYLE: &str = "\
:root{color-scheme:light dark;--bg:light-dark(oklch(.985 .002 90),oklch(.19 .005 265));\
--raised:light-dark(oklch(1 0 0),oklch(.225 .006 265));--line:light-dark(oklch(.72 .008 90),oklch(.5 .01 265));\
--text:light-dark(oklch(.27 .01 80),oklch(.86 .006 90));--strong:light-dark(oklch(.19 .01 80),oklch(.96 .004 90));\
--muted:light-dark(oklch(.47 .01 80),oklch(.72 .008 90));--accent:light-dark(oklch(.5 .13 265),oklch(.74 .11 265))}\
*{box-sizing:border-box;margin:0}\
body{min-height:100dvh;display:grid;place-items:center;padding:16px;background:var(--bg);color:var(--text);\
font:14px/22px system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif}\
main{width:100%;max-width:400px;display:grid;gap:16px}\
h1{font-size:18px;line-height:24px;color:var(--strong);letter-spacing:-.01em}\
form{display:grid;gap:8px;padding:20px;border:1px solid color-mix(in oklch,var(--line) 55%,transparent);\
border-radius:12px;background:var(--raised)}\
label{font-weight:600;color:var(--strong)}\
input{font:14px/20px ui-monospace,'SF Mono','DejaVu Sans Mono',monospace;color:inherit;padding:8px 12px;\
border:1px solid var(--line);border-radius:8px;background:var(--bg);width:100%}\
button{font:inherit;font-weight:600;margin-top:8px;padding:8px 16px;border:0;border-radius:8px;cursor:pointer;\
background:var(--strong);color:var(--bg)}\
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}\
p{color:var(--muted)}[role=alert]{color:light-dark(oklch(.51 .17 25),oklch(.75 .14 25))}code{font:13px/20px ui-monospace,'SF Mono','DejaVu Sans Mono',monospace;color:var(--strong);\
overflow-wrap:anywhere}";

/// Goes into the head in place of [`Boot`](crate::boot::Boot).
#[component]
pub(crate) fn LoginStyle() -> impl IntoView {
    view! {
        <link rel="icon" href=ICON />
        <style nonce=use_nonce()>{STYLE}</style>
    }
}

/// Asks for the token or for a code. A plain form that posts its body, so that the token is in no history; a wrong
/// one leads back here with `?tried=1`. The page to go to then is in `to`; the server checks it.
#[component]
pub(crate) fn LoginPage() -> impl IntoView {
    let query = use_query_map();
    let to = query.with_untracked(|query| query.get("to"));
    let refusal = move || {
        let is_tried = query.with(|query| query.get_str("tried") == Some("1"));
        let told = view! { <p id="refusal" role="alert">"Wrong token."</p> };
        is_tried.then(|| told.into_any())
    };
    view! {
        <Title text="Log in · yoi" />
        <main id="main">
            <h1>"yoi"</h1>
            <form method="post" action="/login" autocomplete="off">
                <label for="token">"Token"</label>
                <input id="token" name="token" type="password" aria-describedby="refusal" autocomplete="off" required autofocus spellcheck="false" autocapitalize="off" />
                {redrawn(refusal)}
                {to.map(|to| view! { <input type="hidden" name="to" value=to /> }.into_any())}
                <button type="submit">"Log in"</button>
            </form>
            <p>
                "On the server's machine, "
                <code>"yoi token"</code>
                " prints the token and "
                <code>"yoi open"</code>
                " opens this console already logged in."
            </p>
        </main>
    }
}
