"use strict";
// Shows a page again when the server says that something has changed. Nothing here makes HTML of a text: what is shown
// comes from the server, escaped, and is parsed as a document of its own.
(() => {
  const status = document.getElementById("status");

  // The token of a link is behind the #, so that no server, proxy or history has it.
  const login = document.getElementById("login");
  if (login && location.hash.length > 1) {
    document.getElementById("token").value = decodeURIComponent(location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
    login.submit();
    return;
  }

  const main = document.querySelector("main[data-live]");
  if (!main) return;
  let known = null;

  const pause = main.dataset.live.startsWith("/audit") ? 2000 : 0;
  let last = 0;
  let waiting = null;

  // A record that grows all the time is read every two seconds at most.
  const refresh = (said) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => show(said), Math.max(0, last + pause - Date.now()));
  };

  const show = async (said) => {
    last = Date.now();
    const response = await fetch(location.href, { credentials: "same-origin" });
    status.textContent = said;
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const now = document.getElementById("live");
    const next = page.getElementById("live");
    // Half an answer is not thrown away: a form is replaced only by the news that it comes too late.
    if (!next || (now.querySelector("form") && !next.querySelector("[data-closed]"))) return;
    const focused = now.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const hadFocus = now.contains(document.activeElement);
    now.replaceWith(document.importNode(next, true));
    if (focused) {
      const again = [...document.querySelectorAll("#live a")].find((link) => link.getAttribute("href") === focused);
      (again || main).focus();
    } else if (hadFocus) {
      main.focus();
    }
  };

  const events = new EventSource(main.dataset.live);
  events.addEventListener("changed", (event) => {
    const state = JSON.parse(event.data);
    // The first one repeats what the page shows, unless that has changed since.
    if (known !== null || state.version !== (main.dataset.version || "")) refresh(state.said);
    known = state.version;
  });
  events.addEventListener("ended", () => {
    events.close();
    status.textContent = "You are logged out. Log in again.";
  });
  addEventListener("pagehide", () => events.close());
})();
