// A result is marked while an input differs from the value that the result was computed from. A run gets the values that are
// sent, and its result carries the number of the run: edits and results may come in any order. Run 0 filled in its inputs.
const current = {}, runs = {};  // component -> value as JSON
let last = 0;  // number of a run
const asJson = (ids, values) => Object.fromEntries(ids.map((id, i) => [id, JSON.stringify(values[i])]));
function runStarted(number, ids, values) {
  runs[number] = asJson(ids, values);
  for (const id of ids) current[id] ??= runs[number][id];  // until it is edited
  if (number) for (const status of document.querySelectorAll('.block.status'))  // the progress takes no less room
    status.style.minHeight = status.offsetHeight + 'px';
  markOutdated();
  return [number, ...values];
}
function opened(ids, values) {
  const page = document.documentElement.classList;
  if (page.contains('opening')) runStarted(0, ids, values);
  page.remove('opening');
}
function edited(ids, values) { Object.assign(current, asJson(ids, values)); markOutdated(); }
function isOutdated(status) {
  const values = runs[status.querySelector('[data-run]')?.dataset.run ?? 0] ?? {};
  return status.querySelector('.headline') && Object.keys(values).some(id => values[id] !== current[id]);
}
function markOutdated() {
  for (const status of document.querySelectorAll('.block.status')) {
    const marks = status.parentElement.classList;
    if (!isOutdated(status)) marks.remove('stale');
    else if (!marks.contains('stale'))  // a moment later: some inputs start a run themselves
      setTimeout(() => isOutdated(status) && marks.add('stale'), 400);
  }
}
