// The timeline: what each thread did when. Here the user selects the interval and the threads that
// all other views show.

const LANE = 34, LANES = 60;
const KINDS = ["on-cpu", "blocked", "waiting"], KIND_NAMES = ["on a CPU", "blocked", "waiting for a CPU"];

let known_end = 0;

const is_off_cpu = i => data.events[all_paths.event[i] >> 1].kind !== "on-cpu";

// The end of the last sample, or of the last time off the CPU, which begins at its sample.
function end_of_time() {
	if (!known_end) {
		known_end = all_paths.n_samples ? all_paths.time[all_paths.n_samples - 1] + 1 : 1;
		for (let i = 0; i < all_paths.n_samples; i++)
			if (is_off_cpu(i))
				known_end = Math.max(known_end, all_paths.time[i] + Math.round(all_paths.weight[i] / data.unit_ns));
	}
	return known_end;
}

// The time that the rows show, in seconds: all, or a part by the wheel, which the address keeps.
function time_in_view() {
	const end = in_seconds(end_of_time()), [from, to] = (state.keys.v || "").split("-").map(Number);
	return state.keys.v && from >= 0 && from < to && to <= end ? { from, to, size: to - from } : { from: 0, to: end, size: end };
}

// The event that tells how much CPU the threads took: CPU time, if measured.
function cpu_event() {
	const on_cpu = data.events.filter(e => e.kind === "on-cpu");
	return on_cpu.find(e => e.unit === "ns") || on_cpu[0];
}

// One lane for each thread id, whatever names the thread had; [{ name, process, ids, weight }],
// busiest first.
function lanes_of_threads() {
	const cpu = cpu_event(), lanes = new Map(), of_thread = data.threads.map(([name, pid, tid, run], i) => {
		const key = tid ? `${run}/${pid}/${tid}` : `name ${name}`;
		if (!lanes.has(key))
			lanes.set(key, { pid, ids: [], weight: 0, samples: [] });
		lanes.get(key).ids.push(i);
		return lanes.get(key);
	});
	for (let i = 0; i < all_paths.n_samples; i++) {
		const lane = of_thread[all_paths.thread[i]];
		lane.samples.push(i);
		if (data.events[all_paths.event[i] >> 1] === cpu)
			lane.weight += all_paths.weight[i];
	}
	const list = [...lanes.values()].filter(l => l.samples.length).sort((a, b) => b.weight - a.weight || a.ids[0] - b.ids[0]);
	for (const l of list)
		l.name = thread_name(l.ids[l.ids.length - 1]);
	return list;
}

let known_lanes = null;

// For each pixel, the parts of its time by kind. A sample represents the time right before it; a
// sample off the CPU the time after it.
function activity(lane, pixels) {
	const view = time_in_view(), sums = KINDS.map(() => new Float64Array(pixels)), per_pixel = in_units(view.size) / pixels, first = in_units(view.from);
	const cpu = cpu_event(), unit = data.unit_ns;
	for (const i of lane.samples) {
		const event = data.events[all_paths.event[i] >> 1], kind = KINDS.indexOf(event.kind);
		if (kind === 0 && event !== cpu)
			continue;
		const size = event.unit === "ns" ? all_paths.weight[i] / unit : per_pixel, start = Math.max(0, all_paths.time[i] - first - (kind ? 0 : size));
		const end = kind ? all_paths.time[i] - first + size : all_paths.time[i] - first;
		if (end < 0 || start > per_pixel * pixels)
			continue;
		const a = Math.min(pixels - 1, Math.floor(start / per_pixel)), b = Math.min(pixels - 1, Math.floor(end / per_pixel));
		for (let x = a; x <= b; x++)
			sums[kind][x] += Math.min(end, (x + 1) * per_pixel) - Math.max(start, x * per_pixel) || (a === b ? per_pixel / 10 : 0);
	}
	return { sums, per_pixel };
}

function draw_lane(canvas, lane) {
	const ratio = devicePixelRatio || 1, width = canvas.clientWidth, c = canvas.getContext("2d");
	canvas.width = width * ratio;
	canvas.height = LANE * ratio;
	c.scale(ratio, ratio);
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const colors = dark ? ["#d98a3d", "#4d6a8a", "#a33b3b"] : ["#e08a2e", "#a9c3de", "#cc4b4b"];
	const { sums, per_pixel } = activity(lane, Math.max(1, Math.floor(width)));
	for (let x = 0; x < sums[0].length; x++) {
		let y = LANE - 1;
		for (let kind = 0; kind < KINDS.length; kind++) {
			const height = Math.min(y, (LANE - 3) * Math.min(1, sums[kind][x] / per_pixel));
			c.fillStyle = colors[kind];
			c.fillRect(x, y - height, 1, height);
			y -= height;
		}
	}
	c.fillStyle = dark ? "#cf9bff" : "#7b2fbf";
	const view = time_in_view(), x_of = s => (s - view.from) / view.size * width;
	for (const { at } of markers_there())
		c.fillRect(Math.min(x_of(at), x_of(at) < width + 1 ? width - 1 : width), 0, 1, LANE);
	const stretch = stretch_at_hand();
	if (stretch) {
		const a = x_of(stretch.from), b = x_of(stretch.to);
		c.fillStyle = dark ? "rgba(0,0,0,.6)" : "rgba(255,255,255,.72)";
		c.fillRect(0, 0, Math.max(0, a), LANE);
		c.fillRect(b, 0, Math.max(0, width - b), LANE);
		c.fillStyle = dark ? "#79b1ff" : "#0a58ca";
		c.fillRect(a, 0, 1, LANE);
		c.fillRect(b - 1, 0, 1, LANE);
	}
}

let known_markers = null;

// Moments that the user named during the recording, [{ name, at, to, href }]: each links to the
// time up to the next one.
function markers_there() {
	const end = in_seconds(end_of_time());
	known_markers = known_markers || data.markers.map(([name, at], i) => ({ name, at: Math.max(0, at),
		to: Math.min(end, Math.max(0, ...data.markers.slice(i + 1).filter(m => m[1] > at).slice(0, 1).map(m => m[1])) || end) }))
		.map(m => ({ ...m, at: Math.min(m.at, end) }));
	return known_markers;
}

const marker_text = m => (m.at < m.to ? `${m.name}, from ${seconds(m.at)} to ${seconds(m.to)}` : `${m.name}, at ${seconds(m.at)}`);
const marker_link = (m, title, text) => el(m.at < m.to ? "a" : "span", { href: m.at < m.to ? changed({ t: stretch_text(m.at, m.to), z: null, w: null }) : null, title }, text);

// Names above the lanes, in two rows if they fit; the others are only in the list below.
function marker_strip() {
	const strip = el("div", { class: "strip" }), free = [0, 0], character = 7.5;
	const place = () => {
		const width = strip.clientWidth, view = time_in_view();
		free.fill(0);
		strip.replaceChildren(...markers_there().filter(m => m.at >= view.from && m.at <= view.to).map(m => {
			const size = Math.min(20, m.name.length) * character + 10, at = (m.at - view.from) / view.size * width, before = at + size > width, x = before ? at - size : at;
			const row = free.findIndex(to => to <= x);
			if (row < 0)
				return null;
			free[row] = x + size;
			const link = marker_link(m, marker_text(m), m.name.length > 20 ? m.name.slice(0, 19) + "…" : m.name);
			link.className = before ? "before" : "";
			link.style[before ? "right" : "left"] = (before ? width - at : at) + "px";
			link.style.top = row * 20 + "px";
			return link;
		}).filter(x => x));
	};
	return Object.assign(strip, { place });
}

// Where a scale has its marks: at multiples of 1, 2 or 5 times a power of ten.
function ticks_of({ from, to, size }, most) {
	const ten = 10 ** Math.floor(Math.log10(size / most)), step = [1, 2, 5, 10].map(n => n * ten).find(s => size / s <= most), ticks = [];
	for (let i = Math.ceil(from / step); i * step <= to; i++)
		ticks.push(i * step);
	return ticks;
}

// The scale above the rows.
function axis() {
	const line = el("div", { class: "axis", "aria-hidden": "true" });
	return Object.assign(line, { place: () => {
		const view = time_in_view(), width = line.clientWidth, ticks = ticks_of(view, Math.max(2, Math.floor(width / 90))), digits = Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0] || 1) + 1e-9));
		line.replaceChildren(...ticks.map(s => {
			const mark = el("span", {}, `${s.toFixed(digits)} s`), x = (s - view.from) / view.size * width;
			if (x > width - 60)
				mark.className = "before";
			mark.style[x > width - 60 ? "right" : "left"] = (x > width - 60 ? width - x : x) + "px";
			return mark;
		}));
	} });
}

function show_time_of(start, size) {
	const end = in_seconds(end_of_time()), from = Math.max(0, Math.min(start, end - size));
	put_address({ v: size < end ? `${from.toFixed(9)}-${Math.min(end, from + size).toFixed(9)}` : null });
}

const place_text = s => String(Number(s.toFixed(6)));
const stretch_text = (a, b) => `${place_text(a)}-${place_text(b)}`;

// Rounding loses nothing: the interval begins and ends at a unit of time.
function choose_stretch(a, b, keys) {
	const end = in_seconds(end_of_time()), [from, to] = [Math.max(0, Math.min(a, b)), Math.min(end, Math.max(a, b))];
	go_to(changed({ t: from < to ? stretch_text(from, to) : null, z: null, w: null, ...keys }));
}

function lane_row(lane, chosen, redraw) {
	const canvas = el("canvas", { class: "lane", tabindex: "0", role: "slider", "aria-label": `Time of ${lane.name}`, "aria-valuemin": "0",
		"aria-valuemax": place_text(in_seconds(end_of_time())), "aria-valuenow": place_text((stretch_at_hand() || { from: 0 }).from),
		"aria-valuetext": stretch_at_hand() ? `from ${stretch_at_hand().from} to ${stretch_at_hand().to} seconds` : "all" });
	const only = lane.ids.join(","), box = el("input", { type: "checkbox", "aria-label": `Only ${lane.name}`, onchange: () => {
		const set = new Set(threads_at_hand() || []);
		lane.ids.forEach(i => (box.checked ? set.add(i) : set.delete(i)));
		go_to(changed({ z: null, w: null, th: [...set].join(",") || null }));
	} });
	box.checked = !!chosen && lane.ids.every(i => chosen.has(i));
	let begun = null, last = null;
	const second_at = e => {
		const area = canvas.getBoundingClientRect();
		return time_in_view().from + Math.max(0, Math.min(1, (e.clientX - area.left) / area.width)) * time_in_view().size;
	};
	canvas.addEventListener("wheel", e => {
		const view = time_in_view(), x = second_at(e), by = e.deltaY > 0 ? 1.25 : .8, size = Math.min(in_seconds(end_of_time()), Math.max(1e-5, view.size * (e.ctrlKey ? by : 1)));
		if (!e.ctrlKey && !e.shiftKey)
			return;
		e.preventDefault();
		show_time_of(e.ctrlKey ? x - (x - view.from) * size / view.size : view.from + Math.sign(e.deltaY || e.deltaX) * view.size / 10, size);
		redraw();
	}, { passive: false });
	canvas.addEventListener("pointerdown", e => { begun = second_at(e); canvas.setPointerCapture(e.pointerId); });
	canvas.addEventListener("pointermove", e => {
		if (begun === null)
			return;
		last = second_at(e);
		state.keys.t = stretch_text(Math.min(begun, last), Math.max(begun, last));
		draw_lane(canvas, lane);
	});
	canvas.addEventListener("pointerup", e => {
		const a = begun, b = second_at(e), click = Math.abs(a - b) < time_in_view().size / 400;
		begun = null;
		if (click)
			go_to(changed({ z: null, w: null, t: null, th: chosen && chosen.has(lane.ids[0]) && chosen.size === lane.ids.length ? null : only }));
		else
			choose_stretch(a, b, { th: only });
	});
	canvas.addEventListener("keydown", e => {
		const end = in_seconds(end_of_time()), step = end / 50, { from, to } = stretch_at_hand() || { from: 0, to: end };
		const moves = {
			ArrowLeft: e.shiftKey ? [from, Math.max(from + step, to - step)] : [from - step, to - step],
			ArrowRight: e.shiftKey ? [from, to + step] : [from + step, to + step],
			Home: [0, to - from], End: [end - (to - from), end], "+": [from + (to - from) / 4, to - (to - from) / 4],
			"-": [from - (to - from) / 2, to + (to - from) / 2], Enter: [from, to],
		};
		if (e.key === "Escape") {
			go_to(changed({ z: null, w: null, t: null, th: null }));
		} else if (moves[e.key] && !e.ctrlKey && !e.altKey && !e.metaKey) {
			e.preventDefault();
			kept_focus = lane.name;
			choose_stretch(...moves[e.key], e.key === "Enter" ? { th: only } : {});
		}
	});
	const row = el("tr", {}, el("th", { scope: "row", class: "name" }, el("label", {}, box, " " + lane.name)), el("td", { class: "n minor" }, cpu_event() ? amount_of(cpu_event(), lane.weight) : ""),
		el("td", { class: "lanes" }, canvas));
	setTimeout(() => { if (kept_focus === lane.name) { kept_focus = null; canvas.focus(); } });
	return row;
}

let kept_focus = null; // name of the lane that had the keyboard focus

function view_timeline() {
	const cpu = cpu_event(), taken = !cpu || cpu.unit === "ns" ? "CPU time" : cpu.name;
	known_lanes = known_lanes || lanes_of_threads();
	const chosen = threads_at_hand(), shown = known_lanes.slice(0, LANES), stretch = stretch_at_hand(), end = in_seconds(end_of_time());
	const from = el("input", { type: "number", min: "0", max: place_text(end), step: "any", value: place_text(stretch ? stretch.from : 0), "aria-label": "From second" });
	const to = el("input", { type: "number", min: "0", max: place_text(end), step: "any", value: place_text(stretch ? stretch.to : end), "aria-label": "to second" });
	const processes = [...new Set(known_lanes.map(l => l.pid))];
	const process = el("select", { "aria-label": "Process", onchange: () => go_to(changed({ z: null, w: null, th: process.value || null })) },
		el("option", { value: "" }, "all processes"), processes.map(pid => {
			const ids = known_lanes.filter(l => l.pid === pid).flatMap(l => l.ids).join(",");
			return el("option", { value: ids, selected: !!chosen && ids === [...chosen].join(",") }, `process ${pid || "?"}`);
		}));
	const kinds = KINDS.map((k, i) => (data.events.some(e => e.kind === k) ? el("span", { class: "key k" + i }, KIND_NAMES[i]) : null));
	const rows = list_functions().filter(r => r.self > 0).sort((a, b) => b.self - a.self).slice(0, 12), now = look();
	const ordered = is_part() || known_lanes.length === 1 ? flame_graph({ ...how_of_address(), kind: "time", up: false }) : null;
	const strips = [axis(), ...(markers_there().length ? [marker_strip()] : [])];
	const redraw = () => {
		if (!strips[0].isConnected)
			return;
		strips.forEach(s => s.place());
		main.querySelectorAll(".lane").forEach((c, i) => draw_lane(c, shown[i]));
	};
	setTimeout(redraw);
	addEventListener("resize", redraw, { signal: leaving.signal });
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal: leaving.signal });
	return [
		el("form", { class: "tools", onsubmit: e => { e.preventDefault(); choose_stretch(Number(from.value), Number(to.value)); } },
			el("label", {}, "From ", from), el("label", {}, "to ", to, " s"), el("button", { type: "submit" }, "Look at this"),
			stretch ? el("a", { href: changed({ v: stretch_text(stretch.from, stretch.to) }) }, "Zoom to it") : null,
			state.keys.v ? el("a", { href: changed({ v: null }) }, "Show all of the time") : null, processes.length > 1 ? process : null, kinds),
		el("details", { class: "note" }, el("summary", {}, "How to read this"), "Each row is a thread. Drag along a row for a stretch of its time, click for the thread, Escape for all. With keys: arrows move the stretch, " +
			"Shift and arrows change its end, + and - its width, Enter takes the thread. Ctrl and the wheel zoom, Shift and the wheel move. All other views are then about that."),
		region("Threads over time", table_of("Threads over time", "time", [head("Thread"), head(taken, "n minor"),
			head(strips, "lanes")], shown.map(l => lane_row(l, chosen, redraw)))),
		known_lanes.length > shown.length ? el("p", { class: "note" }, `${count(known_lanes.length - shown.length)} threads with less ${taken} are not shown.`) : null,
		markers_there().length ? el("details", { class: "note" }, el("summary", {}, markers_there().length === 1 ? "A marker" : `${count(markers_there().length)} markers`),
			el("ul", {}, markers_there().map(m => el("li", {}, marker_link(m, null, marker_text(m)))))) : null,
		el("h2", {}, "What was done there"),
		el("p", {}, `${amount(now.total[0])} of ${event_of().name}, ${count(now.samples)} samples, ${percent(now.total[0] / (now.whole || 1))} of the whole. `,
			el("a", { href: link_to("flame") }, "Flame graph of it"), " ", el("a", { href: link_to("flame", "", { how: "time" }) }, "in the order of time")),
		lossy_note(), sortable(function_columns(), rows, sorting(), "Functions in this stretch of time").element, waits_card(),
		ordered ? [el("h2", {}, "In the order of time"), ordered.search, ordered.box] : null,
	];
}
