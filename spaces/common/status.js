watch('value', () => setTimeout(() => {
  markOutdated();
  if (!element.querySelector('progress')) element.closest('.block').style.minHeight = '';
  if (!element.getClientRects().length || !element.querySelector('.headline, .problem')) return;
  const linked = element.querySelector('[data-link]'), fragment = linked?.dataset.link ?? '';
  const theme = new URLSearchParams(location.search).get('__theme');
  document.documentElement.dataset.linked = !!linked;
  const query = theme ? '?__theme=' + encodeURIComponent(theme) : '', hash = fragment && '#' + fragment;
  history.replaceState(null, '', location.pathname + query + hash);
  if (parent !== window) parent.postMessage({queryString: query.slice(1), hash}, 'https://huggingface.co');
}, 50));
