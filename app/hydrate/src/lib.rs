//! The WebAssembly entry: hands the page that the server rendered to the app, and nothing else.

#[cfg(target_arch = "wasm32")]
mod entry {
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Runs once, as soon as the browser has loaded the module.
    #[wasm_bindgen(start)]
    pub fn start() {
        console_error_panic_hook::set_once();
    }
}
