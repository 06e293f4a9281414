// The theme is set before anything is drawn, so that nothing flashes. It is all that the page keeps in the browser.
(() => {
  const kept = localStorage.getItem("decant.theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
