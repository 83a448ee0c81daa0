/* The viewer of all rows in `root`: filters, sorts, opens, compares and labels them. What is shown stands in the address. */
function connectViewer(root) {
  const data = JSON.parse(root.querySelector('script').textContent);
  const pick = name => root.querySelector(`[data-${name}]`);
  const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const seen = text => text.replace(hidden, '\ufffd');
  const pair = value => Array.isArray(value) ? value : [value, ''];
  const el = (name, set = {}, ...inside) => {
    const node = Object.assign(document.createElement(name), set);
    node.append(...inside.filter(part => part != null && part !== ''));
    return node;
  };
  const button = (text, act, set = {}) => el('button', { type: 'button', onclick: act, ...set }, text);
  const one = text => seen(text).replace(/\s+/g, ' ').trim() || '(empty)';

  const rows = [], byNumber = new Map(), byKey = new Map();
  for (const asked of data.questions) {
    for (const row of asked.rows) {
      [row.asked, row.text, row.html] = [asked, ...pair(row.answer)];
      row.find = [pair(asked.question)[0], row.text, ...asked.references.map(text => pair(text)[0])].join('\n');
      row.label ??= null;
      rows.push(row);
      byNumber.set(row.number, row);
      byKey.set(row.key, [...byKey.get(row.key) ?? [], row]);
    }
  }
  rows.sort((a, b) => a.number - b.number);
  const has = name => rows.some(row => row[name] != null);
  const scores = [...new Set(rows.flatMap(row => Object.keys(row.scores ?? {})))];
  const word = value => value == null ? '' : value >= .5 ? 'right' : 'wrong';
  const isUnsure = row => row.probability > data.unsure[0] && row.probability < data.unsure[1];
  const agrees = row => row.label == null || row.verdict == null ? '' : word(row.label) === word(row.verdict)
    ? 'label and judge agree' : 'label and judge disagree';
  const apart = 'systems differ';
  const differs = row => new Set(row.asked.rows.map(other => word(other.label ?? other.verdict))).size > 1
    ? apart : '';
  const shownProbability = value => value > .99 ? 'above .99' : value < .01 ? 'below .01' : value.toFixed(2);

  /* Filters: what a row has of each, of which one can be chosen. */
  const facets = {
    system: ['System', row => [row.system]],
    verdict: ['Judge', row => [word(row.verdict), isUnsure(row) ? 'unsure' : '']],
    label: ['Label', row => [word(row.label) || 'none']],
    agreement: ['Agreement', row => [agrees(row), differs(row)]],
    kind: ['Reason', row => [row.kind]],
    topic: ['Topic', row => [row.topic]],
  };
  const secret = ['system', 'verdict', 'agreement', 'kind'];
  const columns = [
    ['question', 'Question', row => pair(row.asked.question)[0]], ['system', 'System', row => row.system],
    ['answer', 'Answer', row => row.text], ['accepted', 'Accepted', row => row.asked.references.map(text => pair(text)[0]).join(' | ')],
    ['verdict', 'Judge', row => row.verdict ?? -1],
    ['probability', 'Probability', row => row.probability ?? -1], ['label', 'Label', row => row.label ?? -1],
    ['why', 'Why', row => row.kind ?? row.reason ?? ''], ['topic', 'Topic', row => row.topic ?? ''],
    ['id', 'Id', row => row.id ?? ''], ...scores.map(name => [name, name, row => row.scores?.[name] ?? NaN]),
  ].filter(([name]) => !['verdict', 'probability', 'topic', 'id'].includes(name) || has(name));
  const secretColumns = ['system', 'verdict', 'probability', 'why', ...scores];
  const first = ['question', 'system', 'answer', ...has('kind') || !has('reason') ? [] : ['accepted'], 'verdict', 'label', 'why', ...has('verdict') ? [] : scores.slice(0, 2)]
    .filter(name => (name !== 'system' || rows.some(row => row.system)) && (name !== 'label' || has('label')) && (name !== 'why' || has('kind') || has('reason')));
  root.classList.toggle('reasoned', !has('kind') && has('reason'));  // sentences need more room than kinds
  const state = { find: '', regular: false, blind: false, order: '', columns: first, row: 0, labels: false, raw: false };
  for (const name in facets) state[name] = '';

  const verdict = (value, prefix = '') => value == null ? '' : el('span', { className: `verdict ${word(value)}` },
    `${value >= .5 ? '✓' : '✗'} ${prefix}${word(value)}`);
  const dot = system => system in data.colours ? el('span', { className: `dot system${data.colours[system]}` }) : '';
  const tag = row => isUnsure(row) ? el('span', { className: 'unsure' }, ' unsure') : '';
  /* A long answer from the sentence on that shares most words with the accepted answers; numbers count twice where these have one. */
  function tellingPart(text, references) {
    if (text.length < 150) return text;
    const telling = new Set(references.flatMap(reference => words(pair(reference)[0]))), number = /^\p{N}/u;
    const hasNumber = [...telling].some(known => number.test(known));
    let best = 0, start = 0, place = 0;
    for (const sentence of text.split(/(?<=[.!?:;])\s+/)) {
      const shared = new Set(words(sentence).filter(known => telling.has(known) || (hasNumber && number.test(known))));
      const count = [...shared].reduce((sum, known) => sum + (number.test(known) ? 2 : 1), 0);
      if (count > best) [best, start] = [count, place];
      place = text.indexOf(sentence, place) + sentence.length + 1;
    }
    return start ? `… ${text.slice(start)}` : text;
  }
  const cells = {
    question: row => button(one(pair(row.asked.question)[0] || row.id || `row ${row.number}`), null,
      { className: 'open', ariaExpanded: String(state.row === row.number), dir: 'auto' }),
    answer: row => el('span', { className: 'clamped', dir: 'auto' }, tellingPart(one(row.html ? new DOMParser().parseFromString(row.html, 'text/html').body.textContent : row.text), row.asked.references)),
    accepted: row => el('span', { className: 'clamped', dir: 'auto' }, one(row.asked.references.map(text => pair(text)[0]).join(' | '))),
    verdict: row => el('span', {}, verdict(row.verdict), tag(row)),
    label: row => verdict(row.label) || '',
    probability: row => row.probability == null ? '' : shownProbability(row.probability),
    system: row => el('span', {}, dot(row.system), seen(row.system)),
  };
  const display = (name, value, row) => {
    const node = cells[name]?.(row) ?? (typeof value === 'number' ? (isNaN(value) ? '–' : value.toFixed(3)) : seen(value));
    return el('span', {}, node);
  };

  /* Words of an element that a set of words lacks. Numbers stay whole: 1,299 is not 1,299.50. */
  const WORD = /[\p{L}\p{N}]+(?:[.,'’:/-][\p{L}\p{N}]+)*/gu;
  const words = text => (text.match(WORD) ?? []).map(found => found.toLowerCase());
  const nearest = (text, others) => others.map(other => new Set(words(other))).reduce((best, set) => {
    const shared = of => words(text).filter(found => of.has(found)).join('').length;
    return !best || shared(set) > shared(best) ? set : best;
  }, null) ?? new Set();
  let against = 'accepted';  // or a system: what the words of an answer are compared with
  const isPart = document.documentElement.classList.contains('embedded');  // of a page with other results
  if (data.single) {
    root.querySelector('.browsing').replaceWith(detail(rows[0], false));
    const facts = document.querySelector('ul.facts');
    if (isPart && facts) document.querySelector('h2#facts').replaceWith(el('details', {}, el('summary', {}, 'Version and settings'), facts));
    return;
  }

  if (document.documentElement.classList.contains('rows-first')) {
    const main = root.closest('main'), others = [...main.childNodes].filter(node => !node.contains(root) && node !== root);
    main.append(el('details', { className: 'part' }, el('summary', {}, el('h2', {}, 'Charts, tests and notes')), ...others));
  }
  let wanted = null;  // the regular expression or text to find
  const find = row => row.found = !wanted || (wanted.test ? wanted.test(row.find) : row.find.toLowerCase().includes(wanted));
  const fits = (row, but) => row.found && Object.entries(facets).every(([name, [, of]]) => name === but || !state[name] || of(row).includes(state[name]));
  const table = new DataTable(root.querySelector('table'), {
    data: rows, order: [], autoWidth: false, pageLength: isPart ? 8 : 25, lengthMenu: [8, 25, 100, 500], rowId: row => `row-${row.number}`,
    layout: { topStart: null, topEnd: null, bottomStart: ['info', 'pageLength'], bottomEnd: 'paging' },
    language: { info: '_START_ to _END_ of _TOTAL_ answers', infoFiltered: '(_MAX_ in all)', infoEmpty: 'No answers',
      zeroRecords: 'No answer fits these filters.', lengthMenu: '_MENU_ a page' },
    columns: columns.map(([name, title, of]) => ({
      name, title, data: null, searchable: false, visible: first.includes(name),
      type: typeof of(rows[0] ?? { asked: {} }) === 'number' ? 'num' : 'string',
      render: (_, type, row) => type === 'display' ? display(name, of(row), row) : of(row),
      createdCell: cell => { [cell.dataset.title, cell.className] = [title, `of-${name} ${cell.className}`]; },
    })),
  });
  table.search.fixed('filters', (text, row) => fits(row));

  function mark(node, known) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const parts = [];
      let end = 0;
      for (const found of text.data.matchAll(WORD)) {
        if (known.has(found[0].toLowerCase())) continue;
        parts.push(text.data.slice(end, found.index), el('u', {}, found[0]));
        end = found.index + found[0].length;
      }
      if (end) text.replaceWith(...parts, text.data.slice(end));
    }
    return node;
  }
  function body(value, known, marks) {
    const [text, html] = pair(value);
    const node = el('div', { className: 'text', dir: 'auto' });
    if (html && !state.raw && !marks) {
      node.classList.add('rendered');
      node.innerHTML = html;  // made and cleaned when the page was made
    } else if (marks) {
      const letters = [...text], part = (from, to) => seen(letters.slice(from, to).join(''));  // not halves of an emoji
      let end = 0;
      for (const [from, to, kind, behind] of marks) {
        const marked = el('mark', { className: kind }, part(from, to));
        if (behind) marked.dataset.behind = behind;
        node.append(part(end, from), marked);
        end = to;
      }
      node.append(part(end));
    } else node.append(text.trim() ? seen(text) : '(empty)');
    return known && text.trim() ? mark(node, known) : node;
  }

  /* What an opened row shows. `blind` hides system, verdict and the other systems' answers. */
  function detail(row, blind) {
    const accepted = row.asked.references.map(text => pair(text)[0]);
    const others = blind ? [] : row.asked.rows.filter(other => other !== row);
    const compared = others.find(other => other.system === against);
    const known = compared ? new Set(words(compared.text)) : accepted.length ? nearest(row.text, accepted) : null;
    const mine = new Set(words(row.text)), closest = accepted.length ? [...known].join() : '';
    const isClosest = text => [...new Set(words(text))].join() === closest;
    const said = (title, ...inside) => el('div', {}, el(data.single ? 'h2' : 'h3', {}, ...title), ...inside);
    const name = of => [blind ? 'Answer' : seen(of.system) || 'Answer', ...blind ? [] : [' ', verdict(of.label ?? of.verdict,
      of.label == null ? 'judged ' : ''), of.label != null && of.verdict != null && agrees(of).endsWith('disagree')
      ? el('span', { className: 'unsure' }, ` judge: ${word(of.verdict)}`) : '', tag(of)]];
    const facts = [row.probability == null ? '' : `judge: probability ${shownProbability(row.probability)} that it is right`, row.id ?? '', row.topic ?? '',
      ...Object.entries(row.evidence ? {} : row.scores ?? {}).map(([score, value]) => `${score} ${value.toFixed(3)}`)].filter(Boolean).join(' · ');
    const shown = el('div', { className: 'detail' },
      pair(row.asked.question)[0] ? el('div', { className: 'asked' }, said(['Question'], body(row.asked.question))) : '',
      row.reason && !blind ? el('p', { className: 'reason' }, seen(row.reason)) : '',
      el('div', { className: 'pair' },
        accepted.length ? said(['Accepted'], ...row.asked.references.map((text, place) =>
          body(text, !compared && isClosest(accepted[place]) && !row.marks ? mine : null, row.referenceMarks?.[place]))) : '',
        said(name(row), body(row.answer, row.marks ? null : known, row.marks))),
      ...blind ? [] : [facts ? el('p', { className: 'facts' }, seen(facts)) : '',
        row.evidence ? el('dl', {}, ...row.evidence.flatMap(([label, text]) =>
          [el('dt', {}, seen(label)), el('dd', { dir: 'auto' }, seen(text))])) : '',
        others.length ? el('div', { className: 'pair' }, ...others.map(other =>
          said(name(other), body(other.answer, other === compared ? mine : accepted.length ? nearest(other.text, accepted) : null)))) : ''],
      row.asked.passages.length ? el('details', {}, el('summary', {}, `${row.asked.passages.length} passages`),
        ...row.asked.passages.map(text => el('p', { className: 'text', dir: 'auto' }, seen(text)))) : '');
    const hint = row.marks ? data.legend : shown.querySelector('u') && 'Underlined: words that the text beside it does not have. They can be right or wrong.';
    if (hint) shown.append(el('p', { className: 'hint' }, hint));
    return shown;
  }
  function tools(row) {
    const others = row.asked.rows.filter(other => other !== row);
    const choose = el('select', { id: 'against', onchange: event => { against = event.target.value; open(row.number); } },
      ...['accepted', ...others.map(other => other.system)].map(name => el('option', { value: name, selected: name === against },
        name === 'accepted' ? 'the accepted answer' : seen(name))));
    return [el('p', { className: 'actions' }, ...state.blind
      ? [button('✓ right (y)', () => label(row, 1)), button('✗ wrong (n)', () => label(row, 0))]
      : [button('Label blind (b)', () => blind(true))],
      button('‹ previous (k)', () => step(-1)), button('next (j) ›', () => step(1))),
    el('p', { className: 'actions' }, ...others.length && !state.blind ? [el('label', { htmlFor: 'against' }, 'Compare words with'), choose] : [],
      button(state.raw ? 'Show as Markdown' : 'Show raw text', () => { state.raw = !state.raw; write(); open(row.number); }),
      button('Copy link', () => copy(location.href, 'The link is copied.')))];
  }
  function open(number, focus = false) {
    for (const shown of root.querySelectorAll('tr.shown')) {
      table.row(shown).child.remove();
      shown.classList.remove('shown');
      shown.querySelector('button.open')?.setAttribute('aria-expanded', 'false');
    }
    state.row = number;
    const row = byNumber.get(number), order = table.rows({ search: 'applied', order: 'applied' }).data().toArray();
    const place = order.indexOf(row);
    if (row && place >= 0) {
      const page = Math.floor(place / table.page.len());
      if (page !== table.page.info().page) table.page(page).draw('page');
      const shown = table.row(`#row-${number}`);
      const [acts, more] = tools(row);
      shown.child(el('div', {}, acts, detail(row, state.blind), more)).show();
      shown.node().classList.add('shown');
      const head = shown.node().querySelector('button.open');
      head?.setAttribute('aria-expanded', 'true');
      if (focus) { head?.focus({ preventScroll: true }); shown.node().scrollIntoView({ block: 'start' }); }
    } else state.row = 0;
    write();
  }
  function step(by) {
    const order = table.rows({ search: 'applied', order: 'applied' }).data().toArray();
    const place = order.findIndex(row => row.number === state.row);
    const next = order[place < 0 ? 0 : place + by];
    if (next) open(next.number, true);
  }

  /* A label counts if system and verdict were hidden: so keys and buttons label blind rows only. */
  function blind(on) {
    state.blind = pick('blind').checked = on;
    show();
    update();
  }

  /* The address has what differs from the first view; a link shows the same. */
  const changes = { ...state };
  function write() {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(state))
      if (String(value) !== String(changes[name])) query.set(name, value === true ? '1' : value === false ? '0' : String(value));
    if (location.protocol !== 'about:') history.replaceState(null, '', query.size ? `#${query}` : location.pathname + location.search);
  }
  function read() {
    const query = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(changes)) {
      const said = query.get(name);
      state[name] = said === null ? value : typeof value === 'boolean' ? said === '1' : typeof value === 'number' ? +said
        : Array.isArray(value) ? said.split(',') : said;
    }
    pick('find').value = state.find;
    pick('regular').checked = state.regular;
    pick('blind').checked = state.blind;
    const [name, way] = state.order.split(' ');
    const place = columns.findIndex(([known]) => known === name);
    table.order(place < 0 ? [] : [[place, way === 'desc' ? 'desc' : 'asc']]);
    const number = state.row;
    update();
    state.labels ? ask() : open(number, number > 0);
  }
  function update() {
    try {
      wanted = state.find && (state.regular ? new RegExp(state.find, 'iu') : state.find.toLowerCase());
      pick('status').textContent = '';
    } catch (error) {
      [wanted, pick('status').textContent] = [null, `Not a regular expression: ${error.message}`];
    }
    rows.forEach(find);
    if (state.blind) for (const name of secret) state[name] = '';
    const asked = tasks.filter(row => row.label !== null).length;
    begin.textContent = `Label ${tasks.length} answers${asked ? ` (${asked} done)` : ''}`;
    const compared = rows.filter(differs).length, onlyApart = state.agreement === apart;
    compare.textContent = onlyApart ? 'All answers' : `Only where systems differ (${compared.toLocaleString('en')})`;
    compare.hidden = state.blind || !onlyApart && [0, rows.length].includes(compared);
    const focused = document.activeElement?.id;
    pick('facets').replaceChildren(...Object.entries(facets).map(([name, [title, of]]) => {
      const counts = new Map();
      for (const row of rows) for (const value of of(row)) if (value) counts.set(value, (counts.get(value) ?? 0) + fits(row, name));
      if ((counts.size < 2 && name !== 'agreement') || !counts.size || (state.blind && secret.includes(name))) return '';
      const choose = el('select', { id: `filter-${name}`, onchange: event => { state[name] = event.target.value; update(); } },
        el('option', { value: '' }, 'all'), ...[...counts].sort().map(([value, count]) =>
          el('option', { value, selected: state[name] === value }, `${seen(value)} (${count.toLocaleString('en')})`)));
      return el('span', { className: state[name] ? 'field chosen' : 'field' }, el('label', { htmlFor: choose.id }, title), choose);
    }).filter(Boolean));
    if (focused?.startsWith('filter-')) document.getElementById(focused)?.focus();
    const shown = columns.map(([name]) => state.columns.includes(name) && !(state.blind && secretColumns.includes(name)));
    shown.forEach((visible, place) => table.column(place).visible(visible, false));
    const offered = columns.filter(([name]) => !(state.blind && secretColumns.includes(name)));
    pick('columns').replaceChildren(...offered.map(([name, title]) => el('label', { className: 'check' },
      el('input', { type: 'checkbox', checked: state.columns.includes(name), disabled: name === 'question', onchange: event => {
        const chosen = event.target.checked ? [...state.columns, name] : state.columns.filter(kept => kept !== name);
        state.columns = columns.map(([known]) => known).filter(known => chosen.includes(known));
        update();
        pick('columns').querySelectorAll('input')[offered.findIndex(([known]) => known === name)].focus();
      } }), ` ${title}`)));
    const number = state.row;
    table.draw();
    open(number);
  }

  /* What is filtered, as a table: to the clipboard, or as CSV, whose cells no spreadsheet runs. */
  const cell = value => /^['=+\-@\t\r]/.test(value) && isNaN(value) ? `'${value}` : value;
  function filtered(separator) {
    const quote = value => { const text = cell(String(value ?? '')); return /["\n\r,\t;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    const blind = name => state.blind && secretColumns.includes(name);
    const fields = [...columns.filter(([name]) => !blind(name) && name !== 'why'), ['references', '', row => row.asked.references
      .map(text => pair(text)[0]).join(' | ')], ...state.blind ? [] : [['reason', '', row => row.reason ?? row.kind ?? '']]];
    const lines = table.rows({ search: 'applied', order: 'applied' }).data().toArray().map(row =>
      fields.map(([, , of]) => { const value = of(row); return quote(value === -1 || Number.isNaN(value) ? '' : value); }));
    return [fields.map(([name]) => name), ...lines].map(line => line.join(separator)).join('\n') + '\n';
  }
  async function copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // a page of a file may not
      const area = el('textarea', { value: text, ariaLabel: 'copied text' });
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    pick('status').textContent = said;
  }
  function save(name, text, type) {
    const link = el('a', { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /* Labels: each is saved by the server at once, or stays here until it is downloaded. */
  const done = [], tasks = [...new Map(rows.filter(row => row.drawn).sort((a, b) => a.drawn[0] - b.drawn[0])
    .map(row => [row.key, row])).values()];
  const begin = button('', () => ask(), { className: 'main' });
  const compare = button('', () => { state.agreement = state.agreement === apart ? '' : apart; update(); });
  let unsaved = 0, skipped = [], sending = Promise.resolve();
  const labels = new Map();  // of this page, by key
  function set(row, value) {
    for (const same of byKey.get(row.key)) same.label = value;
    value === null ? labels.delete(row.key) : labels.set(row.key, row);
    pick('download').hidden = data.serves || !labels.size;
    if (!data.serves) { unsaved = labels.size; return; }
    unsaved++;
    sending = sending.then(() => send(row.key, value));  // in the order of the keys: the last label of an answer counts
  }
  async function send(key, value) {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ key, label: value }) };
    const answer = await fetch('label', sent).catch(() => null);
    unsaved--;
    if (!answer?.ok) alert(`The label was not saved: ${answer ? await answer.text() : 'the command has ended'}. Start genqa-metrics view again.`);
    estimate();
  }
  function label(row, value) {
    const before = row.label;
    done.push(() => { set(row, before); return row; });
    set(row, value);
    skipped = skipped.filter(key => key !== row.key);
    state.labels ? ask() : (refresh(), pick('status').textContent = `Labelled ${word(value)}.`);
  }
  function undo() {
    const last = done.pop();
    if (!last) return;
    const row = last();  // takes back a label or a skip
    state.labels ? ask(row) : refresh();
  }
  const showLabels = () => { if (has('label') && !state.columns.includes('label')) state.columns = [...state.columns, 'label']; };
  function refresh() {
    table.rows().invalidate();
    showLabels();
    update();
  }
  const line = row => JSON.stringify({ item: row.key, system: row.system, ...row.id ? { id: row.id } : {},
    question: pair(row.asked.question)[0], references: row.asked.references.map(text => pair(text)[0]), prediction: row.text,
    rater: data.rater, label: row.label, score: row.label,
    [data.columns.probability]: row.drawn?.[1] ?? null, [data.columns.planned]: row.drawn?.[2] ?? null });
  function download() {
    save(data.download, [...labels.values()].map(row => `${line(row)}\n`).join(''), 'application/x-ndjson');
    unsaved = 0;
  }
  addEventListener('beforeunload', event => unsaved && event.preventDefault());
  let shownTask = null;
  const isSample = tasks.length < byKey.size;
  function progress(count) {
    const here = data.serves ? count : tasks.filter(row => labels.has(row.key)).length;
    const labelled = here === count ? `${count} of ${tasks.length} labelled` : `${count - here} labels from your file, ${here} here`;
    const asked = isSample ? `${tasks.length} answers were drawn at random` : `All ${tasks.length} answers are asked, in random order`;
    return `${labelled}. ${asked}; system and verdict are hidden.`;
  }
  function ask(again = null) {
    state.labels = true;
    write();
    const left = tasks.filter(row => row.label === null);
    shownTask = again ?? left.find(row => !skipped.includes(row.key)) ?? left[0] ?? null;
    const box = root.querySelector('.labelling'), count = tasks.length - left.length;
    const keys = shownTask ? [button('✓ right (y)', () => label(shownTask, 1)), button('✗ wrong (n)', () => label(shownTask, 0)),
      button('skip (s)', skip)] : [];
    const saved = data.serves ? 'Every label is saved at once.' : `Labels stay in this page until you download them. Then: ${data.command}`;
    box.replaceChildren(
      el('p', { className: 'progress' }, el('progress', { max: tasks.length || 1, value: count, ariaLabel: 'Labelled so far' }),
        ` ${progress(count)}`),
      shownTask ? detail(shownTask, true) : el('p', {}, `All ${tasks.length} ${isSample ? 'drawn ' : ''}answers are labelled.`),
      el('p', { className: 'actions keys' }, ...keys, button('undo (u)', undo, { disabled: !done.length }),
        data.serves ? el('a', { href: 'labels.jsonl', download: 'labels.jsonl' }, 'Download the labels')
          : button('Download the labels', download, { disabled: !labels.size }), button('Back to all answers (Escape)', leave)),
      el('p', { className: 'hint' }, saved), results);
    results.open ||= !shownTask;
    show();
    if (data.serves && !estimates.childElementCount) estimate();
  }
  function skip() {
    const [row, before] = [shownTask, skipped];
    done.push(() => { skipped = before; return row; });
    skipped = [...skipped.filter(key => key !== shownTask.key), shownTask.key];
    if (tasks.every(row => row.label !== null || skipped.includes(row.key))) skipped = [shownTask.key];
    ask();
  }
  function leave() {
    state.labels = false;
    show();
    refresh();
  }
  function show() {
    root.querySelector('.labelling').hidden = !state.labels;
    root.querySelector('.browsing').hidden = pick('actions').hidden = state.labels;
    for (const finding of root.closest('main')?.querySelectorAll('.finding, .sure, .further') ?? [])
      finding.hidden = state.labels || state.blind;  // they name systems and verdicts
    pick('heading').textContent = state.labels ? 'Label answers' : data.heading;
  }
  const estimates = el('div', { className: 'estimates', ariaLive: 'polite' });
  const results = el('details', { hidden: !data.serves }, el('summary', {}, 'Results so far, by system'), estimates);
  let asking = false, askAgain = false;
  async function estimate() {  // one at a time; the server reads all rows for it
    if (asking) { askAgain = true; return; }
    asking = true;
    const answer = await fetch('accuracy').then(sent => sent.json()).catch(() => null);
    asking = false;
    if (askAgain) { askAgain = false; return estimate(); }
    if (!answer) return;
    estimates.replaceChildren(...answer.systems.map(({ system, shown, low, high, accuracy }) => {
      const bar = el('span', { className: 'interval' });
      for (const [name, value] of Object.entries({ low: low ?? 0, high: high ?? 1, value: accuracy ?? -1 })) bar.style.setProperty(`--${name}`, value);
      if (low === null) bar.classList.add('unknown');
      return el('p', {}, el('b', {}, seen(system)), ` ${shown}`, bar);
    }), ...answer.findings.map(text => el('p', {}, seen(text))));
  }

  root.addEventListener('click', event => {
    const row = event.target.closest('tbody tr[id^=row-]');
    if (!row || event.target.closest('a, select') || getSelection().toString()) return;
    const number = +row.id.slice(4);
    open(state.row === number ? 0 : number);
  });
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
    const row = state.labels ? shownTask : byNumber.get(state.row), key = event.key.toLowerCase();
    const acts = { b: () => state.labels || blind(!state.blind), u: undo, escape: () => state.labels ? leave() : open(0), s: () => state.labels && row && skip(),
      j: () => state.labels || step(1), k: () => state.labels || step(-1) };
    if (row) for (const [name, value] of Object.entries({ y: 1, 1: 1, n: 0, 0: 0 })) acts[name] = () => state.labels || state.blind ? label(row, value)
      : pick('status').textContent = 'Labels are given blind: press b, which hides system and verdict.';
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
  });
  let waiting;
  pick('find').oninput = event => { state.find = event.target.value; clearTimeout(waiting); waiting = setTimeout(update, 150); };
  pick('regular').onchange = event => { state.regular = event.target.checked; update(); };
  pick('blind').onchange = event => blind(event.target.checked);
  const areWhole = data.questions.every(asked => asked.rows.length > 1);  // else a page lists some answers
  pick('actions').append(areWhole ? compare : '', tasks.length ? begin : '');
  pick('files').append(button('Copy these rows', () => copy(filtered('\t'), 'The rows are copied.')),
    button('CSV of these rows', () => save('answers.csv', filtered(','), 'text/csv')));
  pick('download').append(button('Download the labels', download));
  table.on('order', () => {
    const [place, way] = table.order()[0] ?? [];
    state.order = way ? `${columns[place]?.[0]} ${way}` : '';
    write();
  });
  table.on('draw', () => {
    root.querySelector('.dt-paging').hidden = table.page.info().pages < 2;
    root.querySelector('.dt-length').hidden = rows.length <= 8;
  });
  table.on('draw', () => { if (state.row && !root.querySelector('tr.shown')) state.row = 0; });
  addEventListener('hashchange', read);
  pick('filters').open = innerWidth > 640;
  show();
  read();
  if (data.serves) fetch('labels.jsonl').then(sent => sent.text()).then(text => {  // given since the page was made
    const given = new Map();
    for (const row of text.split('\n').filter(Boolean).map(JSON.parse)) given.set(row.item, [...given.get(row.item) ?? [], row.label]);
    for (const [key, of] of given) for (const row of byKey.get(key) ?? []) row.label = of.reduce((a, b) => a + b) / of.length;
    state.labels ? ask() : refresh();
  });
}
for (const root of document.querySelectorAll('.viewer')) connectViewer(root);
