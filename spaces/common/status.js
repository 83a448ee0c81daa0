watch('value', () => setTimeout(() => {
  if (!element.getClientRects().length || !element.querySelector('.headline, .problem')) return;
  const linked = element.querySelector('[data-query]'), query = new URLSearchParams(linked?.dataset.query ?? '');
  const theme = new URLSearchParams(location.search).get('__theme');
  if (theme) query.set('__theme', theme);
  document.documentElement.dataset.linked = !!linked;
  const text = query.toString();
  history.replaceState(null, '', location.pathname + (text && '?' + text));
  if (parent !== window) parent.postMessage({queryString: text, hash: ''}, 'https://huggingface.co');
}, 50));
