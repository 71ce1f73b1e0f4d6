// Before the first paint, so that a dark page never flashes white. A file, because no page may run inline scripts.
(function () {
  var chosen = localStorage.getItem("resolute.theme");
  var dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
