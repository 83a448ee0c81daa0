// What a page does by itself: links to results, marks of results whose inputs were edited since, heights of reports.
// Two constants stand in the page: `firstEntries`, the values of all fields that it opens with, and `emptyEntries`.
const runs = {};  // id of a status -> its last run: the values of a link to it, and whether an input was edited since
const root = document.documentElement, MAX_LINK = 8000;
if (location.hash.includes('=')) root.classList.add('opening');
addEventListener('hashchange', () => location.reload());  // a link that is pasted over another one
for (const kind of ['input', 'change', 'drop']) addEventListener(kind, edited, true);

function started(id, count, linked, values) {
  const sent = values.slice(0, count), status = document.getElementById(id);
  runs[id] = {linked: linked && sent, edited: false};
  status.style.minHeight = status.offsetHeight + 'px';  // the progress takes no less room
  return sent;
}
function edited(event) {
  const status = event.target.closest?.('[role=tabpanel]')?.querySelector('.block.status') ?? document.querySelector('.block.status');
  if (!status) return;
  const run = runs[status.id] ??= {};
  run.edited = true;
  setTimeout(() => {  // some inputs start a run themselves
    if (runs[status.id] === run && status.querySelector('.headline')) status.parentElement.classList.add('stale');
  }, 400);
}
async function resultShown(element) {
  const status = element.closest('.block'), run = runs[status.id] ?? {}, isResult = !!element.querySelector('.headline');
  if (!element.querySelector('progress')) status.style.minHeight = '';
  if (!isResult || !run.edited) status.parentElement.classList.remove('stale');
  if (!element.getClientRects().length || !element.querySelector('.headline, .problem')) return;
  const values = isResult && run.linked, theme = new URLSearchParams(location.search).get('__theme');
  const link = values && JSON.stringify(values) !== JSON.stringify(firstEntries) ? `#${slug(values)}=${await packed(values)}` : '';
  const fits = link.length <= MAX_LINK, hash = fits ? link : '';
  root.dataset.linked = !!values && fits;
  const query = theme ? '?__theme=' + encodeURIComponent(theme) : '';
  history.replaceState(null, '', location.pathname + query + hash);  // in a Space the page lies in a frame
  if (parent !== window) parent.postMessage({queryString: query.slice(1), hash}, 'https://huggingface.co');
}
const slug = values => String(values[0]).toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 40).replace(/^-|-$/g, '') || 'result';
const through = (data, stream) => new Response(new Blob([data]).stream().pipeThrough(stream));
async function packed(values) {
  const bytes = await through(JSON.stringify(values), new CompressionStream('deflate-raw')).arrayBuffer();
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
async function unpacked() {  // the values of the address, empty where one is of a wrong type; null if it is no link
  const text = location.hash.replace(/^[^=]*=?/, '').replace(/-/g, '+').replace(/_/g, '/');
  try {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    const values = await through(bytes, new DecompressionStream('deflate-raw')).json();
    if (location.hash.length > MAX_LINK || !Array.isArray(values)) return [null];
    const entries = emptyEntries.map((empty, i) => typeof values[i] === typeof empty ? values[i] : empty);
    runs.form = {linked: entries};
    return [entries];
  } catch { return [null]; }
}
function fitFrame(frame) {  // a report is as high as its content, and leaves its height to the report after it
  const content = frame.contentDocument.documentElement, room = frame.parentElement.style;
  new ResizeObserver(() => { frame.style.height = frame.style.minHeight = room.minHeight = content.offsetHeight + 2 + 'px'; })
    .observe(content);
}
