// Runs in every document before anything else. Notes what no performance entry tells.
(() => {
  const probe = { compiled: [], live: 0, content: 0, shift: 0, shifts: [], memory: null };
  window.__probe = probe;

  // Each WebAssembly module: when its bytes were handed to the compiler, and when it could be called.
  for (const name of ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming']) {
    const native = WebAssembly[name];
    WebAssembly[name] = function (...given) {
      const from = performance.now();
      return native.apply(this, given).then((made) => {
        probe.compiled.push({ from, to: performance.now() });
        const instance = made.instance ?? made;
        if (instance.exports?.memory instanceof WebAssembly.Memory) probe.memory = instance.exports.memory;
        return made;
      });
    };
  }

  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      probe.shift += entry.value;
      const names = entry.sources.map(({ node }) => `${node?.nodeName ?? '?'}.${node?.className ?? ''}#${node?.id ?? ''}`);
      probe.shifts.push(`${entry.value.toFixed(4)} at ${Math.round(entry.startTime)} ms: ${names.join(' ')}`);
    }
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) probe.content = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });

  // The page hears the server.
  const look = () => {
    const states = [...document.querySelectorAll('.connection [role=status]')];
    if (states.some((state) => state.textContent.trim() === 'live')) probe.live = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
