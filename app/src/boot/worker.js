// Of the installed console: shows a page of its own where the server cannot be reached. Keeps and answers nothing else.
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>yoi</title>
<style>body{font:16px/1.5 system-ui;display:grid;place-content:center;min-height:90vh;padding:1rem;text-align:center}
a{display:inline-block;padding:.75rem 1.5rem;border:1px solid;border-radius:12px;color:inherit;text-decoration:none}</style>
<h1>yoi cannot be reached</h1><p>Your Pods keep working; nothing is lost.<br>Check that you are connected, and that the server runs.</p>
<p><a href="">Try again</a></p>`;
addEventListener('install', () => skipWaiting());
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
  if (event.request.mode !== 'navigate' || event.request.method !== 'GET') return;
  const page = () => new Response(PAGE, { status: 503, headers: { 'content-type': 'text/html; charset=utf-8' } });
  event.respondWith(fetch(event.request).catch(page));
});
