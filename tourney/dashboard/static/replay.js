// Steps through a match without reloading the page. Every step is an ordinary link, so that the
// page does the same without this file; no rule of a game is known here.

const KEYS = {
  ArrowLeft: "prev",
  ArrowRight: "next",
  PageUp: "go-back",
  PageDown: "go-on",
  Home: "first",
  End: "last",
};

let wanted = 0;

/** Replace the replay by the one at `address`. */
async function show(address, { remember }) {
  const turn = ++wanted;
  const focused = document.activeElement?.id;
  const answer = await fetch(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const replay = page.getElementById("replay");
  if (!answer.ok || !replay) {
    location.assign(address);
    return;
  }
  // A faster key has asked for another step since.
  if (turn !== wanted) return;
  const open = [...document.querySelectorAll("#replay details")].map((part) => part.open);
  document.getElementById("replay").replaceWith(replay);
  replay.querySelectorAll("details").forEach((part, place) => (part.open = open[place] ?? false));
  document.title = page.title;
  if (remember) history.pushState(null, "", address);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest("#replay .steps a, #replay .views a, #replay .timeline a");
  if (!link) return;
  event.preventDefault();
  show(link.getAttribute("href").split("#")[0], { remember: true });
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, pre, [contenteditable]")) return;
  const link = document.querySelector(`#replay a[data-go="${KEYS[event.key]}"]`);
  if (!KEYS[event.key] || !link) return;
  event.preventDefault();
  show(link.getAttribute("href").split("#")[0], { remember: true });
});

addEventListener("popstate", () => show(location.href, { remember: false }));
