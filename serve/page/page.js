"use strict";

// What the service said is put on the page as text, never as HTML.
const at = (id) => document.getElementById(id);
const LONGEST = 240; // characters of an item in a table
let asked = null; // the request whose pages are shown
let next = 2;

const EXAMPLE_QUERY = "stale rows after a reload";

function example() {
  const lines = [];
  for (let n = 1; n <= 24; n += 1) lines.push(`docs/history.md:${n * 3}:- reload the rows of table ${n}`);
  for (let n = 1; n <= 16; n += 1) lines.push(`tests/test_views_${n}.py:${n + 10}:    rows = view.reload()`);
  lines.push("app/cache.py:12:def invalidate_rows(table):", "app/cache.py:31:    stale = [row for row in rows if row.old]");
  for (let n = 1; n <= 12; n += 1) lines.push(`app/reports/part_${n}.py:${n * 7}:    return rows[${n}]`);
  lines.push("app/reload.py:40:    cache.invalidate_rows(table)");
  return lines.join("\n") + "\n";
}

function say(message, wrong) {
  at("message").textContent = message;
  at("message").classList.toggle("wrong", Boolean(wrong));
}

async function select(request) {
  const headers = { "Content-Type": "application/json" };
  if (at("key").value) headers.Authorization = `Bearer ${at("key").value}`;
  let answer;
  try {
    answer = await fetch("select", { method: "POST", headers, body: JSON.stringify(request) });
  } catch {
    throw new Error("the service cannot be reached; is it still running?");
  }
  if (answer.status === 401) at("key-part").hidden = false;
  const body = await answer.json().catch(() => ({ error: `the service answered with status ${answer.status}` }));
  if (!answer.ok) throw new Error(body.error);
  return body;
}

function cell(row, text, kind) {
  const made = row.insertCell();
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function head(table) {
  table.replaceChildren();
  const row = table.createTHead().insertRow();
  for (const [title, kind] of [["Value", "number"], ["Tokens", "number"], ["Item", ""]]) {
    const made = document.createElement("th");
    made.scope = "col";
    made.textContent = title;
    made.className = kind;
    row.append(made);
  }
  table.createTBody();
}

function add(table, items, note) {
  for (const item of items) {
    const row = table.tBodies[0].insertRow();
    cell(row, item.value.toPrecision(3), "number");
    cell(row, String(item.cost), "number");
    const text = item.text ?? `${item.path ?? `item ${item.id}`} (${note})`;
    cell(row, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, "text");
  }
}

function show(page) {
  at("results").hidden = false;
  at("before").textContent = asked.answer.slice(0, 4 * asked.budget);
  at("after").textContent = page.text;
  at("summary").textContent =
    `${page.items.length} of ${page.items.length + page.left + page.oversized.length} items in ${page.tokens} tokens, ` +
    `form ${page.form}, valued by ${page.value_function}.`;
  head(at("shown"));
  add(at("shown"), page.items);
  head(at("left-out"));
  add(at("left-out"), page.oversized, "above the budget, had by its id");
  at("left").textContent = page.left
    ? `${page.left} items are on ${page.pages - 1} further page${page.pages > 2 ? "s" : ""}.`
    : page.oversized.length ? "Only what no page can hold." : "Nothing: all items are on the page.";
  next = 2;
  at("more").hidden = page.pages < next;
  at("results-heading").focus();
}

async function busy(button, work) {
  button.disabled = true;
  say("Working …");
  try {
    await work();
    say("");
  } catch (error) {
    say(error.message, true);
  } finally {
    button.disabled = false;
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  busy(event.submitter ?? at("form").querySelector("button"), async () => {
    const request = { answer: at("answer").value, query: at("query").value, budget: Number(at("budget").value) };
    request.form = at("answer-form").value;
    request.value_function = at("value-function").value.trim();
    const page = await select(request);
    asked = request;
    show(page);
  });
});

at("more").addEventListener("click", () => {
  busy(at("more"), async () => {
    const page = await select({ ...asked, page: next });
    add(at("left-out"), page.items);
    next += 1;
    at("more").hidden = page.pages < next;
  });
});

at("query").value = EXAMPLE_QUERY;
at("answer").value = example();
