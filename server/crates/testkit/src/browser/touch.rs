//! Using a page by touch, as on a phone.

use serde_json::json;

use super::Page;

/// The minimum height and width of what a thumb can hit, in CSS pixels, and how much rounding takes from it.
const THUMB_PX: f64 = 44.0;
const ROUNDING_PX: f64 = 0.5;

impl Page {
    /// Makes the page believe that it is used by touch.
    pub async fn emulate_touch(&self) {
        self.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await;
    }

    /// Taps the middle of the first element that matches the selector.
    ///
    /// # Panics
    /// If a thumb could not do so: the middle is out of view, something lies over it, or it is too small.
    pub async fn tap(&self, css: &str) {
        self.find(css).await;
        let place = format!(
            "const it = document.querySelector({}), box = it.getBoundingClientRect(); \
             const x = box.x + box.width / 2, y = box.y + box.height / 2, hit = document.elementFromPoint(x, y); \
             return [x, y, box.width, box.height, hit && (it.contains(hit) || hit.contains(it)) ? 1 : 0]",
            json!(css)
        );
        let place = self.eval(&place).await;
        let [x, y, width, height, is_hit] =
            [0, 1, 2, 3, 4].map(|index| place[index].as_f64().expect("a place is numbers"));
        assert!(is_hit > 0.0, "{css} is out of view or covered: {place}");
        let is_large = width >= THUMB_PX - ROUNDING_PX && height >= THUMB_PX - ROUNDING_PX;
        assert!(is_large, "{css} is too small for a thumb: {width} × {height}");
        let point = json!({ "x": x, "y": y });
        self.devtools("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": [point] })).await;
        self.devtools("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] })).await;
    }

    /// Scrolls the first element that matches the selector into the middle of the view.
    pub async fn scroll_to(&self, css: &str) {
        self.find(css).await;
        let scroll = format!(
            "document.querySelector({}).scrollIntoView({{ block: 'center', behavior: 'instant' }})",
            json!(css)
        );
        self.eval(&scroll).await;
    }
}
