if (location.hash.includes("="))
  document.documentElement.classList.add("opening");
addEventListener("hashchange", () => location.reload());  // a link that is pasted over another one
function fitFrame(frame) {  // a report has the height of its content, also when a part of it is opened
  const root = frame.contentDocument.documentElement;
  new ResizeObserver(() => { frame.style.height = root.offsetHeight + 2 + "px"; }).observe(root);
}
