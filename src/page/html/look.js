// The current view of the data: functions and their times for the event, interval and threads in
// the address.

let data = null, paths = null; // paths: null if there are no samples
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

function take_data(read) {
	data = read;
	forms = new Map(Object.entries(data.shown || {}));
	if (data.functions) {
		paths = make_paths(data);
		data.functions.name.forEach((name, i) => add_function({ name, object: data.objects[data.functions.object[i]],
			kind: data.functions.kind[i], address: data.functions.address[i] }));
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

const is_part = () => !!(stretch_at_hand() || threads_at_hand() || object_at_hand() !== null);

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
		for (let i = 0; i < paths.n_samples; i++)
			if (paths.event[i] === event * 2 + side)
				whole += paths.weight[i];
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
		if (total || (f.calls && is_whole(now.at)))
			rows.push({ f, self, total, share: self / base, total_share: total / base, lossy: !!now.sums.lossy[i] });
	});
	return rows;
}

const show_time = v => (paths ? amount(v) : quantity(v, facts().dimension));
