// The flame graph: a canvas that stays within the window, over a box as high as the graph.

const ROW = 18;
// Choices for the change that gets the full colour: milliseconds, or numbers of events that do not
// measure time.
const scale_of = event => [["0", "the largest"], ...(event.unit === "ns" ? [["1", "1 ms"], ["10", "10 ms"], ["100", "100 ms"], ["1000", "1 s"]]
	: [1, 1e3, 1e6, 1e9].map(n => [String(n), count(n)]))];
const HOW = [["down", "from callers to callees"], ["inverted", "inverted: from callees to callers"], ["folded", "recursion folded"],
	["time", "in the order of time"], ["callers", "callers of a function"], ["callees", "callees of a function"]];

let known_flame = null; // the last tree; a click on a frame does not change it
let leaving = new AbortController(); // ends listeners of the current view on objects outside of it

function flame_tree(how) {
	const now = look(), key = [known_look.key, how.kind, how.f, how.order, how.width].join("\n");
	if (known_flame && known_flame.key === key)
		return known_flame;
	const compared = is_comparison(), shown = compared && how.width === "before" ? now.sides[0] : now;
	const change = compared ? now.sides[1].own.map((v, i) => v - now.sides[0].own[i]) : null, threads = new Set();
	const tree = flame_of(paths, shown.at, shown.own, change, how, name_of, threads);
	return known_flame = { key, tree, base: state.keys.rel ? tree.total[0] : shown.whole };
}

// Whether a function's name contains the text, or matches /the expression/; null if that is not a
// valid expression.
function pattern_of(text) {
	const expression = /^\/(.+?)\/?$/.exec(text);
	if (!expression) {
		const small = text.toLowerCase();
		return name => name.toLowerCase().includes(small);
	}
	try {
		const r = new RegExp(expression[1], "i");
		return name => r.test(name);
	} catch (e) {
		return null;
	}
}

function color_of(fn, mode, dark, dim, change, scale) {
	if (mode === "change") {
		const part = Math.max(-1, Math.min(1, change / scale)), strength = Math.abs(part);
		const light = dark ? 22 + 12 * strength : 94 - 30 * strength;
		return strength < .002 ? (dark ? "#333940" : "#e3e6ea") : `hsl(${part > 0 ? 12 : 215} ${dim ? 10 : 75}% ${light}%)`;
	}
	const f = functions[fn], kind = f ? f.kind : 0;
	const h = hash(mode === "library" ? base_name(f ? f.object : "") : name_of(fn)) >>> 3;
	const hue = mode === "library" ? h % 360 : mode === "kind" ? (kind & 1 ? 210 : kind & 4 ? 110 : kind & 2 ? 170 : 30)
		: (kind & 1 ? 200 : kind & 2 ? 160 : kind & 4 ? 100 : 18) + h % 28;
	const light = dark ? 20 + (mode === "kind" ? 4 : h % 8) : 72 + (mode === "kind" ? 4 : h % 10); // text is readable on both
	return `hsl(${hue} ${dim ? 8 : 60}% ${light}%)`;
}

function legend_of(mode) {
	if (mode === "change")
		return "Red took longer, blue less; the tone says by how much.";
	if (mode === "library")
		return "A color for each program or library.";
	const kinds = [[1, "blue: kernel"], [2, "turquoise: inlined"], [4, "green: made at run time"]];
	const there = kinds.filter(([bit]) => functions.some(f => f.kind & bit)).map(k => k[1]);
	return there.length ? `Frames are ${there.join(", ")}.` : "";
}

function flame_tools(how) {
	const set = key => value => go_to(changed({ [key]: value, z: null, w: null }));
	const needs_function = how.kind === "callers" || how.kind === "callees";
	const list = HOW.filter(([kind]) => (kind !== "time" || data.unit_ns) && ((kind !== "callers" && kind !== "callees") || needs_function));
	return el("div", { class: "tools" },
		select_of("Order", list, how.kind, set("how")),
		how.kind === "time" ? null : select_of("Siblings", [["left", "widest first"], ["name", "by name"]], how.order, set("order")),
		select_of("Colors", [["function", "by function"], ["library", "by library"], ["kind", "kernel, user"],
			...(is_comparison() ? [["change", "by difference"]] : [])], how.color, set("color")),
		is_comparison() && how.color === "change" ? select_of("Full color at", scale_of(event_of()), how.scale, set("scale")) : null,
		is_comparison() ? select_of("Widths", [["after", "after"], ["before", "before"]], how.width, set("width")) : null,
		checkbox_of("roots below", how.up, on => set("up")(on ? "1" : null)));
}

// How to draw the graph, from the address.
function how_of_address() {
	const k = state.keys, how = { kind: k.how || "down", order: k.order || "left", color: k.color || (is_comparison() ? "change" : "function"),
		f: Number(k.f), width: k.width || "after", up: !!k.up, scale: k.scale || "0" };
	if (((how.kind === "callers" || how.kind === "callees") && !(how.f < paths.others)) || (how.kind === "time" && !data.unit_ns))
		how.kind = "down";
	return how;
}

// { search: the field that marks functions, box: the graph, canvas }
function flame_graph(how) {
	const k = state.keys, { tree, base } = flame_tree(how), whole = (tree.deepest + 1) * ROW;
	let zoom = tree.reach(k.z), at = zoom, has = null, top = 0;
	let from = tree.first[zoom], to = tree.end[zoom];
	const window_of = /^([\d.]+)-([\d.]+)$/.exec(k.w || "");
	if (window_of && Number(window_of[1]) < Number(window_of[2]))
		[from, to] = [Number(window_of[1]) * tree.total[0], Number(window_of[2]) * tree.total[0]];
	const biggest_change = tree.change ? tree.change.reduce((a, v) => Math.max(a, Math.abs(v)), 0) : 0;
	const full = Number(how.scale) ? Number(how.scale) * (event_of().unit === "ns" ? 1e6 : 1) : biggest_change || 1;

	const canvas = el("canvas", { tabindex: "0", role: "application", "aria-describedby": "frame",
		"aria-label": "Flame graph: arrow keys go from frame to frame, Enter zooms, Escape zooms out, plus and minus widen, comma and period move" });
	const about = el("p", { id: "frame", class: "name" }), matched = el("span", { class: "soft", id: "matched" });
	const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
	const stuck = el("div", { class: "stuck" }, about, canvas), box = el("div", { class: "flame" }, stuck, tip);
	box.style.height = whole + "px"; // before drawing, so that the page can be scrolled to its earlier position
	const search = search_field("Mark functions", text => mark(text), () => canvas.focus());

	const share = i => tree.total[i] / (base || 1), name = i => (i ? name_of(tree.fn[i]) + (tree.times && tree.times[i] > 1 ? ` ×${tree.times[i]}` : "") : "all");
	const stands_in = i => tree.fn[i] >= paths.others; // dropped nodes, threads, and the root
	const scale = () => canvas.clientWidth / (to - from);
	const left = i => (Math.max(tree.first[i], from) - from) * scale();
	const width = i => (Math.min(tree.end[i], to) - Math.max(tree.first[i], from)) * scale();
	const y_of = i => (how.up ? tree.deepest - tree.depth[i] : tree.depth[i]) * ROW - top;
	let letter = 7; // width of a character

	function draw_one(c, i, dark) {
		const x = left(i), w = width(i), y = y_of(i), grey = dark ? "#3a4048" : "#d9dee4";
		const above = tree.depth[i] < tree.depth[zoom] && tree.first[i] <= tree.first[zoom] && tree.end[i] >= tree.end[zoom];
		c.fillStyle = has && has[tree.fn[i]] ? (dark ? "#8a2fb4" : "#d38bff")
			: !i || (stands_in(i) && how.color !== "change") ? grey : color_of(tree.fn[i], how.color, dark, above, tree.change && tree.change[i], full);
		c.fillRect(x, y, Math.max(w - .6, .4), ROW - 1);
		if (i === at) {
			c.strokeStyle = dark ? "#fff" : "#000";
			c.lineWidth = 2;
			c.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
		}
		if (w < 26)
			return;
		c.fillStyle = dark ? "#f2f4f6" : "#14171a";
		let text = name(i);
		const room = Math.floor((w - 8) / letter);
		if (text.length > room)
			text = room > 3 ? text.slice(0, room - 1) + "…" : "";
		c.fillText(text, x + 4, y + ROW - 6);
	}

	// The box is as high as the graph; the canvas only covers the visible part, because
	// browsers cannot draw on a canvas that is too large.
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
		const todo = [0], limit = .3 / scale();
		while (todo.length) {
			const i = todo.pop(), y = y_of(i);
			if (tree.end[i] <= from || tree.first[i] >= to || tree.end[i] - tree.first[i] < limit || (!how.up && y > height))
				continue;
			if (y > -ROW && y < height)
				draw_one(c, i, dark);
			for (const child of tree.children(i))
				todo.push(child);
		}
	}

	let is_asked = false;
	function draw_soon() {
		if (!is_asked)
			requestAnimationFrame(() => { is_asked = false; if (canvas.isConnected) draw(); });
		is_asked = true;
	}

	function bring_in_sight(i) {
		const y = y_of(i) + top, start = scrollY + box.getBoundingClientRect().top;
		if (y < top)
			scrollTo(scrollX, start + y);
		else if (y + ROW > top + canvas.clientHeight)
			scrollTo(scrollX, start + y + ROW - canvas.clientHeight);
	}

	function figures_of(i) {
		const change = is_comparison() ? `, ${signed(amount(tree.change[i]), tree.change[i])} after` : "";
		return `${amount(tree.total[i])}${change}, ${percent(share(i))} of all` +
			(i ? `, ${percent(tree.total[i] / tree.total[tree.parent[i]])} of its ${how.kind === "inverted" || how.kind === "callers" ? "callee" : "caller"}` : "");
	}

	function describe(i) {
		about.replaceChildren(el("span", {}, figures_of(i)), " – ", el("b", {}, name(i)), " ");
		if (!stands_in(i))
			about.append(el("a", { href: link_to("function", tree.fn[i]) }, "callers and callees"), " ",
				el("a", { href: link_to("flame", "", { how: "callers", f: tree.fn[i] }) }, "all its callers"), " ",
				el("a", { href: link_to("flame", "", { how: "callees", f: tree.fn[i] }) }, "all its callees"), " ",
				is_comparison() ? "" : el("a", { href: link_to("graph", "", { f: tree.fn[i] }) }, "call graph"), " ", ...rewrite_links(tree.fn[i]));
	}

	function select(i) {
		at = i;
		describe(i);
		say(`${name(i)}: ${figures_of(i)}`);
		bring_in_sight(i);
		draw();
	}
	// Zooms to a node, as a step that Back undoes. A click on the zoomed node adds no step.
	function go(i) {
		const address = changed({ z: tree.key(i), w: null });
		[zoom, from, to] = [i, tree.first[i], tree.end[i]];
		state = parse_address(address);
		if (location.hash !== address)
			history.pushState(null, "", address);
		select(i);
	}
	function widen(factor, x) {
		const middle = x === undefined ? (from + to) / 2 : x, least = tree.total[0] / 1e7;
		const size = Math.min(tree.total[0], Math.max(least, (to - from) * factor));
		move_to(middle - (middle - from) * size / (to - from), size);
	}
	function move_to(start, size) {
		from = Math.max(0, Math.min(start, tree.total[0] - size));
		to = from + size;
		put_address({ w: `${(from / tree.total[0]).toFixed(9)}-${(to / tree.total[0]).toFixed(9)}` });
		draw_soon();
	}

	function mark(text) {
		const test = text ? pattern_of(text) : null, f = focus_at_hand();
		has = null;
		matched.textContent = text && !test ? "this is no regular expression" : "";
		if (!text && f && how.kind !== "callers" && how.kind !== "callees") {
			has = Uint8Array.from(functions.slice(0, paths.others), x => (x === f ? 1 : 0));
			matched.textContent = `${text_of_share(has)} have ${f.name}`;
		}
		if (test) {
			has = Uint8Array.from(functions.slice(0, paths.others), f => (has_name(test, f) ? 1 : 0));
			matched.textContent = `${text_of_share(has)} have it`;
		}
		say(matched.textContent);
		draw();
	}

	function frame_at(e) {
		const area = canvas.getBoundingClientRect(), row = Math.floor((e.clientY - area.top + top) / ROW);
		const depth = how.up ? tree.deepest - row : row, x = from + (e.clientX - area.left) / scale();
		let i = 0;
		while (tree.depth[i] < depth) {
			const next = tree.children(i).find(c => tree.first[c] <= x && x < tree.end[c]);
			if (next === undefined)
				return null;
			i = next;
		}
		return i;
	}

	const siblings = i => (i ? tree.children(tree.parent[i]) : [0]);
	const beside = step => { const s = Array.from(siblings(at)), next = s[s.indexOf(at) + step]; if (next !== undefined) select(next); };
	const inwards = () => { const list = tree.children(at); if (list.length) select(list.reduce((a, b) => (tree.total[b] > tree.total[a] ? b : a))); };
	const outwards = () => select(tree.parent[at]);
	const keys = {
		ArrowDown: how.up ? outwards : inwards, ArrowUp: how.up ? inwards : outwards,
		ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Enter: () => go(at), " ": () => go(at), Home: () => select(zoom),
		Escape: () => go(zoom ? tree.parent[zoom] : 0), "+": () => widen(.5), "-": () => widen(2),
		",": () => move_to(from - (to - from) / 4, to - from), ".": () => move_to(from + (to - from) / 4, to - from),
	};
	for (const k in REWRITES)
		keys[k] = () => { if (!stands_in(at)) go_to(with_rewrite(k + tree.fn[at])); };
	canvas.addEventListener("keydown", e => {
		if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			keys[e.key]();
		}
	});

	let dragged = null;
	canvas.addEventListener("pointerdown", e => { dragged = { x: e.clientX, from, moved: false }; });
	canvas.addEventListener("pointermove", e => {
		if (dragged && e.buttons && (dragged.moved || Math.abs(e.clientX - dragged.x) > 4)) {
			dragged.moved = true;
			move_to(dragged.from - (e.clientX - dragged.x) / scale(), to - from);
			return;
		}
		const i = frame_at(e), area = box.getBoundingClientRect();
		tip.hidden = i === null;
		if (i === null)
			return;
		describe(i);
		const whole = stands_in(i) ? "" : functions[tree.fn[i]].name;
		tip.replaceChildren(el("b", {}, name(i)), el("br"), ...(name(i) === whole || !whole ? [] : [whole, el("br")]), base_name(stands_in(i) ? "" : functions[tree.fn[i]].object || ""), el("br"), figures_of(i),
			...(tree.own[i] && how.kind === "down" ? [el("br"), `${amount(tree.own[i])} in it itself`] : []));
		tip.style.left = Math.max(0, Math.min(e.clientX - area.left + 12, area.width - 340)) + "px";
		tip.style.top = e.clientY - area.top + 18 + "px";
	});
	canvas.addEventListener("click", e => {
		const i = dragged && dragged.moved ? null : frame_at(e);
		dragged = null;
		if (i !== null)
			go(i);
	});
	canvas.addEventListener("pointerleave", () => { tip.hidden = true; describe(at); });
	canvas.addEventListener("wheel", e => {
		if (!e.ctrlKey && !e.shiftKey)
			return;
		e.preventDefault();
		if (e.shiftKey)
			move_to(from + (e.deltaY || e.deltaX) / scale(), to - from);
		else
			widen(e.deltaY > 0 ? 1.25 : .8, from + (e.clientX - canvas.getBoundingClientRect().left) / scale());
	}, { passive: false });
	const until_left = { signal: leaving.signal, passive: true };
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_soon, until_left);
	addEventListener("scroll", draw_soon, until_left);
	addEventListener("resize", draw_soon, until_left);
	setTimeout(() => {
		if (!canvas.isConnected)
			return;
		describe(at);
		mark(k.q || "");
	});
	return { search: el("div", { class: "tools" }, search, button("Whole graph", () => go(0)), matched), box, canvas };
}

function view_flame() {
	const how = how_of_address(), { search, box, canvas } = flame_graph(how);
	setTimeout(() => { if (canvas.isConnected && !search.contains(document.activeElement)) canvas.focus({ preventScroll: true }); });
	const about_function = how.kind === "callers" || how.kind === "callees" ? el("p", {}, el("a", { class: "name", href: link_to("function", how.f) }, functions[how.f].shown),
		" ", el("a", { href: changed({ how: how.kind === "callers" ? "callees" : "callers", z: null, w: null }) }, how.kind === "callers" ? "what it calls" : "its callers"),
		" ", el("a", { href: changed({ how: null, f: null, z: null, w: null }) }, "the whole graph")) : null;
	return [
		flame_tools(how), search, about_function,
		el("details", { class: "note" }, el("summary", {}, "How to read this"), `Width is ${event_of().unit === "ns" ? "time" : "the number of events"} (${event_of().name})` +
			(is_comparison() ? ` of a run, ${how.width}` : "") + ". Click or Enter zooms, Escape zooms out, arrow keys go from frame to frame, " +
			"Ctrl and the wheel, or + and -, zoom, dragging, or , and ., moves, / searches. " + legend_of(how.color)),
		data.left_out ? el("p", { class: "note" }, `The ${count(data.left_out)} narrowest frames are left out: "others" stands for them. kin html --max-size=20M keeps more.`) : null,
		box,
	];
}
