"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  theme.addEventListener("click", function () {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  // A notebook shows the page as the source of a frame: there "#map" would be a place in the notebook's own page.
  if (location.protocol === "about:") {
    document.addEventListener("click", function (event) {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      const part = document.getElementById(link.getAttribute("href").slice(1));
      part.tabIndex = -1;
      part.focus({ preventScroll: true });
      part.scrollIntoView();
    });
  }
  document.querySelectorAll("details.table").forEach(function (table) { table.open = false; });
  const source = document.getElementById("threshold-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const slider = document.getElementById("threshold");
  const prices = [document.getElementById("cost-false"), document.getElementById("cost-missed")];
  const picture = document.getElementById("thresholds");
  const line = document.getElementById("threshold-line");

  function price(input) {
    const value = Number(input.value);
    return Number.isFinite(value) && value >= 0 ? value : 0;
  }
  function cost(row, end) {
    const parts = row.errors.map(function (error, place) {
      return error[end] === null ? null : price(prices[place]) * error[end];
    });
    return parts.includes(null) ? null : parts[0] + parts[1];
  }
  // To the whole unit from 100 on and to three digits below, halves upwards, as the table of the page has it.
  function told(value) {
    if (value === null) return "not told";
    let digits = 0;
    while (value > 0 && value < 100 / Math.pow(10, digits) && digits < 6) digits += 1;
    const rounded = Math.floor(value * Math.pow(10, digits) + 0.5) / Math.pow(10, digits);
    return rounded.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  function put(name, words) { document.getElementById("now-" + name).textContent = words; }
  function show() {
    const row = data.rows[Number(slider.value)];
    data.shown.forEach(function (name, place) { put(name, row.words[place]); });
    put("threshold", row.t.toFixed(3));
    const found = [0, 1, 2].map(function (end) { return cost(row, end); });
    const out = document.getElementById("now-cost");
    out.textContent = (found[0] === null ? "" : told(found[0]) + " (") + told(found[1]) + " to " + told(found[2]) +
      (found[0] === null ? "" : ")");
    out.dataset.cost = JSON.stringify(found);
    slider.setAttribute("aria-valuetext", "threshold " + row.t.toFixed(3) + ", recall " + row.words[1] +
      ", precision " + row.words[2]);
    const x0 = Number(picture.dataset.x0), x1 = Number(picture.dataset.x1);
    const left = Number(picture.dataset.left), right = Number(picture.dataset.right);
    const share = x1 > x0 ? (row.t - x0) / (x1 - x0) : 0;
    const across = (left + share * (right - left)).toFixed(1);
    line.setAttribute("d", line.getAttribute("d").replace(/^M\S+/, "M" + across));
  }
  function cheapest() {
    let best = data.chosen, least = Infinity;
    data.rows.forEach(function (row, place) {
      const found = cost(row, 0);
      if (found !== null && found < least) { least = found; best = place; }
    });
    slider.value = String(best);
    show();
  }
  slider.addEventListener("input", show);
  prices.forEach(function (input) { input.addEventListener("input", show); });
  document.getElementById("cheapest").addEventListener("click", cheapest);
  document.getElementById("in-use").addEventListener("click", function () { slider.value = String(data.chosen); show(); });
  show();
})();
