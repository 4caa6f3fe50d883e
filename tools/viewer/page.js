"use strict";
// The page of recmap view. Everything from a record becomes text by textContent, never markup.

const ROW_HEIGHT = 28, KEPT_ROWS = 5000, HEX_PAGE = 4096, THUMB = 32;
// Of the gallery, and of pictures in the table, for screens of two pixels in one.
const CARD_WIDTH = 176, CARD_HEIGHT = 184, CARD_SIDE = 320, ROW_SIDE = 64, KEPT_PICTURES = 600;

const byId = (id) => document.getElementById(id);

/** Makes an element of text and other elements. */
function element(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

/** What is shown. All but `cell`, the cell of the selected row, is in the fragment of the
 * address. */
const state = { page: "rows", first: 0, row: 0, cell: 0, number: null, filter: "", seed: null,
  epoch: "0", isGallery: false };
let info = null;
let rowCount = 0;
let rows = new Map();

// ---- Requests.

async function request(name, fields) {
  const query = new URLSearchParams(fields);
  const reply = await fetch(`api/${name}?${query}`, { cache: "no-store" });
  const answer = await reply.json();
  if (!reply.ok) throw new Error([answer.error, answer.advice].filter(Boolean).join(" — "));
  return answer;
}

function listing() {
  const fields = {};
  if (state.filter) fields.filter = state.filter;
  if (state.seed !== null) Object.assign(fields, { seed: state.seed, epoch: state.epoch });
  return fields;
}

function say(text, isError) {
  byId("status").textContent = text;
  byId("status").className = isError ? "bad" : "";
}

function sayError(error) {
  const lost = error instanceof TypeError;
  say(lost ? "recmap view does not answer: has it ended?" : error.message, true);
}

// ---- The address.

function writeAddress(isNewPage) {
  const fields = { page: state.page, row: state.row, ...listing() };
  if (state.page === "record") fields.number = state.number;
  if (state.isGallery) fields.show = "gallery";
  const address = `#${new URLSearchParams(fields)}`;
  if (address === location.hash) return;
  history[isNewPage ? "pushState" : "replaceState"](null, "", address);
}

function numberOf(text) {
  return /^[0-9]{1,15}$/.test(text ?? "") ? Number(text) : null;
}

const DIGITS_MAX = 2n ** 64n - 1n;
const DIGITS_ERROR = `seed and epoch are whole numbers up to ${DIGITS_MAX}`;

/** Seeds and epochs stay digits: a Number is exact only up to 2^53. */
function digitsOf(text) {
  return /^[0-9]{1,20}$/.test(text ?? "") && BigInt(text) <= DIGITS_MAX ? text : null;
}

/** Returns whether the seed and the epoch can be used. Otherwise the order is the stored one. */
function readOrder(seed, epoch) {
  const isValid = (seed === null || digitsOf(seed) !== null) && digitsOf(epoch) !== null;
  state.seed = isValid ? seed : null;
  state.epoch = isValid ? epoch : "0";
  return isValid;
}

/** Returns whether the order in the address can be shown. */
function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const page = fields.get("page");
  state.page = ["record", "damage"].includes(page) ? page : "rows";
  state.row = numberOf(fields.get("row")) ?? 0;
  state.number = numberOf(fields.get("number"));
  if (state.number === null && state.page === "record") state.page = "rows";
  state.filter = fields.get("filter") ?? "";
  state.isGallery = fields.get("show") === "gallery";
  return readOrder(fields.get("seed"), fields.get("epoch") ?? "0");
}

// ---- Pictures.

/** Pictures by their address. They are kept while rows come and go, so that each loads once. */
const pictures = new Map();

function pictureOf(row, side) {
  const address = `api/media?${new URLSearchParams({ number: row.number, ...row.picture, side })}`;
  if (pictures.has(address)) return pictures.get(address);
  const made = document.createElement("img");
  Object.assign(made, { loading: "lazy", className: "small", alt: "" }); // The text follows.
  made.addEventListener("error", () => {
    const note = element("span", "bad", "not shown ");
    pictures.set(address, note);
    made.replaceWith(note);
  });
  made.src = address;
  if (pictures.size >= KEPT_PICTURES) pictures.clear();
  pictures.set(address, made);
  return made;
}

// ---- The table, and the gallery, which has several records in a line.

const perLine = () =>
  state.isGallery ? Math.max(1, Math.floor(byId("lines").clientWidth / CARD_WIDTH)) : 1;
const lineHeight = () => (state.isGallery ? CARD_HEIGHT : ROW_HEIGHT);
const visibleCount = () =>
  perLine() * Math.max(1, Math.floor(byId("lines").clientHeight / lineHeight()));
const roundUp = (row) => Math.ceil(row / perLine()) * perLine();
const lastFirst = () => Math.max(0, roundUp(rowCount - visibleCount()));

const isPlain = () => !state.filter && state.seed === null;

/** With a filter or an order, rows have numbers of their own. */
function showHeads() {
  const names = info.columns.map((column) => column.name);
  const width = `${Math.max(7, String(info.records).length + 1)}ch`;
  const widths = isPlain() ? [width, "8ch"] : [width, width, "8ch"];
  for (const { name, type } of info.columns) {
    const least = type.startsWith("float") ? 12 : 8;
    widths.push(`${Math.min(16, Math.max(least, name.length + 1))}ch`);
  }
  byId("rows").style.setProperty("--columns", [...widths, "minmax(8rem, 1fr)"].join(" "));
  const heads = [element("span", "number", "record"), element("span", "number extra", "bytes")];
  for (const name of names) heads.push(element("span", "extra", name));
  if (!isPlain()) heads.unshift(element("span", "place", "row"));
  byId("heads").replaceChildren(...heads, element("span", "", "content"));
  for (const head of byId("heads").children) head.setAttribute("role", "columnheader");
}

function fillLine(line, index) {
  const row = rows.get(index);
  if (!isPlain()) line.append(element("span", "place", `${index}`));
  if (!row) {
    line.append(element("span", "number", isPlain() ? `${index}` : "…"));
    return;
  }
  line.append(element("span", "number", `${row.number}`));
  line.append(element("span", "number extra", `${row.size}`));
  for (const value of row.values) line.append(element("span", "extra", value ?? "–"));
  const content = element("span", row.error ? "bad" : "", noteOf(row));
  if (row.picture) content.prepend(pictureOf(row, ROW_SIDE));
  line.append(content);
}

function noteOf(row) {
  const note = row.error ? `cannot be read: ${row.error}` : row.preview ?? "(large)";
  return note.replaceAll(/\s+/g, " ");
}

/** A record of the gallery: a row of one cell. */
function cardOf(index) {
  const row = rows.get(index), cell = element("div", "cell");
  if (row?.picture) cell.append(pictureOf(row, CARD_SIDE));
  else if (row) cell.append(element("span", row.error ? "bad" : "note", noteOf(row)));
  const values = (row?.values ?? []).filter((value) => value !== null).join(" · ");
  const number = element("span", "number", row ? `${row.number}` : "…");
  cell.append(element("div", "caption", number, values ? ` ${values}` : ""));
  return element("div", "card", cell);
}

/** The heads are the first row of the grid, so records begin at the second one. */
function lineOf(index) {
  const isSelected = index === state.row;
  const line = state.isGallery ? cardOf(index) : element("div", "row");
  line.classList.toggle("selected", isSelected);
  line.dataset.row = index;
  if (!state.isGallery) fillLine(line, index);
  line.setAttribute("role", "row");
  line.setAttribute("aria-rowindex", index + 2);
  line.setAttribute("aria-selected", isSelected);
  for (const cell of line.children) cell.setAttribute("role", "gridcell");
  if (isSelected) line.children[Math.min(state.cell, line.children.length - 1)].id = "active";
  return line;
}

/** The grid has the focus, and tells which of its cells is the active one: rows come and go. */
function showActive() {
  const grid = byId("grid");
  grid.setAttribute("aria-rowcount", rowCount + 1);
  if (byId("active")) grid.setAttribute("aria-activedescendant", "active");
  else grid.removeAttribute("aria-activedescendant");
}

function showThumb() {
  const room = Math.max(0, byId("track").clientHeight - THUMB);
  const share = lastFirst() ? state.first / lastFirst() : 0;
  byId("thumb").style.top = `${room * share}px`;
  byId("track").setAttribute("aria-valuenow", state.first);
  byId("track").setAttribute("aria-valuemax", lastFirst());
}

function showRows() {
  const lines = [];
  const end = Math.min(rowCount, state.first + visibleCount() + perLine());
  for (let index = state.first; index < end; index++) lines.push(lineOf(index));
  byId("lines").replaceChildren(...lines);
  byId("lines").classList.toggle("gallery", state.isGallery);
  byId("heads").hidden = state.isGallery;
  byId("gallery-button").textContent = state.isGallery ? "Table" : "Gallery";
  byId("gallery-button").hidden &&= !state.isGallery && ![...rows.values()].some((row) => row.picture);
  showActive();
  showThumb();
}

let isLoading = false;

/** Loads the rows in view. While one request is under way, later ones wait: the last one counts. */
async function loadRows() {
  if (isLoading) return;
  isLoading = true;
  try {
    for (;;) {
      const first = state.first, count = Math.min(500, visibleCount() + perLine());
      let isComplete = rows.size > 0 || rowCount > 0;
      for (let i = first; isComplete && i < Math.min(rowCount, first + count); i++)
        isComplete = rows.has(i);
      if (isComplete) break;
      const kept = rows;
      const answer = await request("rows", { first, count, ...listing() });
      if (kept !== rows) continue;
      if (answer.search && !isSearching) {
        restart().catch(sayError); // The server has forgotten this filter.
        break;
      }
      if (rows.size > KEPT_ROWS) rows.clear();
      rowCount = answer.count;
      answer.rows.forEach((row, i) => rows.set(answer.first + i, row));
      scrollTo(state.first);
      if (!rowCount) break;
    }
  } finally {
    isLoading = false;
  }
}

/** Shows the rows from `first` on. */
function scrollTo(first) {
  const line = Math.floor(Math.round(first) / perLine()) * perLine();
  state.first = Math.min(Math.max(0, line), lastFirst());
  showRows();
  loadRows().catch(sayError);
}

function select(row) {
  state.row = Math.min(Math.max(0, row), Math.max(0, rowCount - 1));
  let first = state.first;
  if (state.row < first) first = state.row;
  if (state.row >= first + visibleCount()) first = roundUp(state.row - visibleCount() + 1);
  scrollTo(first);
  writeAddress(false);
}

const SEARCH_POLL_MS = 150;
let isSearching = false;

function sayProgress(search) {
  const share = Math.floor((100 * search.searched) / search.total);
  say(`searching… ${share} %, ${search.found.toLocaleString("en")} found`);
}

/** Waits until the filter has been compared with all records; shows those found so far. Returns
 * null if another filter or order was set in the meantime. */
async function countRows() {
  const kept = rows;
  for (;;) {
    const answer = await request("rows", { first: 0, count: 0, ...listing() });
    if (kept !== rows) return null;
    isSearching = Boolean(answer.search);
    if (!isSearching) return answer.count;
    sayProgress(answer.search);
    rowCount = answer.count;
    if (state.page === "rows") scrollTo(state.first);
    await new Promise((resolve) => setTimeout(resolve, SEARCH_POLL_MS));
    if (kept !== rows) return null;
  }
}

/** Starts again with another filter or order. */
async function restart() {
  rows = new Map();
  rowCount = 0;
  isSearching = true;
  byId("lines").replaceChildren();
  showHeads();
  say(state.filter ? "searching…" : "");
  // The count is not known before the last reply, so the row is limited after it.
  const count = await countRows();
  if (count === null) return;
  rowCount = count;
  const noun = rowCount === 1 ? "record" : "records";
  say(state.filter ? `${rowCount.toLocaleString("en")} ${noun} match` : "");
  const row = Math.min(state.row, Math.max(0, rowCount - 1));
  state.first = row - Math.floor(visibleCount() / 2);
  if (state.page === "rows") select(row);
  else state.row = row;
}

// ---- One record.

function spark(numbers) {
  const space = "http://www.w3.org/2000/svg";
  const values = numbers.map(Number);
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite), range = Math.max(...finite) - low || 1;
  const svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "polyline");
  const points = values.map((value, i) => `${i},${100 - ((value - low) / range) * 100}`)
    .filter((_, i) => Number.isFinite(values[i]));
  svg.setAttribute("viewBox", `0 -5 ${Math.max(1, values.length - 1)} 110`);
  svg.setAttribute("preserveAspectRatio", "none");
  line.setAttribute("points", points.join(" "));
  svg.append(line);
  return svg;
}

function hexLine(digits, offset) {
  const bytes = digits.match(/../g) ?? [];
  const letters = bytes.map((byte) => {
    const code = parseInt(byte, 16);
    return code >= 32 && code < 127 ? String.fromCharCode(code) : ".";
  });
  return `${String(offset).padStart(8)}  ${bytes.join(" ").padEnd(47)}  ${letters.join("")}`;
}

function hexLines(digits, first) {
  const lines = [];
  for (let i = 0; i < digits.length; i += 32) lines.push(hexLine(digits.slice(i, i + 32), first + i / 2));
  return element("pre", "hex", lines.join("\n"));
}

/** Why the server refuses a picture; nothing if it is the browser that cannot show it. */
async function reasonOf(address) {
  const reply = await fetch(address, { cache: "no-store" });
  return reply.ok ? "" : `: ${(await reply.json()).error}`;
}

function media(tag, address, format) {
  const shown = document.createElement(tag);
  if (tag === "audio") Object.assign(shown, { controls: true, preload: "none" });
  else shown.alt = format;
  shown.addEventListener("error", async () => {
    const reason = await reasonOf(address);
    shown.replaceWith(`${format} that cannot be decoded${reason}`);
  });
  shown.src = address;
  return shown;
}

/** Shows bytes as what they are: `address` is the address of the picture or sound. */
function showBytes(value, address) {
  const cell = element("div");
  const format = value.format ?? "";
  if (value.picture) cell.append(media("img", address, format));
  if (value.sound) cell.append(media("audio", address, format));
  if (value.array) {
    cell.append(media("img", address, format));
    cell.firstChild.className = "array";
  }
  if (value.text !== undefined) cell.append(element("pre", "", value.text));
  if (value.hex !== undefined) cell.append(hexLines(value.hex, 0));
  const size = value.width ? `, ${value.width} x ${value.height}` : "";
  const hidden = value.hidden ? `; not shown: ${value.hidden}` : "";
  const name = format ? `${format}${size}, ` : "";
  cell.append(element("div", "note", `${name}${value.size} bytes${hidden}`));
  return cell;
}

function showPart(part, number) {
  const cell = element("td");
  if (part.numbers) {
    const more = part.count > part.numbers.length ? `, … (${part.count} values)` : "";
    cell.append(element("pre", "", part.numbers.join(", ") + more));
    if (part.numbers.length >= 8) cell.append(spark(part.line ?? part.numbers));
    if (part.line) {
      const pieces = part.line.length / 2;
      cell.append(element("div", "note", `line: minimum and maximum of each of ${pieces} equal parts`));
    }
  }
  (part.bytes ?? []).forEach((value, i) => {
    const fields = new URLSearchParams({ number, part: part.part, value: i });
    cell.append(showBytes(value, `api/media?${fields}`));
  });
  if (part.bytes && part.count > part.bytes.length)
    cell.append(element("div", "note", `… (${part.count} values)`));
  if (part.kind === "list") cell.append(`${part.count} steps`);
  else if (part.type === "unset") cell.append(element("i", "", "unset"));
  else if (!part.count) cell.append(element("i", "", "no values"));
  const name = part.kind === "step" ? "· step" : part.name;
  const note = element("div", "note", part.kind === "list" ? "list" : part.type);
  return element("tr", "", element("th", "", name, note), cell);
}

function pair(name, text) {
  return element("tr", "", element("th", "", name), element("td", "", text));
}

function showPlace(record) {
  const table = element("table", "");
  table.append(pair("shard", record.shard));
  table.append(pair("in the shard", `record ${record.index}, at byte ${record.offset}`));
  table.append(pair("size", `${record.size} bytes`));
  info.columns.forEach((column, i) => table.append(pair(column.name, record.values[i] ?? "–")));
  return table;
}

/** A button that shows the record's bytes, a page at a time. */
function showRaw(record) {
  const box = element("div"), lines = element("div");
  async function load(first) {
    const answer = await request("hex", { number: record.number, first });
    lines.replaceChildren(hexLines(answer.hex, answer.first));
    const end = answer.first + answer.hex.length / 2;
    previous.hidden = first === 0;
    next.hidden = end >= answer.size;
  }
  let first = 0;
  const button = (text, step) => {
    const made = element("button", "", text);
    made.addEventListener("click", () => load((first += step)).catch(sayError));
    return made;
  };
  const show = button("Show the bytes", 0), previous = button("Previous", -HEX_PAGE);
  const next = button("Next", HEX_PAGE);
  show.id = "show-bytes";
  previous.hidden = next.hidden = true;
  show.addEventListener("click", () => (show.hidden = true));
  box.append(element("h2", "", "Bytes"), show, lines, previous, " ", next);
  return box;
}

function showRecord(record) {
  const page = byId("record");
  const back = element("button", "", state.isGallery ? "← Gallery" : "← Table");
  back.addEventListener("click", () => open("rows"));
  const older = element("button", "", "Previous"), newer = element("button", "", "Next");
  older.addEventListener("click", () => step(-1).catch(sayError));
  newer.addEventListener("click", () => step(1).catch(sayError));
  const content = [];
  if (record.error) {
    content.push(element("p", "bad", `cannot be read: ${record.error}`));
    if (record.advice) content.push(element("p", "note", record.advice));
  } else if (record.parts) {
    const table = element("table", "");
    for (const part of record.parts) table.append(showPart(part, record.number));
    content.push(element("h2", "", "Features"), table);
    if (record.part_count > record.parts.length)
      content.push(element("p", "note", `The first ${record.parts.length} of ${record.part_count}.`));
  } else if (record.bytes) {
    content.push(element("h2", "", "Content"));
    content.push(showBytes(record.bytes, `api/media?number=${record.number}`));
  }
  if (!record.error) content.push(showRaw(record));
  page.replaceChildren(element("p", "line", back, older, newer),
    element("h1", "", `Record ${record.number}`), showPlace(record), ...content);
  page.scrollTop = 0;
}

async function openRecord(number, isNewPage) {
  state.number = number;
  const record = await request("record", { number });
  if (state.number !== number) return;
  showRecord(record);
  open("record", isNewPage);
}

/** The next or previous record of the table. */
async function step(count) {
  const row = state.row + count;
  if (row < 0 || row >= rowCount) return;
  const answer = await request("rows", { first: row, count: 1, ...listing() });
  state.row = row;
  await openRecord(answer.rows[0].number, false);
}

// ---- Damage.

async function loadDamage() {
  const answer = await request("damage", {});
  const page = byId("damage"), table = element("table", "");
  const heads = ["shard", "byte", "bytes", "record", "reason"];
  const classes = ["", "whole", "whole", "whole", ""]; // Numbers do not break in two lines.
  table.append(element("tr", "", ...heads.map((head) => element("th", "whole", head))));
  for (const place of answer.places) {
    const length = place.length || "whole shard";
    const texts = [place.shard, place.offset, length, place.number ?? "–", place.reason];
    table.append(element("tr", "", ...texts.map((text, i) => element("td", classes[i], `${text}`))));
  }
  const back = element("button", "", "← Table");
  back.addEventListener("click", () => open("rows"));
  const more = answer.count > answer.places.length;
  const noun = answer.count === 1 ? "damaged place" : "damaged places";
  const total = `The index lists ${answer.count} ${noun}${more ? "; these are the first" : ""}.`;
  const note = "These bytes are left out: they are not records. 'recmap verify' looks for new damage.";
  page.replaceChildren(element("p", "", back), element("h1", "", total),
    element("p", "note", note), ...(answer.count ? [table] : []));
}

// ---- Pages.

function open(page, isNewPage = true) {
  const isOther = state.page !== page;
  state.page = page;
  for (const name of ["rows", "record", "damage"]) byId(name).hidden = name !== page;
  writeAddress(isNewPage && isOther);
  if (page === "rows") select(state.row);
  if (page !== "rows") byId(page).focus(); // So that keys scroll it.
  else if (isNewPage) byId("grid").focus({ focusVisible: false });
}

async function showAddress() {
  const isValid = readAddress();
  byId("filter-text").value = state.filter;
  byId("order-kind").value = state.seed === null ? "stored" : "shuffled";
  byId("seed").value = state.seed ?? "0";
  byId("epoch").value = state.epoch;
  showOrder();
  const page = state.page;
  await restart();
  if (page === "record") await openRecord(state.number, false);
  else if (page === "damage") await loadDamage();
  open(page, false);
  if (!isValid) throw new Error(`the order of the address is not shown: ${DIGITS_ERROR}`);
}

async function goTo(kind, text) {
  if (kind === "row") {
    const row = numberOf(text);
    if (row === null || row >= rowCount)
      throw new Error(`rows are numbered from 0 to ${rowCount - 1}`);
    state.row = row;
    return open("rows");
  }
  const answer = await request("find", { [kind]: text, ...listing() });
  const [match] = answer.matches;
  const count = answer.matches.length;
  say(count > 1 ? `${count} records have this id: this is the first` : "");
  if (match.row === null && answer.search)
    throw new Error("the search for the filter has not found this record yet");
  if (match.row === null) {
    say(`record ${match.number} is not in this table`);
    return openRecord(match.number, true);
  }
  state.row = match.row;
  return open("rows");
}

function showOrder() {
  const isShuffled = byId("order-kind").value === "shuffled";
  for (const part of document.querySelectorAll(".shuffled")) part.hidden = !isShuffled;
}

async function applyOrder() {
  const isShuffled = byId("order-kind").value === "shuffled";
  const seed = digitsOf(byId("seed").value.trim()), epoch = digitsOf(byId("epoch").value.trim());
  if (isShuffled && (seed === null || epoch === null)) throw new Error(DIGITS_ERROR);
  state.seed = isShuffled ? seed : null;
  state.epoch = isShuffled ? epoch : "0";
  state.row = 0;
  open("rows");
  await restart();
}

async function applyFilter() {
  const former = state.filter;
  state.filter = byId("filter-text").value.trim();
  state.row = 0;
  try {
    open("rows");
    await restart();
  } catch (error) {
    state.filter = former;
    await restart();
    throw error;
  }
}

// ---- Keys, wheel, touch and the scroll bar.

const keys = {
  j: () => move(1), k: () => move(-1),
  ArrowDown: () => move(perLine()), ArrowUp: () => move(-perLine()),
  PageDown: () => move(visibleCount()), PageUp: () => move(-visibleCount()),
  ArrowRight: () => moveCell(1), ArrowLeft: () => moveCell(-1),
  Home: () => move(-Infinity), End: () => move(Infinity),
  g: () => byId("find-text").select(), "/": () => byId("filter-text").select(),
  v: () => showGallery(!state.isGallery), "?": () => byId("help").showModal(),
  Enter: () => state.page === "rows" && rows.has(state.row) && openRow(state.row),
  Escape: () => open("rows"),
};

function move(count) {
  if (state.page === "rows") select(state.row + count);
  else if (state.page === "record" && Math.abs(count) === 1) step(count).catch(sayError);
}

/** Pictures in place of the table, or the table again. */
function showGallery(isGallery) {
  state.isGallery = isGallery;
  open("rows");
  select(state.row);
}

function moveCell(count) {
  if (state.isGallery) return move(count);
  const last = byId("heads").children.length - 1;
  state.cell = Math.min(Math.max(0, state.cell + count), last);
  select(state.row);
}

function openRow(row) {
  state.row = row;
  openRecord(rows.get(row).number, true).catch(sayError);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const isInput = /^(INPUT|SELECT|AUDIO)$/.test(event.target.tagName);
  if (event.target.tagName === "BUTTON" && event.key === "Enter") return;
  if (isInput && event.key === "Escape") return event.target.blur();
  if (isInput || !Object.hasOwn(keys, event.key)) return;
  const isScroll = state.page !== "rows" && /^(Page|Home|End|Arrow)/.test(event.key);
  if (isScroll) return;
  event.preventDefault();
  keys[event.key]();
}

function watchScrolling() {
  const lines = byId("lines"), track = byId("track");
  let rest = 0, touchY = 0;
  const scrollBy = (pixels) => {
    rest += pixels;
    const count = Math.trunc(rest / lineHeight());
    rest -= count * lineHeight();
    if (count) scrollTo(state.first + count * perLine());
  };
  lines.addEventListener("wheel", (event) => {
    event.preventDefault();
    scrollBy(event.deltaMode === 1 ? event.deltaY * ROW_HEIGHT : event.deltaY);
  }, { passive: false });
  lines.addEventListener("touchstart", (event) => (touchY = event.touches[0].clientY));
  lines.addEventListener("touchmove", (event) => {
    scrollBy(touchY - event.touches[0].clientY);
    touchY = event.touches[0].clientY;
  });
  const drag = (event) => {
    if (!event.buttons) return;
    const box = track.getBoundingClientRect();
    const share = (event.clientY - box.top - THUMB / 2) / Math.max(1, box.height - THUMB);
    scrollTo(Math.min(1, Math.max(0, share)) * lastFirst());
  };
  track.addEventListener("pointerdown", (event) => {
    track.setPointerCapture(event.pointerId);
    drag(event);
  });
  track.addEventListener("pointermove", drag);
}

/** Runs what a form asks for. After an error, the text stays where it can be corrected. */
async function submit(form, action) {
  const { activeElement } = document;
  const field = activeElement.tagName === "INPUT" ? activeElement : form.querySelector("input");
  activeElement.blur();
  try {
    await action();
    field.removeAttribute("aria-invalid");
  } catch (error) {
    sayError(error);
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

function watch() {
  const watchForm = (id, action) => byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, action);
  });
  watchForm("find", async () => goTo(byId("find-kind").value, byId("find-text").value.trim()));
  watchForm("filter", applyFilter);
  watchForm("order", applyOrder);
  byId("order-kind").addEventListener("change", () => {
    byId("order-kind").blur();
    showOrder();
    applyOrder().catch(sayError);
  });
  byId("damage-button").addEventListener("click", () => {
    loadDamage().then(() => open("damage")).catch(sayError);
  });
  byId("gallery-button").addEventListener("click", () => showGallery(!state.isGallery));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("lines").addEventListener("click", (event) => {
    const line = event.target.closest("[data-row]");
    if (line && rows.has(Number(line.dataset.row))) openRow(Number(line.dataset.row));
  });
  document.addEventListener("keydown", onKey);
  addEventListener("resize", () => scrollTo(state.first));
  addEventListener("popstate", () => showAddress().catch(sayError));
  watchScrolling();
}

function showInfo() {
  const format = (number) => number.toLocaleString("en");
  const noun = (count, word) => `${format(count)} ${word}${count === 1 ? "" : "s"}`;
  document.title = `${info.path} - recmap view`;
  byId("title").textContent = info.path;
  const part = info.count !== info.records ? ` of ${format(info.records)}` : "";
  const totals = [`${format(info.count)}${part} records`, noun(info.shards, "shard"),
    `${format(info.bytes)} bytes`];
  if (info.damage) totals.push(noun(info.damage, "damaged place"));
  byId("totals").textContent = totals.join(", ");
  byId("damage-button").hidden = !info.damage;
  const id = document.querySelector("#find-kind option[value=id]");
  id.disabled = info.ids === null;
}

async function start() {
  info = await request("info", {});
  showInfo();
  watch();
  await showAddress();
}

start().catch(sayError);
