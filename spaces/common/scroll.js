() => { for (const status of document.querySelectorAll('.status')) {
  const box = status.getBoundingClientRect();
  if (box.width && (box.top < 0 || box.top > innerHeight - 160)) status.scrollIntoView({block: 'start'}); } }
