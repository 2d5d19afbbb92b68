// The console's behaviour: live questions, keys, countdowns, and passkeys. Nothing here
// decides anything, and without it every page still works but passkeys.

const $ = (sel, at = document) => at.querySelector(sel);
const all = (sel, at = document) => [...at.querySelectorAll(sel)];
const rules = {createHTML: s => s, createScriptURL: s => s === '/console/worker.js' ? s : ''};
const policy = window.trustedTypes?.createPolicy('tidemark', rules) ?? rules;

// fragment makes an element out of HTML that our own server rendered.
function fragment(html) {
  const t = document.createElement('template');
  t.innerHTML = policy.createHTML(html);
  return t.content.firstElementChild;
}

const b64 = {
  from: s => Uint8Array.from(atob(s.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0)),
  to: b => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, ''),
};

// ---- sign in: the code stands behind the #, which no server sees ----
const login = $('#login');
function enter() {
  if (!login || location.hash.length < 2) return;
  $('#code').value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  login.submit();
}
enter();
window.addEventListener('hashchange', enter); // the page was open already

// ---- clock: the server's, not the browser's ----
let skew = 0;
const setClock = now => { skew = now - Date.now(); };
const serverNow = () => Date.now() + skew;
for (const el of all('[data-now]').slice(0, 1)) setClock(Number(el.dataset.now));

function countdown() {
  for (const card of all('.card[data-expires]')) {
    const ms = Math.max(0, Number(card.dataset.expires) - serverNow());
    const s = Math.floor(ms / 1000), out = $('.left', card);
    const text = s >= 3600 ? `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')} h`
      : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
    if (out && out.textContent !== text) out.textContent = text;
  }
}
setInterval(countdown, 1000);

// ---- what is on screen, and since when: a key acts only on what was seen for a second ----
const sightSince = new WeakMap();
const sight = new IntersectionObserver(entries => {
  for (const e of entries) {
    const card = e.target.closest('.card');
    if (e.isIntersecting && e.intersectionRatio >= 0.99) sightSince.set(card, performance.now());
    else sightSince.delete(card);
  }
}, {threshold: [0, 0.99, 1], rootMargin: '1px'}); // browsers scroll to parts of a pixel
const watch = card => { const last = $('.opens', card); if (last) sight.observe(last); };
const seenLong = card => performance.now() - (sightSince.get(card) ?? Infinity) >= 1000;
all('.card').forEach(watch);

// ---- the list ----
const list = $('#list');
let waitingNews = [];
let held = false; // pointer or focus in the list: nothing moves
function busy() { return held || (list && list.contains(document.activeElement)); }
list?.addEventListener('pointerenter', () => { held = true; });
list?.addEventListener('pointerleave', () => { held = false; settle(); });
list?.addEventListener('focusout', () => setTimeout(settle));

function setWaiting(n) {
  const el = $('#waiting');
  if (el) { el.dataset.count = n; el.textContent = n ? ` ${n}` : ''; }
  const more = $('#more');
  if (more) {
    more.hidden = n <= Number(more.dataset.count);
    more.textContent = `The ${more.dataset.count} oldest of ${n}. The next ones appear as these are answered.`;
  }
  const plain = document.title.replace(/^\(\d+\) /, '');
  document.title = n ? `(${n}) ${plain}` : plain;
}

// agreed shows that one of several people said yes: the card is another then, and so is what an answer counts for. What was typed stays.
function agreed(here, c) {
  const next = c.html && fragment(c.html);
  if (!next || next.dataset.seen === here.dataset.seen) return false;
  const note = $('input[name=note]', here)?.value ?? '';
  if (here.classList.contains('whole')) {
    if (!note) location.reload();
    return true;
  }
  const focused = here.contains(document.activeElement);
  here.replaceWith(next);
  watch(next);
  if ($('input[name=note]', next)) $('input[name=note]', next).value = note;
  if (focused) next.focus({preventScroll: true});
  return true;
}

// flooding shows which sessions have many calls waiting. A button that somebody is about to press stays as it is: it denies what
// waits when it is pressed.
let floodNews = null;
function flooding() {
  const here = $('#floods');
  if (!here || floodNews === null || here.matches(':hover') || here.contains(document.activeElement)) return;
  here.innerHTML = policy.createHTML(floodNews);
  floodNews = null;
}
$('#floods')?.addEventListener('pointerleave', () => flooding());
$('#floods')?.addEventListener('focusout', () => setTimeout(flooding));

// put shows a card in its place; one that is answered becomes a line where it stands.
function put(c) {
  const here = list && document.getElementById(`q-${c.id}`);
  if (here) {
    if (here.dataset.state === c.state && agreed(here, c)) return;
    if (here.dataset.state === c.state) { here.dataset.soon = c.abandoned ? 'gone' : 'waits'; return; }
    if (!c.html) { refresh(c.id); return; }
    const whole = here.classList.contains('whole');
    if (whole && c.state !== 'pending') { location.reload(); return; }
    const next = fragment(c.html), height = here.getBoundingClientRect().height;
    const focused = here.contains(document.activeElement);
    here.replaceWith(next);
    if (busy()) { next.style.minHeight = `${height}px`; next.classList.add('keep'); } // what is below must not slide up
    if (focused) next.focus({preventScroll: true});
    setTimeout(() => { next.classList.add('old'); settle(); }, 10000);
  } else if (c.state === 'pending' && list?.dataset.page === 'questions') {
    const next = fragment(c.html);
    $('#empty')?.remove();
    list.append(next);
    watch(next);
  }
}

// settle lets cards move again: none are hovered or focused.
function settle() {
  if (!list || busy()) return;
  for (const c of all('.card[data-soon]', list)) {
    c.toggleAttribute('data-abandoned', c.dataset.soon === 'gone');
    delete c.dataset.soon;
  }
  if (list.dataset.page !== 'questions') return;
  all('.card.keep', list).forEach(c => { c.style.minHeight = ''; c.classList.remove('keep'); });
  all('.card.old', list).forEach(c => c.remove());
  if (!$('.card', list) && waitingNews.empty && !$('#empty')) list.append(fragment(waitingNews.empty));
}

function apply(kind, n) {
  if (n.now) setClock(n.now);
  if (kind === 'signedout') return signedOut();
  if (kind === 'alive') return;
  if ('waiting' in n) setWaiting(n.waiting);
  waitingNews = n;
  if ('floods' in n) { floodNews = n.floods; flooding(); }
  if (!list) return;
  // The stream's own snapshot says which cards there are; one that is not here yet is asked for.
  if (n.cards.some(c => !c.html && list.dataset.page === 'questions' && !document.getElementById(`q-${c.id}`))) return snapshot();
  if (kind === 'snapshot') {
    const ids = new Set(n.cards.map(c => c.id));
    for (const card of all('.card[data-state=pending]', list)) {
      if (!ids.has(card.dataset.id)) refresh(card.dataset.id);
    }
  }
  n.cards.forEach(put);
  settle();
}

// refresh asks what became of a card that is no longer open.
async function refresh(id) {
  const r = await fetch(`/console/q/${id}/card`).catch(() => null);
  if (r?.ok) put(await r.json());
  else if (r?.status === 404) document.getElementById(`q-${id}`)?.remove();
}

// ---- live: one tab holds the stream for all of a browser ----
const live = $('#live');
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('tidemark') : null;
channel?.addEventListener('message', e => { lost(null); apply(e.data.kind, e.data.news); });

let lostSince = null;
function lost(when) {
  lostSince = when;
  if (!live) return;
  live.textContent = when ? `Not live since ${when.toLocaleTimeString()}. What you see may be old; answers still count or are refused by the server.` : '';
  live.classList.toggle('bad', Boolean(when));
}
function signedOut() {
  lost(new Date());
  if (live) live.textContent = 'Signed out. Run: tidemark console';
  all('button').forEach(b => { b.disabled = true; });
  source?.close();
}

let source = null;
function listen(done) {
  source = new EventSource('/console/stream');
  for (const kind of ['snapshot', 'questions', 'alive', 'signedout']) {
    source.addEventListener(kind, e => {
      lost(null);
      beat();
      const news = JSON.parse(e.data);
      apply(kind, news);
      channel?.postMessage({kind, news});
    });
  }
  source.onerror = () => {
    if (!lostSince) lost(new Date());
    if (source.readyState === EventSource.CLOSED) { signedOut(); channel?.postMessage({kind: 'signedout', news: {}}); done?.(); }
  };
}
let pulse = 0;
function beat() { clearTimeout(pulse); pulse = setTimeout(() => lost(new Date()), 45000); }

if (live) {
  // A tab that finds the stream taken may have missed what came since its page was made: it asks once.
  const lead = () => navigator.locks.request('tidemark-stream', () => new Promise(listen));
  if (navigator.locks) navigator.locks.request('tidemark-stream', {ifAvailable: true}, lock => lock ? new Promise(listen) : void (snapshot(), lead()));
  else listen();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) snapshot();
  });
  window.addEventListener('pageshow', e => { if (e.persisted) location.reload(); });
}
async function snapshot() {
  const r = await fetch('/console/snapshot').catch(() => null);
  if (r?.status === 401) return signedOut();
  if (r?.ok) apply('snapshot', await r.json());
}

// ---- answers ----
function problem(form, text) {
  const p = $('.problem', form.closest('.card') ?? form) ?? form.appendChild(Object.assign(document.createElement('p'), {className: 'problem'}));
  p.textContent = text;
}

// prove asks a key to sign what the form says.
async function prove(form, data) {
  data.set('token', form.dataset.token);
  const r = await fetch(form.dataset.url, {method: 'POST', body: new URLSearchParams(data)});
  if (!r.ok) throw new Error(await r.text());
  const c = await r.json();
  if (!(c.keys ?? []).length) throw new Error('No key is enrolled for this address. Open the console under the name you enrolled it with.');
  const got = await navigator.credentials.get({publicKey: {
    challenge: b64.from(c.challenge), rpId: c.site, userVerification: 'required', timeout: 120000,
    allowCredentials: c.keys.map(id => ({type: 'public-key', id: b64.from(id)})),
  }});
  return JSON.stringify({
    key: got.id, nonce: c.nonce, client: b64.to(got.response.clientDataJSON),
    authenticator: b64.to(got.response.authenticatorData), signature: b64.to(got.response.signature),
  });
}

// buttonOf is the button of an answer; it may stand beside its form.
const buttonOf = (form, what) => [...form.elements].find(e => e.tagName === 'BUTTON' && e.value === what);

// sure is the second step of what cannot be taken back: the same button again, not sooner than one reads what it says now.
function sure(form, what) {
  const button = buttonOf(form, what), since = Number(button.dataset.since ?? 0), now = performance.now();
  if (since && now - since > 600) return true;
  if (since) return false;
  const text = button.textContent;
  button.dataset.since = now;
  button.textContent = `Yes: ${text[0].toLowerCase()}${text.slice(1)}`;
  problem(form, 'This takes a second step: press it again if you mean it.');
  setTimeout(() => { delete button.dataset.since; button.textContent = text; problem(form, ''); }, 15000);
  return false;
}

async function answer(form, what) {
  const card = form.closest('.card');
  if (form.dataset.busy) return;
  const careful = what !== 'deny' && !card.dataset.keys.includes('a') && form.dataset.proof !== 'passkey';
  if (careful && !sure(form, what)) return;
  form.dataset.busy = '1';
  problem(form, '');
  try {
    const data = new FormData(form);
    data.set('do', what);
    if (careful) data.set('sure', 'yes');
    if (what !== 'deny' && form.dataset.proof === 'passkey') data.set('proof', await prove(form, new FormData(form, buttonOf(form, what))));
    data.set('token', $('input[name=token]', form).value);
    const r = await fetch(form.action, {method: 'POST', body: new URLSearchParams(data)});
    if (r.status === 401) { signedOut(); return; }
    const type = r.headers.get('Content-Type') ?? '';
    if (!type.includes('json')) { problem(form, await r.text()); return; }
    const out = await r.json();
    if (r.ok || out.state !== 'pending') {
      if (card.classList.contains('whole')) location.reload();
      else put(out);
      const left = document.getElementById(`q-${out.id}`);
      if (out.state === 'pending' && out.notice && left && $('form', left)) problem($('form', left), out.notice);
    } else {
      const note = $('input[name=note]', form).value; // nothing typed is lost
      const next = fragment(out.html);
      if (r.status === 409 && next && !card.classList.contains('whole')) {
        card.replaceWith(next);
        watch(next);
        $('input[name=note]', next).value = note;
        problem($('form', next), out.notice);
      } else problem(form, out.notice);
    }
  } catch (e) {
    problem(form, e.name === 'NotAllowedError' ? 'Nothing was approved: the key was not touched, or the browser refused.' : `Nothing was sent: ${e.message}`);
  } finally {
    delete form.dataset.busy;
  }
}

// ---- keys of people ----
async function enrol(form) {
  problem(form, '');
  try {
    const data = new FormData(form);
    if (form.dataset.proof === 'passkey' && !data.get('code')) {
      const first = new FormData(form);
      first.set('proving', '1');
      data.set('proof', await prove(form, first));
    }
    const ask = new FormData(form);
    ask.set('token', form.dataset.token);
    const r = await fetch(form.dataset.url, {method: 'POST', body: new URLSearchParams(ask)});
    if (!r.ok) throw new Error(await r.text());
    const c = await r.json();
    const made = await navigator.credentials.create({publicKey: {
      challenge: b64.from(c.challenge), rp: {id: c.site, name: 'Tidemark'}, timeout: 120000, attestation: 'none',
      user: {id: crypto.getRandomValues(new Uint8Array(16)), name: data.get('what'), displayName: data.get('what')},
      pubKeyCredParams: [-7, -8, -257].map(alg => ({type: 'public-key', alg})),
      authenticatorSelection: {residentKey: 'required', requireResidentKey: true, userVerification: 'required'},
      excludeCredentials: (c.keys ?? []).map(id => ({type: 'public-key', id: b64.from(id)})),
    }});
    data.set('nonce', c.nonce);
    data.set('credential', JSON.stringify({
      id: made.id, rawId: made.id, type: made.type,
      response: {clientDataJSON: b64.to(made.response.clientDataJSON), attestationObject: b64.to(made.response.attestationObject)},
    }));
    const done = await fetch(form.action, {method: 'POST', body: new URLSearchParams(data)});
    if (!done.ok) throw new Error(await done.text());
    location.reload();
  } catch (e) {
    problem(form, e.name === 'NotAllowedError' ? 'Nothing was enrolled: the key was not touched, or the browser refused.' : e.message);
  }
}

// provenSubmit adds a key's signature to an ordinary form, and then sends it as it is.
async function provenSubmit(form, submitter) {
  problem(form, '');
  try {
    const data = new FormData(form, submitter);
    data.set('proving', '1');
    const proof = await prove(form, data);
    for (const [name, value] of [['proof', proof], [submitter?.name, submitter?.value]]) {
      if (!name) continue;
      const field = Object.assign(document.createElement('input'), {type: 'hidden', name, value});
      form.append(field);
    }
    form.submit();
  } catch (e) {
    problem(form, e.name === 'NotAllowedError' ? 'Nothing was done: the key was not touched, or the browser refused.' : e.message);
  }
}

// ---- notices while no page is open: the browser hands out an address, and the server writes it down ----
async function tell(form) {
  problem(form, '');
  try {
    if (!navigator.serviceWorker || !window.PushManager) {
      throw new Error('This browser cannot get notices. It needs https, or this machine\'s own name; on an iPhone put the page on the home screen first.');
    }
    if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notices from this page.');
    await navigator.serviceWorker.register(policy.createScriptURL(form.dataset.url), {scope: '/console/'});
    const worker = await navigator.serviceWorker.ready;
    await (await worker.pushManager.getSubscription())?.unsubscribe(); // it may be of another server's key
    const sub = await worker.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: b64.from(form.dataset.key)});
    const data = new FormData(form), keys = sub.toJSON().keys;
    for (const [name, value] of [['endpoint', sub.endpoint], ['p256dh', keys.p256dh], ['auth', keys.auth]]) data.set(name, value);
    const r = await fetch(form.action, {method: 'POST', body: new URLSearchParams(data)});
    if (!r.ok) { await sub.unsubscribe(); throw new Error(await r.text()); }
    location.reload();
  } catch (e) {
    problem(form, e.message);
  }
}

// ownBrowser is what this browser is called in the list; empty: it is not told.
async function ownBrowser() {
  const worker = await navigator.serviceWorker?.getRegistration('/console/');
  const sub = await worker?.pushManager?.getSubscription();
  if (!sub) return ['', null];
  const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sub.endpoint));
  return [[...new Uint8Array(sum).slice(0, 8)].map(b => b.toString(16).padStart(2, '0')).join(''), sub];
}
if ($('#browsers')) ownBrowser().then(([id]) => { const row = id && $(`#browsers tr[data-id="${id}"] th`); if (row) row.textContent += ' (this one)'; });

async function untell(form) {
  const [id, sub] = await ownBrowser().catch(() => ['', null]);
  if (id === form.dataset.id) await sub.unsubscribe().catch(() => {});
  form.submit();
}

document.addEventListener('submit', e => {
  const form = e.target, what = e.submitter?.value;
  switch (form.dataset.form) {
    case 'answer': e.preventDefault(); answer(form, what); break;
    case 'enrol': e.preventDefault(); enrol(form); break;
    case 'tell': e.preventDefault(); tell(form); break;
    case 'untell': e.preventDefault(); untell(form); break;
    case 'prove': if (form.dataset.proof === 'passkey') { e.preventDefault(); provenSubmit(form, e.submitter); } break;
  }
});

// ---- keyboard, in the list only ----
const keysBox = $('#keys');
if (keysBox) {
  keysBox.checked = localStorage.getItem('tidemark-keys') !== 'off';
  keysBox.addEventListener('change', () => localStorage.setItem('tidemark-keys', keysBox.checked ? 'on' : 'off'));
}
document.addEventListener('keydown', e => {
  if (!list || list.dataset.page !== 'questions' || !keysBox?.checked || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.target.closest('input,textarea,select,summary')) return;
  const cards = all('.card', list), at = cards.findIndex(c => c.contains(document.activeElement));
  const move = i => { const c = cards[Math.max(0, Math.min(cards.length - 1, i))]; c?.focus(); c?.scrollIntoView({block: 'nearest'}); };
  if (e.key === 'j') return move(at + 1);
  if (e.key === 'k') return move(at - 1);
  const card = cards[at], form = card && $('form[data-form=answer]', card);
  if (!form) return;
  if (e.key === 'o') { location.href = `/console/q/${card.dataset.id}`; return; }
  if (e.key === 'r') { e.preventDefault(); $('input[name=note]', form).focus(); return; }
  const what = {a: 'approve', d: 'deny'}[e.key];
  if (!what) return;
  if (!card.dataset.keys.includes(e.key)) return problem(form, 'Dangerous: use the button, then confirm.');
  if (!buttonOf(form, what)) return;
  if (!seenLong(card)) return problem(form, 'Read it first: a key counts when the whole card was on screen for a second.');
  e.preventDefault();
  answer(form, what);
});

// ---- tables: on a phone each row is a list, and each cell says the head of its column ----
for (const table of all('table')) {
  const heads = all('thead tr:last-child > *', table).map(x => x.textContent.trim());
  if (!heads.length || $('[colspan], [rowspan]', table)) continue;
  table.classList.add('rowwise');
  for (const row of all('tbody tr', table)) [...row.cells].forEach((cell, i) => { if (heads[i]) cell.dataset.head = heads[i]; });
}

// ---- pictures: + - 0 change the width, panning is the box's own ----
for (const box of all('.picture')) {
  const svg = $('svg', box), width = svg?.getBoundingClientRect().width; // it fits the page
  let zoom = 1;
  const set = z => {
    zoom = Math.max(0.25, Math.min(4, z));
    svg.style.width = `${width * zoom}px`;
    svg.style.minWidth = '0';
    svg.style.maxWidth = 'none';
  };
  box.parentElement.addEventListener('click', e => {
    const act = e.target.dataset?.act;
    if (act) set(act === '+' ? zoom * 1.25 : act === '-' ? zoom / 1.25 : 1);
  });
  box.addEventListener('keydown', e => {
    if ('+-0'.includes(e.key)) { set(e.key === '+' ? zoom * 1.25 : e.key === '-' ? zoom / 1.25 : 1); e.preventDefault(); }
  });
}

// a click on a value marks every place it stands
document.addEventListener('click', e => {
  const value = e.target.closest('button[data-value]')?.dataset.value;
  if (value === undefined) return;
  all('.hit').forEach(x => x.classList.remove('hit'));
  all('[data-value]').filter(x => x.dataset.value === value).forEach(x => x.classList.add('hit'));
});
