// Elements and sortable tables: whatever is in the data becomes text, never markup.

const SHOWN = 300, STEP = 1000; // rows shown at first, rows added by each click

function add_to(e, attributes, children) {
	for (const key in attributes || {}) {
		const value = attributes[key];
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on"))
			e.addEventListener(key.slice(2), value);
		else
			e.setAttribute(key, value === true ? "" : value);
	}
	for (const c of children.flat(9))
		if (c !== null && c !== undefined && c !== false)
			e.append(c);
	return e;
}

function el(tag, attributes, ...children) { return add_to(document.createElement(tag), attributes, children); }

function svg(tag, attributes, ...children) {
	return add_to(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function say(text) { document.getElementById("said").textContent = text; }

function select_of(label, options, chosen, choose) {
	const e = el("select", { onchange: () => choose(e.value) },
		options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
	return el("label", {}, label + " ", e);
}

function checkbox_of(label, chosen, choose, attributes) {
	const e = el("input", { type: "checkbox", onchange: () => choose(e.checked) });
	e.checked = chosen;
	return el("label", attributes, e, " " + label);
}

// The view's field for a text or /expression/ in names of functions, which is kept in the address.
function search_field(what, changes, enter) {
	const e = el("input", { type: "search", placeholder: `${what} with … or /expression/`, "aria-label": `${what} with a text or /regular expression/`, "aria-keyshortcuts": "/",
		value: state.keys.q || null, oninput: () => { put_address({ q: e.value }); changes(e.value); }, onkeydown: k => { if (k.key === "Enter") enter(e.value); } });
	return e;
}

// Wide content scrolls by itself, also with keys.
function region(label, ...children) { return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, children); }

function head(title, kind) { return el("th", { scope: "col", class: kind || null }, title); }

function table_of(caption, kind, heads, rows) {
	return el("table", { class: kind }, el("caption", { class: "unseen" }, caption), heads ? el("thead", {}, el("tr", {}, heads)) : null, el("tbody", {}, rows));
}

function button(text, onclick, attributes) { return el("button", { type: "button", onclick, ...attributes }, text); }

function share_cell(share, lossy) { // null: not known
	if (share === null)
		return el("td", { class: "n share" });
	const bar = el("span");
	bar.style.width = Math.max(0, Math.min(100, 100 * share)) + "%";
	return el("td", { class: "n share" }, bar, el("b", {}, (lossy ? "≥ " : "") + percent(share)));
}

// State of a table: the column it is sorted by, and how many rows are shown. Whoever keeps the
// state finds the table unchanged later.
function sorting() { return { by: 0, down: true, shown: SHOWN }; }

function compare(columns, how, a, b) {
	const x = columns[how.by].key(a), y = columns[how.by].key(b);
	if (x === y)
		return 0;
	if (x === null || x === undefined || x === "")
		return 1;
	if (y === null || y === undefined || y === "")
		return -1;
	return (x < y ? -1 : 1) * (how.down ? -1 : 1);
}

function kind_of(column) {
	return [column.number ? "n" : "", column.minor ? "minor" : ""].join(" ").trim() || null;
}

function sortable(columns, rows, how, caption) {
	let sorted = [];
	const body = el("tbody"), more = button("", () => { how.shown += STEP; append(); }, { class: "more" });
	const heads = columns.map((c, i) => el("th", { scope: "col", class: kind_of(c) },
		button(c.title, () => {
			how.down = how.by === i ? !how.down : !!c.number;
			how.by = i;
			fill();
		}, { title: c.help || null })));
	function append() {
		for (const r of sorted.slice(body.childElementCount, how.shown))
			body.append(el("tr", {}, columns.map(c => c.cell(r))));
		more.hidden = sorted.length <= how.shown;
		more.textContent = `${count(Math.min(STEP, sorted.length - how.shown))} of ${count(sorted.length - how.shown)} more`;
	}
	function fill() {
		heads.forEach((h, i) => {
			const title = columns[i].title;
			h.firstChild.textContent = i === how.by ? title + (how.down ? " ▾" : " ▴") : title;
			if (i === how.by)
				h.setAttribute("aria-sort", how.down ? "descending" : "ascending");
			else
				h.removeAttribute("aria-sort");
		});
		sorted = rows.slice().sort((a, b) => compare(columns, how, a, b));
		body.replaceChildren();
		append();
		if (!sorted.length)
			body.append(el("tr", {}, el("td", { class: "soft", colspan: columns.length }, "None.")));
	}
	fill();
	return {
		element: region(caption, el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, heads)), body), more),
		choose(list) { rows = list; how.shown = SHOWN; fill(); },
	};
}

function number_column(title, key, show, help) {
	return { title, key, number: true, help, cell: r => el("td", { class: "n" }, show(key(r))) };
}

// A column that is hidden if there is little room, because the name must be visible.
function minor(column) {
	const cell = column.cell;
	return Object.assign(column, { minor: true, cell: r => {
		const td = cell(r);
		td.classList.add("minor");
		return td;
	} });
}

function share_column(title, key, help) {
	return { title, key, number: true, help, cell: r => share_cell(key(r), r.lossy) };
}
