// The current view of the data: functions and their times for the event, interval and threads in
// the address.

let data = null, paths = null; // paths: as they are shown; null if there are no samples
let all_paths = null;          // as they were recorded
let functions = [];            // all functions: first those of paths, then those that only tables have
const by_name = new Map();     // "name\nobject" -> function; inlined ones are "name (inlined)\nobject"; of several of
                               // one name the first, and each as "name\nobject\naddress"
const by_index = new Map();    // index in the call graph's table -> function
const by_cycle = new Map();    // number of the cycle -> its rows
const blocks = new Map();      // index in the call graph -> its rows

let forms = new Map();         // names of functions -> the forms in which people read them

const shown_of = name => forms.get(name) || name;
const plain_name = name => name.replace(/ <cycle \d+>$/, "");

function add_function(f) {
	f.id = functions.length;
	f.shown = shown_of(f.name);
	functions.push(f);
	const key = f.name + (f.kind & 2 ? " (inlined)" : "") + "\n" + base_name(f.object);
	if (!by_name.has(key))
		by_name.set(key, f);
	if (f.address)
		by_name.set(key + "\n" + f.address, f);
	return f;
}

// The function of a name as shown, or undefined. The address counts if several have the name.
function function_named(name, object, address) {
	const key = name + "\n" + base_name(object || "");
	return by_name.get(key + "\n" + address) || by_name.get(key);
}

// Adds what only tables have: calls, cycles, and, without samples, times.
function take_rows() {
	for (const row of rows_of(data.tables.functions)) {
		const name = plain_name(row.name), known = function_named(name, row.object, row.address);
		const f = known && !known.row ? known : add_function({ name, object: row.object || "", kind: 0, address: row.address });
		Object.assign(f, { calls: row.calls, cycle: row.cycle, index: row.index, row });
		by_index.set(row.index, f);
	}
	let block = null;
	for (const row of rows_of(data.tables.graph)) {
		if (!block || block.group !== row.group)
			block = { group: row.group, rows: [], row: null };
		block.rows.push(row);
		if (row.kind === "function" || row.kind === "cycle") {
			block.row = row;
			blocks.set(row.index, block);
		}
		if (row.kind === "function" && !by_index.has(row.index)) { // functions without time of their own
			const f = add_function({ name: plain_name(row.name), object: row.object || "", kind: 0 });
			Object.assign(f, { calls: row.called, cycle: row.cycle, index: row.index, row });
			by_index.set(row.index, f);
		}
	}
	for (const row of rows_of(data.tables.cycles)) {
		if (!by_cycle.has(row.cycle))
			by_cycle.set(row.cycle, []);
		by_cycle.get(row.cycle).push(row);
	}
}

// Addresses without a name: the only one of a library needs no address.
function name_addresses() {
	const nameless = data.shown ? functions.filter(f => f.object && f.object[0] !== "[" && f.name.startsWith("[0x")) : [], count = new Map();
	for (const f of nameless)
		count.set(f.object, (count.get(f.object) || 0) + 1);
	for (const f of nameless)
		f.shown = `${base_name(f.object)} (no symbols)` + (count.get(f.object) > 1 ? " " + f.name : "");
}

let libraries = []; // for each function of others its number in own code: that of its library, or its own

// Adds the functions that stand for libraries where there is no own code: "[libc.so.6]".
function add_libraries() {
	const known = new Map();
	libraries = functions.slice().map(f => {
		const name = f.object[0] !== "[" ? `[${base_name(f.object)}]` : f.object === "[unknown]" && f.kind & 1 ? "[kernel]" : f.object;
		const key = name + "\n" + f.object;
		if (f.kind & (OWN | NOTE | BARE) || f.name === name)
			return f.id;
		if (!known.has(key))
			known.set(key, (functions.find(x => x.name === name && x.object === f.object) || add_function({ name, object: f.object, kind: f.kind & 1 })).id);
		return known.get(key);
	});
}

function take_data(read) {
	data = read;
	forms = new Map(Object.entries(data.shown || {}));
	if (data.functions) {
		data.functions.name.forEach((name, i) => add_function({ name, object: data.objects[data.functions.object[i]],
			kind: data.functions.kind[i], address: data.functions.address[i] }));
		if (data.own)
			add_libraries();
		all_paths = paths = make_paths(data, functions.length);
	}
	take_rows();
	name_addresses();
}

const facts = () => (data.tables.functions ? data.tables.functions.properties : {});
const is_comparison = () => !!data.runs && data.runs.length > 1;
const has_calls = () => functions.some(f => f.calls !== null && f.calls !== undefined);

// The name of a flame-graph frame: a function, dropped nodes, the root, or a thread.
function name_of(fn) {
	if (!paths || fn < paths.others)
		return functions[fn].shown;
	if (fn === paths.others)
		return "others";
	return fn === paths.others + 1 ? "all" : thread_name(fn - paths.others - 2);
}

function thread_name(i) {
	const [name, pid, tid] = data.threads[i];
	return `${name || "thread"}${tid ? ` ${tid}` : pid ? ` ${pid}` : ""}`;
}

// ---- selections in the address

function event_at_hand() {
	const i = data.events.findIndex(e => e.name === state.keys.e);
	return i < 0 ? 0 : i;
}

const event_of = () => data.events[event_at_hand()];

const amount_of = (event, v) => (event.unit === "ns" ? seconds(v / 1e9) : count(Math.round(v)));

function amount(v) { return amount_of(event_of(), v); }

function stretch_at_hand() { // the interval, in seconds since the first sample
	const [from, to] = (state.keys.t || "").split("-").map(Number);
	return data.unit_ns && state.keys.t && from < to ? { from, to } : null;
}

const in_seconds = units => units * data.unit_ns / 1e9;
const in_units = s => s * 1e9 / data.unit_ns;

function threads_at_hand() {
	const list = (state.keys.th || "").split(",").filter(x => x !== "").map(Number).filter(i => i < data.threads.length);
	return list.length ? new Set(list) : null;
}

// The number of the program or library that samples were taken in, or null: any.
function object_at_hand() { return data.objects[state.keys.o] === undefined ? null : Number(state.keys.o); }

// The function in focus, which views mark or begin with, or null.
function focus_at_hand() {
	const id = state.view === "function" ? state.arg : state.keys.f;
	return (/^\d+$/.test(id) && functions[id]) || null;
}

// Whether the code of others is folded, in this address.
const own_at_hand = () => !!data.own && (state.keys.own ? state.keys.own === "1" : data.own.begins);
const other_code = () => changed({ own: own_at_hand() === data.own.begins ? String(Number(!data.own.begins)) : null, z: null, w: null });

// How stacks can be rewritten: by a letter, as in an address; parts: fewer of them are left.
const REWRITES = {
	x: { make: paths_without, text: f => `without ${f}`, act: "leave out", help: "leaves out all stacks with it", parts: true },
	m: { make: merged_paths, text: f => `${f} in its callers`, act: "merge", help: "takes it out of all stacks: its callers have its Self" },
	r: { make: rooted_paths, text: f => `from ${f} on`, act: "as root", help: "only stacks with it, from it on", parts: true },
	c: { make: paths_without_recursion, text: () => "recursion folded", act: "fold recursion", help: "a function that is on the stack already is not there again" },
};

function rewrites_at_hand() {
	return (state.keys.tr || "").split(".").map(text => ({ text, how: REWRITES[text[0]], f: functions[text.slice(1)] }))
		.filter(r => r.how && (r.how.make.length < 2 || (r.f && r.f.id < all_paths.others)));
}

const with_rewrite = text => changed({ tr: [...rewrites_at_hand().map(r => r.text), REWRITES[text[0]].make.length < 2 ? text[0] : text].join("."), z: null, w: null });

// Links to what rewrites the stacks of a function.
function rewrite_links(fn) {
	return fn < paths.others ? Object.keys(REWRITES).flatMap(k => [el("a", { href: with_rewrite(k + fn), title: `${REWRITES[k].help} (key ${k})` }, REWRITES[k].act), " "]) : [];
}

let known_paths = null;

// The paths for this address.
function paths_at_hand() {
	const rewrites = rewrites_at_hand(), key = own_at_hand() + rewrites.map(r => r.text).join(".");
	if (!known_paths || known_paths.key !== key) {
		let made = own_at_hand() ? own_paths(all_paths, data.functions.kind, libraries) : all_paths;
		for (const { how, f } of rewrites)
			made = how.make(made, f && f.id);
		known_paths = { key, made };
	}
	return known_paths.made;
}

// What a function is known as to those who pay for it.
function payee_name(f, is_script) {
	if (f.kind & 1)
		return /^(entry_SYSCALL|do_syscall|el0_svc|el0t_64_sync|entry_INT80|do_trap_ecall)/.test(f.name) ? "system calls" : f.name.includes("page_fault") ? "page faults" : "the kernel";
	return is_script || /^\[?0x/.test(f.name) ? base_name(f.object).replace(/(.)\.so.*/, "$1") : name_in_box(f.shown);
}

// What own functions pay for in the selection: function -> [[name, time]], most first. Computed once.
function payments_at_hand() {
	if (!own_at_hand())
		return new Map();
	const now = look();
	if (!now.payments) {
		now.payments = new Map();
		for (const [of, sums] of rewrites_at_hand().length ? [] : payments(all_paths, data.functions.kind, own_of(all_paths, now.at).own)) {
			const names = new Map();
			for (const [f, time] of sums) {
				const name = payee_name(functions[f], /^(py::|JS:)/.test(functions[of].name));
				names.set(name, (names.get(name) || 0) + time);
			}
			now.payments.set(of, [...names].sort((a, b) => b[1] - a[1]));
		}
	}
	return now.payments;
}

const is_part = () => !!(stretch_at_hand() || threads_at_hand() || object_at_hand() !== null || rewrites_at_hand().some(r => r.how.parts));

// Objects that samples of the event were taken in, most time first.
function objects_there() {
	const event = event_at_hand(), weights = new Map();
	for (let i = 0; i < paths.n_samples; i++)
		if (paths.event[i] >> 1 === event && paths.object[i] >= 0)
			weights.set(paths.object[i], (weights.get(paths.object[i]) || 0) + paths.weight[i]);
	return [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
}

let known_look = null;

// Sums for the current selection, computed once. Sides: one, or both of a comparison. Shares are of
// the whole recording.
function look() {
	const key = KEPT.map(k => state.keys[k]).join("\n");
	if (known_look && known_look.key === key)
		return known_look;
	const stretch = stretch_at_hand(), event = event_at_hand();
	const sides = (is_comparison() ? [0, 1] : [0]).map(side => {
		const at = { event, side, threads: threads_at_hand(), object: object_at_hand(), from: null, to: null };
		if (stretch) {
			at.from = Math.round(in_units(stretch.from));
			at.to = Math.round(in_units(stretch.to));
		}
		const { own, samples } = own_of(paths, at), runs = data.runs[side];
		let whole = 0;
		for (let i = 0; i < all_paths.n_samples; i++)
			if (all_paths.event[i] === event * 2 + side)
				whole += all_paths.weight[i];
		if (runs > 1 && is_comparison()) // a comparison shows the average of the runs
			own.forEach((v, i) => { own[i] = v / runs; });
		const total = totals_of(paths, own), sums = sums_of(paths, at, own, total);
		return { at, own, samples, total, sums, whole: is_comparison() ? whole / runs : whole };
	});
	known_look = { key, sides, ...sides[sides.length - 1] };
	known_look.has_lossy = known_look.sums.lossy.some(x => x);
	return known_look;
}

// The calls of the selection, computed once.
function calls_at_hand() {
	const now = look();
	return now.calls = now.calls || calls_on(paths, now.total);
}

// The total that shares refer to: the whole recording or, if the user chose that, the selection.
function share_base(now) { return (state.keys.rel ? now.total[0] : now.whole) || 1; }

// How much of the time has at least one of some functions on the stack. has: 1 at the functions'
// numbers.
function text_of_share(has) {
	const now = look(), { low, high } = share_of(paths, now.at, now.own, now.total, now.sums, has);
	const parts = [low, high].map(v => percent(v / share_base(now)));
	return parts[0] === parts[1] ? parts[0] : `${parts[0]} to ${parts[1]}`;
}

// All functions with their times, in seconds or events.
function list_functions() {
	if (!paths) {
		const total = facts().total > 0 ? facts().total : 0;
		return functions.map(f => {
			const self = f.row.self || 0, all = self + (f.row.children || 0);
			return { f, self, total: all, share: total ? self / total : 0, total_share: total ? all / total : 0 };
		});
	}
	const now = look(), base = share_base(now), rows = [];
	functions.forEach((f, i) => {
		const self = i < paths.others ? now.sums.self[i] : 0, total = i < paths.others ? now.sums.total[i] : 0;
		if (total || (f.calls && is_whole(now.at) && paths === all_paths))
			rows.push({ f, self, total, share: self / base, total_share: total / base, lossy: !!now.sums.lossy[i] });
	});
	return rows;
}

const show_time = v => (paths ? amount(v) : quantity(v, facts().dimension));
