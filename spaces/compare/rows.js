
connectRows(element, (number, place) => {
  if (!place || place.dataset.asked) return;
  place.dataset.asked = 'yes';
  place.textContent = 'Explaining the verdicts …';
  trigger('click', {row: number});
});
