async () => { const copied = document.querySelector('.copied');
  if (document.documentElement.dataset.linked === 'false')
    return void (copied.textContent = 'No link: the texts are too long for one, or come from a file.');
  try { await navigator.clipboard.writeText(location.href); copied.textContent = 'Link copied.'; }
  catch { copied.textContent = 'Copy the address of this page from the address bar.'; } }
