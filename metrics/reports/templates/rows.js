/* The rows of a comparison in `root`: filter, sort, find, and a click that opens the texts and scores of a row.
   `opened(number, place)` is called when a row is opened, with the element for what explains it. */
function connectRows(root, opened = () => {}) {
  const details = row => row.nextElementSibling;
  const button = row => row.querySelector('button');
  function update() {
    const view = root.querySelector('.rows-view');
    if (!view) return;
    const [kind, order, find] = ['filter', 'sort', 'find'].map(name => view.querySelector(`[data-${name}]`).value);
    const wanted = find.trim().toLowerCase();
    const rows = [...view.querySelectorAll('tr.asked')].map(row => [row, details(row)]);
    let shown = 0;
    for (const [row, more] of rows) {
      const fits = (!kind || row.dataset.kinds.split(' ').includes(kind)) && row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits;
      more.hidden = !fits || button(row).getAttribute('aria-expanded') !== 'true';
      shown += fits;
    }
    rows.sort(([a], [b]) => b.dataset[order] - a.dataset[order] || a.dataset.number - b.dataset.number);
    view.querySelector('tbody').append(...rows.flat());
    view.querySelector('.count').textContent = `${shown} of ${rows.length} questions`;
  }
  root.addEventListener('input', event => event.target.closest('.controls') && update());
  root.addEventListener('click', event => {
    const row = event.target.closest('tr.asked');
    if (!row || getSelection().toString()) return;
    const open = button(row).getAttribute('aria-expanded') !== 'true';
    button(row).setAttribute('aria-expanded', open);
    details(row).hidden = !open;
    if (open) opened(+row.dataset.number, details(row).querySelector('.why'));
  });
}
