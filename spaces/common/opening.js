if (location.hash.includes("=") || [...new URLSearchParams(location.search).keys()].some(name => !name.startsWith("__")))
  document.documentElement.classList.add("opening");
addEventListener("hashchange", () => location.reload());  // a link that is pasted over another one
// A result stands beside the texts that it is of: once one is edited, the result is marked, until one of these texts is there.
let edits = 0, asked = 0;
function placeOf(one) {  // the tab with fields and their result, or the page
  const tab = one.closest('.tabitem');
  return !tab ? document.body : tab.querySelector('.status') ? tab : placeOf(tab.parentElement);
}
addEventListener('input', event => {
  if (!event.target.matches('textarea, input[type=text]') || event.target.closest('.results')) return;
  edits++;
  placeOf(event.target).classList.add('stale');
});
function started(values, count) { asked = edits; return values.slice(0, count); }
function finished() {
  if (asked === edits) for (const status of document.querySelectorAll('.status'))
    if (status.getClientRects().length) placeOf(status).classList.remove('stale');
}
