"use strict";
// Tries the rules while they are typed: the form is sent as its button does, and the parts of the page that comes back
// are put in place. Nothing here makes HTML of a text.
(() => {
  const form = document.getElementById("try");
  if (!form) return;
  const status = document.getElementById("status");
  const rules = document.getElementById("rules");
  const PARTS = ["problems", "verdict", "why", "change"];
  const PAUSE = 250;
  let waiting = null;
  let running = null;

  const send = async (quick, signal) => {
    const body = new URLSearchParams(new FormData(form));
    if (quick) body.set("quick", "1");
    const response = await fetch(form.action, { method: "POST", body, credentials: "same-origin", signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!response.ok) {
      status.textContent = page.querySelector(".problem")?.textContent || "This cannot be tried.";
      return false;
    }
    status.textContent = "";
    for (const part of PARTS) {
      const now = document.getElementById(part);
      const next = page.getElementById(part);
      // What is the same is not read out again.
      if (next && now.innerHTML !== next.innerHTML) now.replaceChildren(...document.importNode(next, true).childNodes);
    }
    return true;
  };

  const run = async () => {
    clearTimeout(waiting);
    if (running) running.abort();
    const own = (running = new AbortController());
    form.setAttribute("aria-busy", "true");
    try {
      // The verdict first: what a change permits takes longer.
      if (await send(true, own.signal)) await send(false, own.signal);
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = "The page does not answer. Is `permitry inbox --try` running?";
    } finally {
      if (running === own) form.removeAttribute("aria-busy");
    }
  };

  form.addEventListener("input", () => {
    // What is on its way is about an older text.
    if (running) running.abort();
    clearTimeout(waiting);
    waiting = setTimeout(run, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });

  // A link to a line selects what is meant in it.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-line]");
    if (!link) return;
    event.preventDefault();
    const line = Number(link.dataset.line) - 1;
    const lines = rules.value.split("\n");
    const from = lines.slice(0, line).join("\n").length + (line > 0 ? 1 : 0) + Number(link.dataset.column) - 1;
    rules.focus();
    rules.setSelectionRange(from, from + Number(link.dataset.span));
    rules.scrollTop = Math.max(0, line - 3) * parseFloat(getComputedStyle(rules).lineHeight);
  });
})();
