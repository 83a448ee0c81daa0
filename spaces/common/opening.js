if ([...new URLSearchParams(location.search).keys()].some(name => !name.startsWith("__")))
  document.documentElement.classList.add("opening");
