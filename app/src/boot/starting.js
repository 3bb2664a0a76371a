import init from "SCRIPT";
// Let the browser paint the server's page first, because compiling would compete for the processor. A hidden page is
// never painted, and a browser may not report a paint at all.
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
