if (location.hash.includes("=") || [...new URLSearchParams(location.search).keys()].some(name => !name.startsWith("__")))
  document.documentElement.classList.add("opening");
addEventListener("hashchange", () => location.reload());  // a link that is pasted over another one
