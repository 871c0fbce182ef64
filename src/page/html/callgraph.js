// The call graph as a picture: functions in layers, callers above callees.

const MOST_NODES = 80, MOST_CALLS = 240, LEAST_NODE = .005, LEAST_CALL = .001; // shares

// 3 of "3/7", 10 of "3+7".
function number_of_calls(text) {
	return typeof text === "string" ? text.split("/")[0].split("+").reduce((sum, n) => sum + Number(n), 0) : text || 0;
}

// All calls of one function by another, [{ from, to, time, calls }]. time: null within a cycle of counted calls.
function all_calls() {
	const known = new Map();
	const call_of = (from, to) => {
		const key = from.id * functions.length + to.id, call = known.get(key) || { from, to, time: null, calls: 0 };
		known.set(key, call);
		return call;
	};
	if (paths)
		for (const { from, to, time } of calls_at_hand())
			if (from < paths.others && to < paths.others)
				call_of(functions[from], functions[to]).time = time;
	for (const block of blocks.values()) {
		const own = block.row.kind === "function" && by_index.get(block.row.index);
		for (const row of own ? block.rows : []) {
			const other = by_index.get(row.index);
			if (!other || (row.kind !== "caller" && row.kind !== "callee"))
				continue;
			const call = row.kind === "caller" ? call_of(other, own) : call_of(own, other);
			call.calls = number_of_calls(row.called);
			if (!paths && row.self !== null)
				call.time = row.self + row.children;
		}
	}
	return [...known.values()].filter(c => c.from !== c.to && (!paths || c.time > 0));
}

// The functions of a picture and the calls between them. size: how many functions; f: the one in focus, or null; depth:
// how many calls away from it; opened: functions whose callers and callees are all wanted.
function picture_of({ f, size, depth, opened }) {
	const rows = new Map(list_functions().map(r => [r.f, r])), calls = all_calls(), whole = paths ? share_base(look()) : facts().total || 0;
	const least = f && rows.has(f) ? rows.get(f).total_share : 1; // a small function has small callees
	const worth = calls.map(c => ({ ...c, share: whole && c.time ? c.time / whole : 0 }))
		.filter(c => c.time === null || !whole || c.share >= LEAST_CALL * least).sort((a, b) => b.share - a.share || b.calls - a.calls);
	const near = new Map(), chosen = new Set(f ? [f] : []), beside = x => near.get(x) || new Set();
	const add = (list, most) => list.forEach(x => { if (chosen.size < most) chosen.add(x); });
	for (const { from, to } of worth) {
		near.set(from, beside(from).add(to));
		near.set(to, beside(to).add(from));
	}
	for (const x of opened)
		add([x, ...beside(x)], MOST_NODES);
	for (let up = new Set([f]), down = new Set([f]), left = depth; f && left && chosen.size < size; left--) {
		const next_up = new Set(), next_down = new Set(), found = new Set();
		for (const { from, to } of worth) {
			if (down.has(from))
				[next_down, found].forEach(set => set.add(to));
			if (up.has(to))
				[next_up, found].forEach(set => set.add(from));
		}
		add(found, size);
		[up, down] = [next_up, next_down];
	}
	if (!f)
		add([...rows.values()].filter(r => !whole || r.total_share >= LEAST_NODE)
			.sort((a, b) => b.total - a.total || (b.f.calls || 0) - (a.f.calls || 0)).map(r => r.f), size);
	return {
		nodes: [...chosen].map(x => ({ share: 0, total_share: 0, f: x, ...rows.get(x), hidden: [...beside(x)].filter(other => !chosen.has(other)).length })),
		calls: worth.filter(c => chosen.has(c.from) && chosen.has(c.to)).slice(0, MOST_CALLS), n_functions: rows.size, n_calls: calls.length,
	};
}

// ---- words

const LETTERS = 30;

// A name for a box: without arguments of templates, parameters and the return type, then without outer scopes, then cut.
function name_in_box(name) {
	if (name.length <= LETTERS)
		return name;
	let text = name.slice(0, 1000).replace(/ \[clone .*/, "");
	for (let before = ""; before !== text;) // the innermost brackets first
		[before, text] = [text, text.replace(/(?<=\w|operator[^\w\s]{1,3} ?)<[^<>]+>/, "\u2039\u203a")];
	text = text.replace(/\u2039\u203a/g, "<…>").replace(/(?<!operator)\((?:[^()]|\([^()]*\))*\)[ \w]*$/, "")
		.replace(/^(?!<).* (?<!operator )(?=[^ ()]*(\(\)(<…>)?)?$)/, "");
	if (text.length > LETTERS)
		text = text.replace(/<…>/g, "");
	for (let scope; text.length > LETTERS && (scope = /^…?[\w~]*::/.exec(text));)
		text = "…" + text.slice(scope[0].length);
	return text.length > LETTERS ? text.slice(0, LETTERS - 1) + "…" : text;
}

const calls_of_function = f => (blocks.has(f.index) ? number_of_calls(blocks.get(f.index).row.called) : f.calls || 0);
const is_estimated = () => !paths && !(data.tables.graph && data.tables.graph.properties.measured);

const calls_text = n => `${count(n)} call${n === 1 ? "" : "s"}`;

function text_of_node({ f, share, total_share }) {
	const calls = calls_of_function(f);
	return `${f.name}: Children ${percent(total_share)}, Self ${percent(share)}${calls ? `, ${calls_text(calls)}` : ""}${f.cycle ? `, in cycle ${f.cycle}` : ""}`;
}

function text_of_call(c) {
	return `${c.from.name} → ${c.to.name}: ${c.time === null ? "within a cycle" : percent(c.share)}${c.calls ? `, ${calls_text(c.calls)}` : ""}`;
}

// ---- the drawing

const ruler = el("canvas").getContext("2d");

function width_of(text, size) {
	ruler.font = `${size}px ui-monospace, monospace`;
	return ruler.measureText(text).width;
}

// The lines of a node's box, each [text, size]; how much of its color it has; its size.
function box_of({ f, share, total_share }) {
	const heat = Math.sqrt(Math.min(1, total_share)), calls = calls_of_function(f);
	const marks = [calls ? calls_text(calls) : "", f.cycle ? `in cycle ${f.cycle}` : "", f.kind & 1 ? "kernel" : f.kind & 2 ? "inlined" : ""].filter(x => x).join(", ");
	const lines = [[name_in_box(f.shown), 12 + Math.round(3 * heat)], [percent(total_share) + (share ? `, self ${percent(share)}` : ""), 11], [marks, 11]].filter(l => l[0]);
	return { heat, lines, w: Math.ceil(Math.max(...lines.map(l => width_of(...l)))) + 16, h: lines.reduce((sum, l) => sum + l[1] + 4, 8) };
}

const fixed = (...numbers) => numbers.map(v => v.toFixed(1)).join(" ");

// The way of a call: curves from layer to layer, straight across layers; and the tip of the arrow.
function curve_of(points, width) {
	const size = 6 + width, [x, y] = points[points.length - 1], back = y > points[0][1] ? -size : size;
	const line = [...points.slice(0, -1), [x, y + back]];
	return [line.map(([x2, y2], i) => {
		const [x1, y1] = line[i - 1] || [], middle = (y1 + y2) / 2;
		return !i ? `M${fixed(x2, y2)}` : x1 === x2 ? `V${fixed(y2)}` : `C${fixed(x1, middle, x2, middle, x2, y2)}`;
	}).join(""), `M${fixed(x, y)}l${fixed(-size / 2, back)}h${fixed(size)}z`];
}

// Places for labels on the ways, between the layers, where none is in the way of another; those of calls with most time
// first. null: there is no room.
function places_of(labels, ways) {
	const taken = [];
	return labels.map((label, k) => {
		const w = width_of(label, 10) / 2 + 3, points = ways[k];
		for (const t of [.5, .65, .35, .8, .2])
			for (let i = points.length - 3; label && i > 0; i -= 2) {
				const [[x1, y1], [x2, y2]] = [points[i], points[i + 1]], x = x1 + (x2 - x1) * t * t * (3 - 2 * t), y = y1 + (y2 - y1) * t;
				if (taken.every(o => Math.abs(o.x - x) > o.w + w || Math.abs(o.y - y) > 12)) {
					taken.push({ x, y, w });
					return [x, y];
				}
			}
		return null;
	});
}

// The picture as an SVG element, with its size. f: the function in focus; to: the address for a click on a function;
// open: that for "more" at one.
function drawing_of({ nodes, calls }, f, room, to, open) {
	const number = new Map(nodes.map((n, i) => [n.f, i])), boxes = nodes.map(box_of), dashed = is_estimated() ? " guess" : "";
	const plan = layers(boxes, calls.map(c => ({ from: number.get(c.from), to: number.get(c.to), weight: Math.min(1, c.share) })), room, number.get(f));
	const width = Math.max(plan.width, 120), labels = calls.map(c => [c.share >= .01 ? percent(c.share) : "", c.calls ? `${count(c.calls)}×` : ""].filter(x => x).join(" "));
	const places = places_of(labels, plan.ways);
	const call = (c, k) => {
		const thick = .8 + 5 * Math.min(1, c.share), [line, tip] = curve_of(plan.ways[k], thick);
		return svg("g", { class: `call${dashed}${c.from.cycle && c.from.cycle === c.to.cycle ? " round" : ""}`, "data-ends": `${c.from.id} ${c.to.id}` },
			svg("title", {}, text_of_call(c)), svg("path", { class: "line", d: line, "stroke-width": thick.toFixed(1) }), svg("path", { class: "arrow", d: tip }));
	};
	const node = (n, i) => {
		const { w, h, heat, lines } = boxes[i], x = plan.x[i] - w / 2, y = plan.y[i] - h / 2, shape = { x: fixed(x), y: fixed(y), width: w, height: h, rx: 4 };
		let line = y + 4;
		return [svg("a", { href: to(n.f), class: `node${n.f === f ? " here" : ""}${n.f.cycle ? " round" : ""}`, "data-id": n.f.id, tabindex: "-1" },
			svg("title", {}, text_of_node(n) + (n.f.object ? `\n${n.f.object}` : "")), svg("rect", { ...shape, class: "box" }), svg("rect", { ...shape, class: "heat", "fill-opacity": heat.toFixed(2) }),
			lines.map(([text, size]) => svg("text", { x: fixed(plan.x[i]), y: fixed((line += size + 4) - 2), "font-size": size }, text))),
			open && n.hidden ? svg("a", { href: open(n.f), class: "hidden", tabindex: "-1", "aria-label": `+${n.hidden} more callers and callees of ${n.f.name}` },
				svg("rect", { x: fixed(x + w - 5), y: fixed(y + h - 9), width: 26, height: 14, rx: 7 }), svg("text", { x: fixed(x + w + 8), y: fixed(y + h + 1.5) }, `+${n.hidden}`)) : null];
	};
	const in_cycle = [...new Set(nodes.map(n => n.f.cycle).filter(c => c))];
	const cluster = cycle => svg("g", { class: "cluster" }, svg("title", {}, `Cycle ${cycle}`), // along what closes it: nothing else is inside
		nodes.map((n, i) => (n.f.cycle === cycle ? svg("rect", { x: fixed(plan.x[i] - boxes[i].w / 2 - 7), y: fixed(plan.y[i] - boxes[i].h / 2 - 7), width: boxes[i].w + 14, height: boxes[i].h + 14, rx: 9 }) : null)),
		calls.map((c, k) => (c.from.cycle === cycle && c.to.cycle === cycle ? svg("path", { d: curve_of(plan.ways[k], 0)[0] }) : null)));
	const element = svg("svg", { class: "picture", viewBox: `-24 -4 ${fixed(width + 48)} ${fixed(plan.height + 16)}`, width: width + 48, height: plan.height + 16, role: "group",
		"aria-label": `Call graph of ${nodes.length} functions and ${calls.length} calls` }, in_cycle.map(cluster), calls.map(call).reverse(),
	places.map((place, k) => (place ? svg("text", { class: "label", x: fixed(place[0]), y: fixed(place[1] + 3) }, labels[k]) : null)), nodes.map(node));
	return { element, width: width + 48, height: plan.height + 16, plan };
}

// ---- the view

const focus_link = f => changed({ f: f && f.id, more: null });

// Lets a picture be zoomed and moved in its box: by the wheel with Ctrl, by two fingers, by dragging; one finger scrolls as
// everywhere. { zoom: to a scale, with a place of the box that stays; by: the same by a factor; fit: to a readable width }
function movable(box, { element, width, height }) {
	let scale = 1, dragged = null;
	const zoom = (to, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
		const by = Math.min(4, Math.max(.2, to)) / scale;
		scale *= by;
		element.setAttribute("width", width * scale);
		element.setAttribute("height", height * scale);
		box.scrollTo((box.scrollLeft + x) * by - x, (box.scrollTop + y) * by - y);
	};
	box.addEventListener("wheel", e => {
		if (!e.ctrlKey)
			return;
		e.preventDefault();
		const area = box.getBoundingClientRect();
		zoom(scale * (e.deltaY > 0 ? .8 : 1.25), e.clientX - area.left, e.clientY - area.top);
	}, { passive: false });
	const fingers = new Map(), spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
	box.addEventListener("pointerdown", e => {
		fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		dragged = { x: e.clientX, y: e.clientY, left: box.scrollLeft, top: box.scrollTop, moved: false, spread: fingers.size === 2 ? spread() : 0, scale };
	});
	box.addEventListener("pointermove", e => {
		if (!fingers.has(e.pointerId))
			return;
		fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		dragged.moved = dragged.moved || Math.hypot(e.clientX - dragged.x, e.clientY - dragged.y) > 4;
		if (fingers.size === 2)
			zoom(dragged.scale * spread() / dragged.spread);
		else if (e.pointerType === "mouse" && dragged.moved)
			box.scrollTo(dragged.left - (e.clientX - dragged.x), dragged.top - (e.clientY - dragged.y));
	});
	for (const kind of ["pointerup", "pointercancel"])
		addEventListener(kind, e => fingers.delete(e.pointerId), { signal: leaving.signal });
	box.addEventListener("dragstart", e => e.preventDefault());
	box.addEventListener("click", e => { if (dragged && dragged.moved) e.preventDefault(); }, true);
	return { zoom, by: factor => zoom(scale * factor), fit: least => zoom(Math.min(1, Math.max(least, box.clientWidth / width))), scale: () => scale };
}

// The picture in a box, with keys. about: the element that says what the marked node is; begin: is called once the box is
// shown.
function graph_in_box(picture, f, about, begin) {
	const opened = state.keys.more ? state.keys.more.split(".") : [];
	const drawing = drawing_of(picture, f, Math.max(main.clientWidth - 80, 640),
		x => (x === f ? link_to("function", x.id) : focus_link(x)), x => changed({ more: [...opened, x.id].join(".") })), { element, plan } = drawing;
	const box = el("div", { class: "graph", role: "application", "aria-describedby": "frame",
		"aria-label": "Call graph: arrow keys go from function to function, Enter sets the focus, Escape takes it away, plus and minus zoom, M shows more" }, element);
	const links = [...element.querySelectorAll(".node")], view = movable(box, drawing);
	let here = Math.max(0, picture.nodes.findIndex(n => n.f === f));
	const select = i => {
		links[here].setAttribute("tabindex", "-1");
		here = i;
		links[here].setAttribute("tabindex", "0");
		const n = picture.nodes[i], id = String(n.f.id);
		element.querySelectorAll(".call").forEach(c => c.classList.toggle("on", c.dataset.ends.split(" ").includes(id)));
		about.replaceChildren(text_of_node(n), n.f.object ? ` ${base_name(n.f.object)} ` : " ", el("a", { href: link_to("function", id) }, "callers and callees"), " ",
			paths ? el("a", { href: link_to("flame", "", { how: "callers", f: id }) }, "flame graph of its callers") : "");
	};
	const go = i => { if (i !== undefined && i >= 0) links[i].focus(); };
	const along = (from, to) => { // the end of the call with most time
		const c = picture.calls.find(x => x[from] === picture.nodes[here].f);
		go(c && picture.nodes.findIndex(n => n.f === c[to]));
	};
	const beside = step => {
		const row = links.map((_, i) => i).filter(i => plan.layer[i] === plan.layer[here]).sort((a, b) => plan.x[a] - plan.x[b]);
		go(row[row.indexOf(here) + step]);
	};
	const keys = { ArrowDown: () => along("from", "to"), ArrowUp: () => along("to", "from"), ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
		Escape: () => go_to(focus_link(null)), "+": () => view.by(1.25), "-": () => view.by(.8), 0: () => view.fit(0),
		m: () => { const more = links[here].nextSibling; if (more && more.classList.contains("hidden")) go_to(more.getAttribute("href")); } };
	box.addEventListener("keydown", e => {
		if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			keys[e.key]();
		}
	});
	links.forEach((link, i) => ["focus", "pointerenter"].forEach(kind => link.addEventListener(kind, () => select(i))));
	setTimeout(() => {
		if (!box.isConnected)
			return;
		view.fit(.75);
		box.scrollTo(plan.x[here] * view.scale() - box.clientWidth / 2, f ? plan.y[here] * view.scale() - box.clientHeight / 2 : 0);
		select(here);
		if (!main.contains(document.activeElement.closest("input, select, button")))
			links[here].focus({ preventScroll: true });
		begin();
	});
	const zooms = [["+", "Zoom in", keys["+"]], ["−", "Zoom out", keys["-"]], ["Fit", "Zoom to fit", keys[0]]];
	return { box, links, zooms: zooms.map(([text, label, act]) => button(text, act, { "aria-label": label })) };
}

function view_graph() {
	const k = state.keys, f = focus_at_hand(), size = Math.max(1, Math.min(MOST_NODES, Number(k.n) || 40)), depth = Number(k.d) || 2;
	const opened = (k.more || "").split(".").filter(x => x).map(x => functions[Number(x)]).filter(x => x);
	const picture = picture_of({ f, size, depth, opened }), about = el("p", { id: "frame", class: "name" }), matched = el("span", { class: "soft", id: "matched" });
	const matching = text => { const test = text && pattern_of(text); return test ? list_functions().filter(r => has_name(test, r.f)) : []; };
	const search = search_field("Mark functions", () => mark(), text => {
		const [found] = matching(text).sort((a, b) => b.total - a.total);
		if (found)
			go_to(focus_link(found.f));
	});
	if (!picture.nodes.length)
		return [notes_of(data.tables.graph), el("p", {}, "There is no function to draw.")];
	const { box, links, zooms } = graph_in_box(picture, f, about, mark);
	function mark() {
		const found = new Set(matching(search.value).map(r => String(r.f.id))), there = links.filter(link => link.classList.toggle("found", found.has(link.dataset.id)));
		matched.textContent = search.value ? `${count(found.size)} functions, ${count(there.length)} in the picture` : "";
		say(matched.textContent);
	}
	return [
		el("div", { class: "tools" }, search, select_of("Functions", ["20", "40", "80"].map(n => [n, n]), String(size), n => go_to(changed({ n: n === "40" ? null : n }))),
			f ? [select_of("Calls away", [["1", "1"], ["2", "2"], ["3", "3"], [String(MOST_NODES), "any"]], String(depth), d => go_to(changed({ d: d === "2" ? null : d }))),
				button("Whole graph", () => go_to(focus_link(null)))] : null,
			opened.length ? button("Close what was opened", () => go_to(changed({ more: null }))) : null, zooms, matched),
		el("p", { class: "note" }, `${count(picture.nodes.length)} of ${count(picture.n_functions)} functions and ${count(picture.calls.length)} of ${count(picture.n_calls)} calls are drawn. ` +
			(is_estimated() ? "Dashed: times of calls are estimated, apportioned by call counts." : "Times of calls are measured.")),
		lossy_note(),
		el("details", { class: "note" }, el("summary", {}, "How to read this"), "Callers stand above what they call. A box has its function's time with callees (color and size say the same), then its own, and the " +
			"number of calls. A line has the time that went along the call: the more, the wider. Violet: in a cycle of calls, whose functions and calls lie on one ground. +3 shows three more callers and callees. " +
			"Click or Enter puts a function in focus, a second time shows all of its callers and callees, Escape takes the focus away. Arrow keys go along the calls with most time; " +
			"Ctrl and the wheel, two fingers, or + and -, zoom; dragging moves; / searches. The focus is kept in the other views."),
		about, box,
	];
}
