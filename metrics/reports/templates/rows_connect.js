for (const root of document.querySelectorAll('.rows-root')) {
  root.querySelector('.controls').hidden = false;
  connectRows(root);
}
