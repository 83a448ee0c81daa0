watch('value', () => {
  const found = element.querySelector('[data-explains]');
  const row = found && document.querySelector(`tr.asked[data-number="${found.dataset.explains}"]`);
  if (row) row.nextElementSibling.querySelector('.why').innerHTML = found.innerHTML;
});
