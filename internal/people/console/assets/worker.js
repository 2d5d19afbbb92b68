// Shows that a question waits while no page is open. It keeps nothing, loads nothing and answers nothing: a
// click opens the question.

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', e => e.waitUntil(self.clients.claim()));

self.addEventListener('push', e => {
  let m = {};
  try { m = e.data.json(); } catch { /* a notice is shown all the same: something may wait */ }
  const text = (s, otherwise) => typeof s === 'string' && s !== '' ? s : otherwise;
  const id = text(m.id, ''), over = m.over === true;
  e.waitUntil(self.registration.showNotification(text(m.title, 'A question waits'), {
    body: text(m.body, 'Open it to see what it is about.'), tag: id === '' ? 'tidemark' : `q-${id}`, renotify: !over, silent: over,
    requireInteraction: !over && id !== '', data: {id},
  }));
});

self.addEventListener('notificationclick', e => {
  e.notification.close();
  const id = e.notification.data?.id ?? '';
  const path = id === '' ? '/console/' : `/console/q/${encodeURIComponent(id)}`;
  e.waitUntil((async () => {
    const pages = await self.clients.matchAll({type: 'window', includeUncontrolled: true});
    const here = pages.find(p => new URL(p.url).pathname === path);
    if (here) return here.focus();
    return self.clients.openWindow(path);
  })());
});
