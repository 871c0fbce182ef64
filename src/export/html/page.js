(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const SHOWN = 300, STEP = 1000; // rows at first, and with each click

/* ---- elements: whatever is in the data becomes text, never markup ---- */

function el(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const key in attributes || {}) {
		const value = attributes[key];
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on"))
			e.addEventListener(key.slice(2), value);
		else
			e.setAttribute(key, value === true ? "" : value);
	}
	for (const c of children.flat())
		if (c !== null && c !== undefined)
			e.append(c);
	return e;
}

function say(text) { document.getElementById("said").textContent = text; }

/* ---- numbers ---- */

function percent(share) { return (100 * share).toFixed(2) + " %"; }

function seconds(s) {
	if (s === null || s === undefined)
		return "";
	const size = Math.abs(s);
	if (size === 0)
		return "0";
	if (size >= 100)
		return s.toFixed(1) + " s";
	if (size >= 1)
		return s.toFixed(3) + " s";
	if (size >= 1e-3)
		return (s * 1e3).toPrecision(3) + " ms";
	return size >= 1e-6 ? (s * 1e6).toPrecision(3) + " µs" : (s * 1e9).toPrecision(3) + " ns";
}

function count(n) {
	return typeof n === "number" ? n.toLocaleString("en") : n === null || n === undefined ? "" : String(n);
}

/* ---- the tables ---- */

function objects(table) {
	if (!table)
		return [];
	return table.rows.map(cells => {
		const row = {};
		table.columns.forEach((key, i) => { row[key] = cells[i]; });
		return row;
	});
}

const functions = objects(data.functions);
const blocks = new Map(); // index of a function or cycle -> its rows in the call graph
const block_of_cycle = new Map();
let block = null;
for (const row of objects(data.graph)) {
	if (!block || block.group !== row.group)
		block = { group: row.group, rows: [], row: null };
	block.rows.push(row);
	if (row.kind === "function" || row.kind === "cycle") {
		block.row = row;
		blocks.set(row.index, block);
		if (row.kind === "cycle")
			block_of_cycle.set(row.cycle, row.index);
	}
}
// Functions without time of their own are in the graph alone.
const listed = new Set(functions.map(f => f.index));
for (const [index, { row }] of blocks)
	if (row.kind === "function" && !listed.has(index))
		functions.push(Object.assign({}, row, { calls: row.called }));
const facts = data.functions ? data.functions.properties : {};
const total = facts.total > 0 ? facts.total : 0;
const has_calls = functions.some(f => f.calls !== null && f.calls !== undefined);
const with_objects = functions.some(f => f.object && f.object !== functions[0].object);
for (const f of functions) {
	f.total = (f.self || 0) + (f.children || 0);
	f.share = total ? f.self / total : 0;
	f.total_share = total ? f.total / total : 0;
}

const index_of = new Map();
for (const f of functions)
	if (blocks.has(f.index))
		index_of.set(f.name.replace(/ <cycle \d+>$/, ""), f.index);

function share_cell(share) {
	const bar = el("span");
	bar.style.width = Math.max(0, Math.min(100, 100 * share)) + "%";
	return el("td", { class: "n share" }, bar, el("b", {}, percent(share)));
}

function cycle_mark(cycle) {
	if (cycle === null || cycle === undefined)
		return null;
	const index = block_of_cycle.get(cycle);
	return index === undefined ? el("span", { class: "cycle" }, ` ↻ cycle ${cycle}`)
		: el("a", { class: "cycle", href: "#function/" + index, title: "the cycle as a whole" },
			` ↻ cycle ${cycle}`);
}

function name_of(row) {
	return row.name.replace(/ <cycle \d+>$/, "");
}

// Names of templates fill pages: but where it is all about the function, two lines of one must do.
function name_cell(row, here) {
	const text = name_of(row);
	const linked = row.index !== null && row.index !== undefined && blocks.has(row.index) && !here;
	const shown = linked ? el("a", { href: "#function/" + row.index }, text) : text;
	return el("td", { class: "name" }, text.length < 80 || here ? shown : el("div", { class: "clip", title: text }, shown),
		row.kind === "cycle" ? null : cycle_mark(row.cycle));
}

function object_cell(row) {
	return el("td", { class: "object", title: row.object || null }, row.object || "");
}

/* ---- a table that is sorted by its heads ---- */

// `how` is by what it is sorted and how many rows are shown; whoever keeps it finds the table again as it was.
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

function sortable(columns, rows, how) {
	let sorted = [];
	const body = el("tbody"), more = el("button", { class: "more", onclick: () => { how.shown += STEP; append(); } });
	const heads = columns.map((c, i) => el("th", { scope: "col", class: kind_of(c) },
		el("button", { type: "button", title: c.help || null, onclick: () => {
			how.down = how.by === i ? !how.down : !!c.number;
			how.by = i;
			fill();
		} }, c.title)));
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
		element: el("div", { class: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body), more),
		choose(list) { rows = list; how.shown = SHOWN; fill(); },
	};
}

function kind_of(column) {
	return [column.number ? "n" : "", column.minor ? "minor" : ""].join(" ").trim() || null;
}

function number_column(title, key, show, help) {
	return { title, key, number: true, help, cell: r => el("td", { class: "n" }, show(key(r))) };
}

// Not shown where there is little room: the name must be seen.
function minor(column) {
	const cell = column.cell;
	return Object.assign(column, { minor: true, cell: r => {
		const td = cell(r);
		td.classList.add("minor");
		return td;
	} });
}

function share_column(title, key, help) {
	return { title, key, number: true, help, cell: r => share_cell(key(r)) };
}

/* ---- views ---- */

// What is said of one cycle stands where that is looked at.
const about_cycle = (note, cycle) => [undefined, String(cycle)].includes((/^(?:cycle|and) (\d+)[ :]/.exec(note) || [])[1]);

function notes(cycle) {
	let list = [].concat(data.functions ? data.functions.notes : [], data.graph ? data.graph.notes : []);
	list = list.filter(n => about_cycle(n, cycle));
	const estimated = facts.estimated || (data.graph && data.graph.properties.estimated);
	if (estimated && !list.some(n => n.includes("estimated")))
		list.push("Times with callees are estimated: they were apportioned by call counts, as gprof does it.");
	return [...new Set(list)].map(n => el("p", { class: "note" }, n));
}

function warnings() { return data.warnings.map(w => el("p", { class: "warn" }, w)); }

function function_columns() {
	const columns = [
		share_column("Self", f => f.share, "own time, as a share of the total"),
		share_column("Total", f => f.total_share, "time with all it called, as a share of the total"),
		minor(number_column("Self time", f => f.self, seconds)),
		minor(number_column("Total time", f => f.total, seconds)),
	];
	if (has_calls)
		columns.push(minor(number_column("Calls", f => f.calls, count)));
	columns.push({ title: "Function", key: name_of, cell: f => name_cell(f) });
	if (with_objects)
		columns.push(minor({ title: "Object", key: f => f.object || "", cell: object_cell }));
	return columns;
}

function view_summary() {
	const info = objects(data.info), figures = [];
	const fact = (about, name) => (info.find(r => r.about === about && r.fact === name) || {}).value;
	figures.push(el("div", {}, el("b", {}, total ? seconds(total) : "0"), "in all"));
	const samples = info.filter(r => r.about === "samples" && r.fact !== "distinct stacks");
	for (const s of samples)
		figures.push(el("div", {}, el("b", {}, count(s.value)), "samples of " + s.fact));
	figures.push(el("div", {}, el("b", {}, count(functions.length)), "functions"));
	const lost = fact("audit", "lost");
	if (lost)
		figures.push(el("div", {}, el("b", {}, count(lost)), "samples lost"));
	const audit = info.filter(r => r.about === "audit" || r.about === "check");
	const rest = info.filter(r => r.about !== "audit" && r.about !== "check");
	const table = rows => el("div", { class: "wide" }, el("table", {}, el("tbody", {}, rows.map(r => el("tr", {},
		el("td", { class: "soft" }, r.about), el("td", {}, r.fact), el("td", { class: "name" }, count(r.value)),
		el("td", { class: "soft" }, r.detail || ""))))));
	const top = functions.slice().sort((a, b) => b.share - a.share).filter(f => f.share > 0).slice(0, 12);
	return [
		el("div", { class: "big" }, figures), warnings(), notes(),
		el("h2", {}, "Where the time was spent"), sortable(function_columns(), top, sorting()).element,
		audit.length ? [el("h2", {}, "How far to trust this"), table(audit)] : null,
		el("h2", {}, "What the data holds"), table(rest),
	];
}

const listing = { how: sorting(), text: "" }; // as it was left

function view_functions() {
	const chosen = () => functions.filter(f => f.name.toLowerCase().includes(listing.text) ||
		(f.object || "").toLowerCase().includes(listing.text));
	const table = sortable(function_columns(), chosen(), listing.how);
	const search = el("input", { type: "search", placeholder: "Only functions with …", "aria-label": "Only functions with",
		"aria-keyshortcuts": "/", value: listing.text, oninput: () => {
			listing.text = search.value.toLowerCase();
			const list = chosen();
			table.choose(list);
			say(`${list.length} functions`);
		} });
	return [el("div", { class: "tools" }, search), notes(), table.element];
}

function graph_rows(rows, here) {
	return rows.map(r => {
		const time = r.self === null && r.children === null ? null : (r.self || 0) + (r.children || 0);
		return el("tr", { class: here ? "self" : null },
			time === null ? el("td", { class: "n soft" }, "recursion") : share_cell(total ? time / total : 0),
			el("td", { class: "n minor" }, seconds(r.self)), el("td", { class: "n minor" }, seconds(r.children)),
			has_calls ? el("td", { class: "n minor" }, count(r.called)) : null,
			name_cell(r, here));
	});
}

function graph_table(title, rows, here) {
	const by_time = (a, b) => ((b.self || 0) + (b.children || 0)) - ((a.self || 0) + (a.children || 0));
	const sorted = here ? rows : rows.slice().sort(by_time);
	if (!rows.length)
		return null;
	const heads = ["Total", "Self", "In callees", ...has_calls ? ["Calls"] : []].map((t, i) => el("th", { scope: "col", class: i ? "n minor" : "n" }, t));
	return [el("h2", {}, title), el("div", { class: "wide" }, el("table", {},
		el("thead", {}, el("tr", {}, heads, el("th", { scope: "col" }, "Function"))),
		el("tbody", {}, graph_rows(sorted, here))))];
}

function view_function(argument) {
	const found = blocks.get(Number(argument));
	if (!found)
		return [el("p", {}, "There is no such function.")];
	const of = kind => found.rows.filter(r => r.kind === kind), name = name_of(found.row);
	const is_cycle = found.row.kind === "cycle";
	document.title = `${name} – ${data.title}`;
	return [
		notes(found.row.cycle),
		graph_table("Called by", of("caller")),
		graph_table(is_cycle ? "The cycle" : "Function", [found.row], true),
		graph_table("Members", of("member")),
		graph_table("Calls", of("callee")),
		data.flames.length && !is_cycle ? el("p", {}, el("a", { href: "#flame/" + encodeURIComponent(name) }, "In the flame graph")) : null,
	];
}

/* ---- flame graph: roots on top; the keys do all that the mouse does ---- */

const ROW = 19;
let shown_flame = null; // as it was left: event, argument, zoom, at, text
let leaving = new AbortController(); // takes away what listens outside of the view

function color(name, dark, dim) {
	let h = 0;
	for (let i = 0; i < name.length; i++)
		h = (h * 31 + name.charCodeAt(i)) >>> 0;
	const kind = name.slice(-4), hue = kind === "_[k]" ? 200 : kind === "_[i]" ? 160 : kind === "_[j]" ? 100 : 18;
	const light = dark ? 20 + h % 8 : 70 + h % 12; // both are read well on
	return `hsl(${hue + (h >>> 8) % 28} ${dim ? 8 : 55 + (h >>> 16) % 25}% ${light}%)`;
}

function amount(f, v) {
	return f.unit === "ns" ? seconds(v / 1e9) : count(v);
}

let flame_event = 0; // which of data.flames

// What colours mean, of kinds that there are.
function legend(f) {
	const kinds = [["_[k]", "blue: kernel"], ["_[i]", "turquoise: inlined"], ["_[j]", "green: made at run time"]];
	const text = kinds.filter(([mark]) => f.names.some(n => n.endsWith(mark))).map(k => k[1]).join(", ");
	return text ? ` Frames are ${text}.` : "";
}

// Only where there are several.
function event_choice() {
	if (data.flames.length < 2)
		return null;
	const choice = el("select", { "aria-label": "Event", onchange: () => { flame_event = choice.selectedIndex; show(); } },
		data.flames.map((f, i) => el("option", { selected: i === flame_event }, f.event)));
	return choice;
}

function view_flame(argument) {
	const f = data.flames[flame_event], tree = make_tree(f);
	if (!shown_flame || shown_flame.event !== flame_event || shown_flame.argument !== argument)
		shown_flame = { event: flame_event, argument, zoom: 0, at: 0, text: decodeURIComponent(argument) };
	const kept = shown_flame, whole = (tree.deepest + 1) * ROW;
	let pattern = null, top = 0; // how far the graph is scrolled: the canvas is no larger than the window
	const canvas = el("canvas", { tabindex: "0", role: "application",
		"aria-label": "Flame graph: arrow keys go from frame to frame, Enter zooms, Escape zooms out" });
	const about = el("p", { id: "frame", class: "name" }), matched = el("span", { class: "soft" });
	const stuck = el("div", { class: "stuck" }, about, canvas), box = el("div", { class: "flame" }, stuck);
	box.style.height = whole + "px"; // before it is drawn, so that the page can be scrolled as it was
	const search = el("input", { type: "search", placeholder: "Mark frames with …", "aria-label": "Mark frames with",
		"aria-keyshortcuts": "/", value: kept.text, oninput: () => mark(search.value) });
	const reset = el("button", { type: "button", onclick: () => go(0) }, "Whole graph");

	const share = i => tree.total[i] / tree.total[0];
	const from = () => tree.first[kept.zoom], to = () => tree.end[kept.zoom];
	const scale = () => canvas.clientWidth / (to() - from());
	const left = i => (Math.max(tree.first[i], from()) - from()) * scale();
	const width = i => (Math.min(tree.end[i], to()) - Math.max(tree.first[i], from())) * scale();
	let letter = 7; // width of one
	const is_marked = i => pattern && i && !tree.stands_in(i) && plain(tree.name(i)).toLowerCase().includes(pattern);

	function is_above(a, b) { // a is b, or a caller of it
		for (; tree.depth[b] > tree.depth[a]; b = tree.parent[b]);
		return a === b;
	}

	function draw_one(c, i, dark) {
		const x = left(i), w = width(i), y = tree.depth[i] * ROW - top, name = tree.name(i);
		c.fillStyle = is_marked(i) ? (dark ? "#9a35c4" : "#d38bff") : i && !tree.stands_in(i) ? color(name, dark, i !== kept.zoom && is_above(i, kept.zoom)) :
			(dark ? "#3a4048" : "#d9dee4");
		c.fillRect(x, y, Math.max(w - .6, .4), ROW - 1);
		if (i === kept.at) {
			c.strokeStyle = dark ? "#fff" : "#000";
			c.lineWidth = 2;
			c.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
		}
		if (w < 26)
			return;
		c.fillStyle = dark ? "#f2f4f6" : "#14171a";
		let text = plain(name);
		const room = Math.floor((w - 8) / letter);
		if (text.length > room)
			text = room > 3 ? text.slice(0, room - 1) + "…" : "";
		c.fillText(text, x + 4, y + ROW - 6);
	}

	// The box is as high as the graph, the canvas stays in sight: browsers draw nothing on one that is too large.
	function fit(ratio) {
		const above = about.offsetHeight;
		const height = Math.min(whole, Math.max(innerHeight - above, 5 * ROW));
		box.style.height = whole + above + "px";
		canvas.style.height = height + "px";
		canvas.width = canvas.clientWidth * ratio;
		canvas.height = height * ratio;
		top = Math.min(Math.max(0, -box.getBoundingClientRect().top), whole - height);
		return height;
	}

	function draw() {
		const dark = matchMedia("(prefers-color-scheme: dark)").matches, ratio = devicePixelRatio || 1;
		const height = fit(ratio), c = canvas.getContext("2d");
		c.scale(ratio, ratio);
		c.font = "12px ui-monospace, monospace";
		letter = c.measureText("m").width;
		const todo = [0];
		while (todo.length) {
			const i = todo.pop(), y = tree.depth[i] * ROW - top;
			if (tree.end[i] <= from() || tree.first[i] >= to() || width(i) < .3 || y > height)
				continue;
			if (y > -ROW)
				draw_one(c, i, dark);
			for (const k of tree.children[i])
				todo.push(k);
		}
	}

	let is_asked = false;
	function draw_soon() {
		if (!is_asked)
			requestAnimationFrame(() => { is_asked = false; if (canvas.isConnected) draw(); });
		is_asked = true;
	}

	function bring_in_sight(i) {
		const y = tree.depth[i] * ROW, start = scrollY + box.getBoundingClientRect().top;
		if (y < top)
			scrollTo(scrollX, start + y);
		else if (y + ROW > top + canvas.clientHeight)
			scrollTo(scrollX, start + y + ROW - canvas.clientHeight);
	}

	function describe(i) {
		const text = `${plain(tree.name(i))} – ${amount(f, tree.total[i])}, ${percent(share(i))} of all` +
			(i ? `, ${percent(tree.total[i] / tree.total[tree.parent[i]])} of its caller` : "");
		about.replaceChildren(text, " ");
		const known = tree.stands_in(i) ? undefined : index_of.get(plain(tree.name(i)));
		if (known !== undefined)
			about.append(el("a", { href: "#function/" + known }, "callers and callees"));
		return text;
	}

	function select(i) {
		kept.at = i;
		describe(i);
		say(about.firstChild.textContent);
		bring_in_sight(i);
		draw();
	}
	function go(i) { kept.zoom = i; select(i); }

	function mark(text) {
		kept.text = text;
		pattern = text.toLowerCase() || null;
		const found = pattern ? search_share(f, tree, pattern) : null;
		matched.textContent = found ? `${found.low < found.high ? "at least " : ""}${percent(found.low / tree.total[0])} have it` : "";
		say(matched.textContent);
		draw();
	}

	function frame_at(e) {
		const box = canvas.getBoundingClientRect(), row = Math.floor((e.clientY - box.top + top) / ROW);
		const x = from() + (e.clientX - box.left) / scale();
		let i = 0;
		while (tree.depth[i] < row) {
			const next = tree.children[i].find(c => tree.first[c] <= x && x < tree.end[c]);
			if (next === undefined)
				return null;
			i = next;
		}
		return i;
	}

	const biggest = list => list.reduce((a, b) => tree.total[b] > tree.total[a] ? b : a);
	const siblings = i => i ? tree.children[tree.parent[i]] : [0];
	const keys = {
		ArrowDown: () => tree.children[kept.at].length && select(biggest(tree.children[kept.at])),
		ArrowUp: () => select(tree.parent[kept.at]),
		ArrowLeft: () => { const s = siblings(kept.at), k = s.indexOf(kept.at); if (k > 0) select(s[k - 1]); },
		ArrowRight: () => { const s = siblings(kept.at), k = s.indexOf(kept.at); if (k + 1 < s.length) select(s[k + 1]); },
		Enter: () => go(kept.at), " ": () => go(kept.at), Home: () => select(kept.zoom),
		Escape: () => go(kept.zoom ? tree.parent[kept.zoom] : 0),
	};
	canvas.addEventListener("keydown", e => {
		if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			keys[e.key]();
		}
	});
	search.addEventListener("keydown", e => { if (e.key === "Enter") canvas.focus(); });
	canvas.addEventListener("click", e => { const i = frame_at(e); if (i !== null) go(i); });
	canvas.addEventListener("mousemove", e => { const i = frame_at(e); if (i !== null) describe(i); });
	canvas.addEventListener("mouseleave", () => describe(kept.at));
	const until_left = { signal: leaving.signal, passive: true };
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_soon, until_left);
	addEventListener("scroll", draw_soon, until_left);
	addEventListener("resize", draw_soon, until_left);
	setTimeout(() => {
		describe(kept.at);
		mark(kept.text);
		canvas.focus({ preventScroll: true });
	});
	return [
		el("div", { class: "tools" }, event_choice(), search, reset, matched),
		el("p", { class: "note" }, `Width is ${f.unit === "ns" ? "time" : "the number of events"} (${f.event}), callers are above ` +
			"what they call. Click or Enter zooms, Escape zooms out, arrow keys go from frame to frame, / searches." +
			(f.left_out ? ` ${count(f.left_out)} frames too narrow to be seen are left out: "others" stands for them.` : "") + legend(f)),
		box,
	];
}

/* ---- which view ---- */

const views = { summary: ["Summary", view_summary], functions: ["Functions", view_functions] };
if (data.flames.length)
	views.flame = ["Flame graph", view_flame];

const scrolled = new Map(); // how far each view was: browsers would scroll before there is anything to be scrolled
history.scrollRestoration = "manual";
addEventListener("scroll", () => scrolled.set(location.hash, scrollY), { passive: true });

function show() {
	leaving.abort();
	leaving = new AbortController();
	const [name, ...rest] = location.hash.slice(1).split("/"), argument = rest.join("/");
	const chosen = name === "function" ? view_function : (views[name] || views.summary)[1];
	document.title = data.title;
	document.getElementById("views").replaceChildren(...Object.keys(views).map(key => el("a", { href: "#" + key,
		"aria-current": key === name || (key === "summary" && !views[name] && name !== "function") ? "page" : null },
		views[key][0])));
	main.replaceChildren(...chosen(argument).flat(9).filter(x => x));
	scrollTo(0, scrolled.get(location.hash) || 0);
}

addEventListener("keydown", e => {
	const search = main.querySelector("input[type=search]");
	if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || !search || e.target.matches("input, select"))
		return;
	e.preventDefault();
	search.focus();
});
addEventListener("hashchange", () => { show(); main.focus({ preventScroll: true }); });
show();
}());
