"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  const hasWebGL = (() => {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  })();

  function draw(place) {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    const { data, layout, webgl } = figures[Number(place.dataset.figure)];
    if (webgl && !hasWebGL) {
      place.classList.add("unavailable");
      place.textContent = "This figure needs WebGL, which this browser does not offer.";
      return;
    }
    // On a touch screen a finger scrolls the page rather than zooming a figure.
    if (touch) layout.dragmode = false;
    Plotly.newPlot(place, data, layout, config);
  }

  // Figures are drawn when they come near the window: a page with hundreds of them opens at once.
  const places = [...document.querySelectorAll(".plot")];
  const observer = new IntersectionObserver(
    (entries) => entries.filter((it) => it.isIntersecting).forEach((it) => draw(it.target)),
    { rootMargin: "400px" },
  );
  places.forEach((place) => observer.observe(place));
  window.addEventListener("beforeprint", () => places.forEach(draw));

  const seconds = Number(document.body.dataset.refresh || 0);
  if (!seconds) return;
  let paused = false;
  const button = document.getElementById("pause");
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "go on" : "pause";
  });
  setInterval(() => {
    if (!paused && !document.hidden) location.reload();
  }, 1000 * seconds);
})();
