if (location.hash.includes("="))
  document.documentElement.classList.add("opening");
addEventListener("hashchange", () => location.reload());  // a link that is pasted over another one
function fitFrame(frame) {  // a report is as high as its content, and leaves its height to the report after it
  const root = frame.contentDocument.documentElement, room = frame.parentElement.style;
  new ResizeObserver(() => { frame.style.height = frame.style.minHeight = room.minHeight = root.offsetHeight + 2 + "px"; })
    .observe(root);
}
