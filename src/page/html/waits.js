// Where threads wait, and for whom.

// Time off the CPU: [{ event, thread, f, caller, time }], most first. f: the function that entered
// the kernel, or the innermost one; caller: the first function above it in another program or
// library. Both are numbers of functions, or null.
function waits_at_hand(event) {
	const now = look(), at = { ...now.at, event }, sums = new Map(), ends = new Map(), { fn, caller } = all_paths;
	const kind = f => (functions[f] ? functions[f].kind & 1 : 0), object = f => (f < paths.others ? functions[f].object : "");
	const end_of = node => {
		let i = node, f;
		while (i && caller[i] && kind(fn[i]))
			i = caller[i];
		f = fn[i];
		for (i = caller[i]; i && object(fn[i]) === object(f);)
			i = caller[i];
		return [f, i ? fn[i] : null];
	};
	for (let i = 0; i < all_paths.n_samples; i++) {
		if (all_paths.event[i] !== event * 2 + at.side || !passes(all_paths, at, i))
			continue;
		const node = all_paths.node[i];
		if (!ends.has(node))
			ends.set(node, end_of(node));
		const [f, by] = ends.get(node), key = `${all_paths.thread[i]} ${f} ${by}`;
		if (!sums.has(key))
			sums.set(key, { thread: all_paths.thread[i], f, caller: by, time: 0 });
		sums.get(key).time += all_paths.weight[i];
	}
	return [...sums.values()].sort((a, b) => b.time - a.time);
}

const WAITS = 8;

function waits_card() {
	const event = paths ? data.events.findIndex(e => e.kind === "blocked") : -1;
	if (event < 0 || event === event_at_hand())
		return null;
	const e = data.events[event].name, title = "Where it waits, and for whom", rows = waits_at_hand(event);
	const whole = rows.reduce((sum, r) => sum + r.time, 0);
	const link = f => (f === null || f >= paths.others ? name_of(f === null ? paths.others + 1 : f)
		: el("a", { href: link_to("function", f, { e }) }, functions[f].shown));
	const cell = f => el("td", { class: "name function" }, el("div", { title: functions[f] ? functions[f].name : null }, link(f)));
	return rows.length ? [el("h2", {}, title), region(title, table_of(title, null,
		[head("Share", "n"), head("Time", "n"), head("Thread"), head("Waits in"), head("For")], rows.slice(0, WAITS).map(r => el("tr", {}, share_cell(r.time / whole), el("td", { class: "n" }, seconds(r.time / 1e9)),
			el("td", { class: "name" }, el("a", { href: link_to("timeline", "", { e, th: r.thread }) }, thread_name(r.thread))), cell(r.f), cell(r.caller))))),
		el("p", { class: "note" }, `Shares are of ${seconds(whole / 1e9)} that threads were ${e}, summed over all. "For" is the nearest caller in another program or library.`)] : null;
}
