element.addEventListener('click', event => {
  const cell = event.target.closest('button[data-alpha]');
  if (!cell) return;
  element.dataset.clicked = 'yes';
  trigger('click', {alpha: +cell.dataset.alpha, order: +cell.dataset.order});
});
watch('value', () => { if (element.dataset.clicked) setTimeout(() => {
  const focused = document.activeElement;
  if (focused === document.body) element.querySelector('.here button')?.focus({preventScroll: true});
  else if (!element.contains(focused)) delete element.dataset.clicked;
}, 50); });
