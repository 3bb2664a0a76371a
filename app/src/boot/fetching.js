// Fetches the page's program, including the parts that are loaded later. A failed fetch is retried, and the page says so.
// A part that no longer exists, because the server was updated, is waited for indefinitely while the page offers to
// reload: rejecting the promise would crash the program.
(() => {
  const PKG = "/pkg/", WAIT_MS_MIN = 400, WAIT_MS_MAX = 8000;
  // An answer that has not begun by then will not come: the connection is dead, and nobody has noticed.
  const ANSWER_MS_MAX = 15000;
  const fetched = window.fetch.bind(window);
  let told = null, isOver = false;
  // What only a reload mends stays there.
  const tell = (words, isLast = false) => {
    if (isOver) return;
    isOver = isLast;
    if (!told) {
      told = document.createElement("p");
      told.className = "unfetched";
      told.setAttribute("role", "alert");
      const reload = document.createElement("button");
      reload.type = "button";
      reload.className = "button";
      reload.textContent = "Reload";
      reload.title = "Drafts are kept";
      reload.onclick = () => location.reload();
      told.append(document.createElement("span"), reload);
      document.body.append(told);
    }
    told.firstChild.textContent = words;
  };
  const hush = () => {
    if (isOver) return;
    told?.remove();
    told = null;
  };
  const pause = (ms) => new Promise((go) => {
    const timer = setTimeout(go, ms);
    window.addEventListener("online", () => { clearTimeout(timer); go(); }, { once: true });
  });
  // The files of the page's own part come in one, in this order and of these sizes. Each is taken out once.
  const places = new Map();
  let pack = null, end = 0;
  for (const [name, size] of Object.entries(PACK_FILES)) places.set(name, [end, (end += size)]);
  const unpacked = async ([begin, end]) => {
    pack ??= trying("PACK_URL", (answer) => answer.arrayBuffer());
    const file = (await pack).slice(begin, end);
    if (!places.size) pack = null;
    return module(file);
  };
  const module = (bytes) => new Response(bytes, { headers: { "content-type": "application/wasm" } });
  // A part is passed on when all of it is there: one that breaks off while it is compiled would crash the program. The
  // main module is compiled as it arrives.
  const isPart = (name) => name.endsWith(".wasm") && !name.endsWith("_bg.wasm");
  const whole = async (answer) => module(await answer.arrayBuffer());
  window.fetch = (what, how) => {
    const url = new URL(what.url ?? what, location.href);
    if (url.origin !== location.origin || !url.pathname.startsWith(PKG)) return fetched(what, how);
    const name = url.pathname.split("/").pop(), place = places.get(name);
    places.delete(name);
    return place ? unpacked(place) : trying(what, isPart(name) ? whole : (answer) => answer, how);
  };
  const asked = (what, how) => {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), ANSWER_MS_MAX);
    return fetched(what, { ...how, signal: stop.signal }).finally(() => clearTimeout(timer));
  };
  const trying = async (what, read, how) => {
    for (let attempt = 0; ; attempt++) {
      const answer = await asked(what, how).catch(() => null);
      const found = answer?.ok ? await Promise.resolve(read(answer)).catch(() => null) : null;
      if (found) {
        if (attempt) hush();
        return found;
      }
      if (answer?.status === 404) {
        tell("The server was updated; this page is from the previous version.", true);
        return new Promise(() => {});
      }
      if (attempt) tell("A part of this page could not be fetched. Trying again.");
      await pause(Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** attempt));
    }
  };
  const ended = (error) => {
    if (error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.CompileError) {
      tell("This page has stopped. What was sent is safe, and drafts are kept.", true);
    }
  };
  window.addEventListener("error", (event) => ended(event.error));
  window.addEventListener("unhandledrejection", (event) => ended(event.reason));
})();
