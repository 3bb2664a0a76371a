import init from "SCRIPT";
// What the server has drawn is seen first: the compiler would take the processor from the painting. A page that nobody
// sees is never painted, and a browser may not tell of it.
const SHOWN_MS_MAX = 500;
await new Promise((go) => {
  if (document.hidden) return go();
  document.addEventListener("visibilitychange", go, { once: true });
  setTimeout(go, SHOWN_MS_MAX);
  new PerformanceObserver((list) => {
    if (list.getEntriesByName("first-contentful-paint").length) go();
  }).observe({ type: "paint", buffered: true });
});
init({ module_or_path: "MODULE" });
