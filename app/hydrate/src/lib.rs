//! The WebAssembly entry point: hands the server-rendered page to the app.

/// Runs once, as soon as the browser has loaded the module. Panics are reported in the browser's console.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
    app::hydrate();
}
