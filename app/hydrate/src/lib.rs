//! The WebAssembly entry: hands the page that the server rendered to the app, and nothing else.

/// Runs once, as soon as the browser has loaded the module. A panic is shown in the browser's console.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
    app::hydrate();
}
