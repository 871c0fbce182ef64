// Summary, functions, a function with its callers and callees, cycles.

function cycle_mark(cycle) {
	return cycle === null || cycle === undefined ? null
		: el("a", { class: "cycle", href: link_to("cycle", cycle), title: "the cycle as a whole" }, ` ↻ cycle ${cycle}`);
}

function kind_mark(f) {
	const text = f.kind & 1 ? "kernel" : f.kind & 4 ? "run time" : f.kind & 2 ? "inlined" : "";
	return text ? el("span", { class: "tag" }, text) : null;
}

// A text on one line, with all of it on hover; a function by its form for people.
function line_of(name, link, shown, ...marks) {
	shown = shown || shown_of(name);
	return el("td", { class: "name function" }, el("div", { title: name }, link ? el("a", { href: link }, shown) : el("span", {}, shown), marks));
}

function name_cell(f) { return line_of(f.name, link_to("function", f.id), f.shown, kind_mark(f), cycle_mark(f.cycle)); }

const PAID = 3, LEAST_PAID = .005; // names beside a function, share of each

// What a function pays for, beside its name.
function paid_mark(f) {
	const base = share_base(look()), list = (payments_at_hand().get(f.id) || []).filter(([, time]) => time / base >= LEAST_PAID);
	const text = list.slice(0, PAID).map(([name, time]) => `${name} ${percent(time / base)}`).join(", ");
	return list.length ? el("span", { class: "paid", title: `${f.shown} pays for ${text}` }, text) : null;
}

const has_name = (test, f) => test(f.name) || test(f.shown);

function object_cell(f) {
	return el("td", { class: "object", title: f.object || null }, base_name(f.object || ""));
}

function function_columns() {
	const columns = [
		share_column("Self", r => r.share, "own time, as a share of the whole recording"),
		share_column("Children", r => r.total_share, "time with all it called, as a share of the whole recording"),
		minor(number_column("Self time", r => r.self, show_time)),
		minor(number_column("Children time", r => r.total, show_time)),
	];
	if (has_calls())
		columns.push(minor(number_column("Calls", r => r.f.calls, count)));
	columns.push({ title: "Function", key: r => r.f.shown, cell: r => {
		const cell = name_cell(r.f);
		cell.firstChild.append(...[own_at_hand() && paid_mark(r.f)].filter(x => x));
		return cell;
	} });
	if (functions.some(f => f.object && f.object !== functions[0].object))
		columns.push(minor({ title: "Object", key: r => base_name(r.f.object || ""), cell: r => object_cell(r.f) }));
	return columns;
}

// Notes about a cycle are shown with that cycle.
const is_about_cycle = note => /^(?:cycle|and) \d+[ :]/.test(note);

function notes_of(...tables) {
	const list = tables.flatMap(t => (t ? t.notes : [])).filter(n => !is_about_cycle(n) && !n.includes("--event NAME")); // the page has a selection of events instead
	const { functions: flat, graph } = data.tables;
	const estimated = !paths && ((flat && flat.properties.estimated) || (graph && graph.properties.estimated));
	if (estimated && !list.some(n => n.includes("estimated")))
		list.push("Times with callees are estimated: they were apportioned by call counts, as gprof does it.");
	return [...new Set(list)].map(n => el("p", { class: "note" }, n));
}

function lossy_note() {
	return paths && look().has_lossy ? el("p", { class: "note" },
		"≥: some paths too narrow for the size of this file are not in it, and what they add to a part of the recording " +
		"is not known. --max-size makes room for them.") : null;
}

function plain_table(rows, caption) {
	return region(caption, table_of(caption, null, null, rows));
}

// A field that selects functions by a text or /expression/, shows how much of the time has one of
// them on the stack, and leads to the first one. how: state of the table below; few: its rows while
// the field is empty; null: all functions.
function function_search(how, few, caption) {
	const chosen = text => {
		const test = pattern_of(text);
		return !text && few ? few : test ? list_functions().filter(r => has_name(test, r.f) || test(r.f.object || "")) : [];
	};
	const table = sortable(function_columns(), [], how, caption), said = el("span", { class: "soft" });
	const input = search_field("Functions", () => choose(), text => {
		const list = text ? chosen(text).sort((a, b) => b.self - a.self) : [];
		const found = list.find(r => has_name(name => name === text, r.f)) || list[0]; // prefer "malloc" to _int_malloc
		if (found)
			go_to(link_to("function", found.f.id));
	});
	function choose() {
		const list = chosen(input.value), has = new Uint8Array(functions.length);
		table.choose(list);
		list.forEach(r => { has[r.f.id] = 1; });
		said.textContent = !input.value ? "" : !pattern_of(input.value) ? "this is no regular expression"
			: `${count(list.length)} ${own_at_hand() ? "of own " : ""}functions, by name or library${paths ? `: ${text_of_share(has)} have one on the stack` : ""}`;
		say(said.textContent);
	}
	const shown = how.shown;
	choose();
	how.shown = shown;
	return { tools: el("div", { class: "tools" }, input, said), table: table.element };
}

// Whose code is listed, and how to see the other list.
function own_note() {
	if (!data.own)
		return null;
	const folded = own_at_hand(), { share, folded: paid } = data.own;
	return el("p", { class: "note" }, folded ? `Own code, with what it calls of others' in its Self (${percent(paid)} of the time); stacks without own code have a row for each library. `
		: `All functions. Own code is on the stack ${percent(share)} of the time. `, el("a", { href: other_code() }, folded ? "All functions" : "Own code"), ": key o");
}

function view_summary() {
	const info = rows_of(data.tables.info), figures = [];
	const fact = (about, name) => (info.find(r => r.about === about && r.fact === name) || {}).value;
	const figure = (text, what) => figures.push(el("div", {}, el("b", {}, text), what));
	figure(paths ? amount(look().whole) : facts().total ? show_time(facts().total) : "0", paths && event_of().name !== "samples" ? "of " + event_of().name : "in all");
	for (const s of info.filter(r => r.about === "samples" && r.fact !== "distinct stacks"))
		figure(count(s.value), s.fact === "samples" ? s.fact : "samples of " + s.fact); // the data names no event
	figure(count(list_functions().length), "functions");
	const lost = fact("audit", "lost");
	if (lost)
		figure(count(lost), "samples lost");
	const is_audit = r => r.about === "audit" || r.about === "check";
	const table = (rows, caption) => plain_table(rows.map(r => el("tr", {}, el("td", { class: "soft" }, r.about),
		el("td", {}, r.fact), el("td", { class: "name" }, count(r.value)), el("td", { class: "soft" }, r.detail || ""))), caption);
	const top = list_functions().sort((a, b) => b.share - a.share).filter(r => r.share > 0).slice(0, 12);
	const search = function_search(sorting(), top, "Functions with most time of their own");
	return [
		el("div", { class: "big" }, figures), data.warnings.map(w => el("p", { class: "warn" }, w)),
		notes_of(data.tables.functions, data.tables.graph), data.hints.map(h => el("p", { class: "note" }, `Hint: ${h}`)),
		data.findings.length ? [el("h2", {}, "What stands out"), el("ul", {}, data.findings.map(f => el("li", {}, f)))] : null,
		el("h2", {}, "Where the time was spent"), own_note(), search.tools, search.table, waits_card(), hottest_code(),
		by_cycle.size ? [el("h2", {}, "Cycles"), cycle_list()] : null,
		el("h2", {}, "How far to trust this"), table(info.filter(is_audit), "How far to trust this"),
		el("h2", {}, "What the data holds"), table(info.filter(r => !is_audit(r)), "What the data holds"),
	];
}

const listing = { how: sorting() }; // state as the user left it

function view_functions() {
	const search = function_search(listing.how, null, "Functions");
	return [own_note(), search.tools, notes_of(data.tables.functions), lossy_note(), search.table];
}

// ---- one function

// Callers and callees of a function, each [{ f or null, time or null, calls }], most time first.
function relatives(f) {
	const block = f.index === undefined ? null : blocks.get(f.index);
	const calls = { caller: new Map(), callee: new Map() }, lists = { caller: [], callee: [] };
	for (const row of block ? block.rows : []) {
		if (row.kind !== "caller" && row.kind !== "callee")
			continue;
		const other = by_index.get(row.index) || null;
		calls[row.kind].set(other, row.called);
		const time = row.self === null && row.children === null ? null : (row.self || 0) + (row.children || 0);
		if (!paths)
			lists[row.kind].push({ f: other, name: plain_name(row.name), time, calls: row.called });
	}
	if (paths && f.id < paths.others) {
		for (const call of calls_at_hand())
			for (const [kind, fn, end] of [["caller", call.from, call.to], ["callee", call.to, call.from]])
				if (end === f.id && call.time > 0) {
					const other = fn < paths.others ? functions[fn] : null;
					lists[kind].push({ f: other, name: other ? other.name : fn === paths.others ? "others" : "<spontaneous>",
						time: call.time, calls: calls[kind].get(other) });
				}
	}
	for (const kind in lists)
		lists[kind].sort((a, b) => (b.time || 0) - (a.time || 0));
	return lists;
}

// Functions of the same name are distinguished by their objects.
function relative_name(r, list) {
	const cell = name_cell(r.f);
	if (list.some(o => o !== r && o.f && o.f.name === r.f.name))
		cell.firstChild.append(el("span", { class: "tag" }, base_name(r.f.object || "")));
	return cell;
}

function relative_rows(list, base) {
	return list.map(r => el("tr", {},
		r.time === null ? el("td", { class: "n soft" }, "recursion") : share_cell(base ? r.time / base : 0),
		el("td", { class: "n" }, r.time === null ? "" : show_time(r.time)),
		has_calls() ? el("td", { class: "n minor" }, count(r.calls)) : null,
		has_calls() ? el("td", { class: "n minor" }, typeof r.calls === "number" && r.calls && r.time ? show_time(r.time / r.calls) : "") : null,
		r.f ? relative_name(r, list) : line_of(r.name)));
}

function relative_table(title, list, base) {
	return [el("h2", {}, `${title} (${count(list.length)})`), list.length ? region(title,
		table_of(title, null, [head("Share", "n"), head("Time", "n"), has_calls() ? [head("Calls", "n minor"), head("Per call", "n minor")] : null, head("Function")],
			relative_rows(list, base))) : el("p", { class: "soft" }, "None.")];
}

const DRAWN = 5; // neighbours on each side

// Draws the function with the callers and callees that have most time.
function neighbourhood(f, lists, base) {
	const most = kind => lists[kind].filter(r => r.f && r.f !== f && r.time > 0).slice(0, DRAWN), rows = new Map(list_functions().map(r => [r.f, r]));
	const call = (from, to, r) => ({ from, to, time: r.time, share: r.time / base, calls: number_of_calls(r.calls) });
	const calls = [...most("caller").map(r => call(r.f, f, r)), ...most("callee").map(r => call(f, r.f, r))];
	const nodes = [...new Set([f, ...calls.flatMap(c => [c.from, c.to])])].map(x => ({ f: x, share: 0, total_share: 0, ...rows.get(x) }));
	const link = x => (x === f ? link_to("graph") : link_to("function", x.id));
	return calls.length ? region("Neighbourhood in the call graph", drawing_of({ nodes, calls }, f, 5 * 260, link, null).element) : null;
}

// What an own function pays for.
function payments_of(f, base) {
	const list = payments_at_hand().get(f.id) || [];
	return list.length ? el("p", {}, "Self has what it calls of others': ", list.slice(0, 10).map(([name, time], i) => [i ? ", " : "", el("span", { class: "name" }, name), ` ${percent(time / (base || 1))}`]),
		list.length > 10 ? ` and ${count(list.length - 10)} more` : "") : null;
}

function view_function(argument) {
	const f = functions[Number(argument)];
	if (!f)
		return [el("p", {}, "There is no such function in this file.")];
	const row = list_functions().find(r => r.f === f) || { f, self: 0, total: 0, share: 0, total_share: 0 };
	const lists = relatives(f), base = paths ? share_base(look()) : facts().total || 0;
	document.title = `${f.shown} – ${data.title}`;
	const figure = (text, what) => el("div", {}, el("b", {}, text), what);
	return [
		el("h2", { class: "name title" }, f.shown, kind_mark(f)), f.shown === f.name ? null : el("p", { class: "name soft" }, f.name),
		own_at_hand() && !row.total && f.id < all_paths.others ? el("p", { class: "note" }, "Code of others: it is in the Self of the own functions that call it. ", el("a", { href: other_code() }, "All functions"), ": key o") : null,
		payments_of(f, base),
		el("p", { class: "soft" }, f.object || ""),
		el("div", { class: "big" }, figure(percent(row.share), `self: ${show_time(row.self)}`),
			figure(percent(row.total_share), `with callees: ${show_time(row.total)}`),
			f.calls ? figure(count(f.calls), "calls") : null),
		el("p", { class: "tools" },
			paths && f.id < paths.others ? [el("a", { href: link_to("flame", "", { f: f.id, how: "callers" }) }, "Flame graph of its callers"),
				el("a", { href: link_to("flame", "", { f: f.id, how: "callees" }) }, "and of what it calls"), ] : null,
			is_comparison() ? null : el("a", { href: link_to("graph", "", { f: f.id }) }, "In the call graph"), links_to_code(f)),
		lossy_note(), neighbourhood(f, lists, base || 1),
		relative_table("Called by", lists.caller, base), relative_table("Calls", lists.callee, base),
		notes_of(data.tables.graph),
		f.cycle ? [el("h2", {}, "In a cycle"), cycle_card(f.cycle)] : null,
	];
}

// ---- cycles

const verdict_text = { "confirmed": "confirmed: sampled stacks go round it", "unknown": "not known: too few stacks, or none, are in it",
	"not seen going round": "phantom: counted calls close it, and no stack goes round it" };

function cycle_card(cycle) {
	const rows = by_cycle.get(cycle) || [], head = rows.find(r => r.kind === "cycle");
	if (!head)
		return el("p", { class: "soft" }, "This cycle is not in the file.");
	const part = (what, title) => {
		const list = rows.filter(r => r.what === what && r.kind !== "cycle");
		return list.length ? [el("h3", {}, title), el("ul", {}, list.map(r => el("li", {},
			r.share === null || r.share === undefined ? "" : percent(r.share) + " ", el("span", { class: "name", title: r.name }, shown_of(r.name)),
			r.calls ? ` – ${count(r.calls)} calls` : "", r.samples ? ` – ${count(r.samples)} samples` : "")))] : null;
	};
	return el("section", { class: "card " + (head.verdict === "confirmed" ? "sure" : head.verdict === "unknown" ? "" : "phantom"),
		"aria-label": `Cycle ${cycle}` },
		el("h3", {}, el("a", { href: link_to("cycle", cycle) }, `↻ Cycle ${cycle}`), ` ${head.name}, ${percent(head.share || 0)}`),
		el("p", {}, verdict_text[head.verdict] || head.verdict || "", head.samples ? ` (${head.samples.replace("/", " of ")} samples)` : "",
			head.bound ? `; ${percent(head.least || 0)} to ${percent(head.bound)} of its samples do, with 95 % confidence` : ""),
		part("function", "Functions"), part("entry", "Ways in"), part("inner", "Calls within"), part("remove", "Without these there is no cycle"));
}

function cycle_list() {
	return [...by_cycle.keys()].map(c => ({ c, head: by_cycle.get(c).find(r => r.kind === "cycle") })).filter(x => x.head)
		.sort((a, b) => (b.head.share || 0) - (a.head.share || 0)).slice(0, DRAWN).map(({ c, head }) => el("p", {},
			el("a", { href: link_to("cycle", c) }, `↻ Cycle ${c}`), ` ${head.name}, ${percent(head.share || 0)}: ${head.verdict || ""}`));
}

function view_cycle(argument) { return [el("h2", {}, "A cycle of calls"), cycle_card(Number(argument))]; }
