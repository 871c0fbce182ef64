// Sums over call paths and samples. Does not touch the document.
//
// Nodes are in preorder: a caller, then everything below it; node 0 is the root. The number of
// functions, `others`, as a function, stands for dropped nodes.

const signed_of = d => (d % 2 ? -(d + 1) / 2 : d / 2); // as differences are in columns

function make_paths(data, others) {
	const c = data.columns, n = c.node_up.length + 1, names = data.functions.name.length;
	const caller = new Uint32Array(n), fn = new Uint32Array(n), depth = new Uint32Array(n);
	for (let i = 1, at = 0; i < n; i++) {
		for (let up = c.node_up[i - 1]; up; up--)
			at = caller[at];
		caller[i] = at;
		depth[i] = depth[at] + 1;
		fn[i] = c.node_function[i - 1] < names ? c.node_function[i - 1] : others;
		at = i;
	}
	const n_samples = c.sample_time.length, time = new Float64Array(n_samples), node = new Uint32Array(n_samples);
	for (let i = 0, t = 0, at = 0; i < n_samples; i++) {
		time[i] = t += c.sample_time[i];
		node[i] = at += signed_of(c.sample_node[i]);
	}
	const object = new Int32Array(n_samples);
	fn[0] = others + 1; // the root has no function
	for (let i = 0; i < n_samples; i++) // samples of dropped nodes have an object of their own
		object[i] = node[i] && fn[node[i]] < names ? data.functions.object[fn[node[i]]] : c.sample_object[i] - 1;
	return {
		n, caller, fn, depth, others, n_samples, time, node, object,
		thread: Uint32Array.from(c.sample_thread), event: Uint32Array.from(c.sample_event),
		weight: c.sample_weight, count: c.sample_count, place: Uint32Array.from(c.sample_place), n_places: c.place_line.length,
		lost: { event: c.lost_event, fn: c.lost_function, self: c.lost_self, total: c.lost_total, own: c.lost_own.map((d, i) => c.lost_self[i] + signed_of(d)) }, exact: true,
	};
}

// ---- selections: { event, side, from, to, threads, object } -> weights; from, to: units of time,
// `to` excluded; object: where samples were taken; null: all

function passes(paths, at, i) {
	return (at.from === null || (paths.time[i] >= at.from && paths.time[i] < at.to)) &&
		(!at.threads || at.threads.has(paths.thread[i])) && (at.object === null || paths.object[i] === at.object);
}

function is_whole(at) { return at.from === null && !at.threads && at.object === null; }

// Weights of the samples that end at each node; number of samples.
function own_of(paths, at) {
	const own = new Float64Array(paths.n), key = at.event * 2 + at.side, all = is_whole(at);
	let samples = 0;
	for (let i = 0; i < paths.n_samples; i++)
		if (paths.event[i] === key && (all || passes(paths, at, i))) {
			own[paths.node[i]] += paths.weight[i];
			samples += paths.count[i];
		}
	return { own, samples };
}

// The same by place (the instruction at which samples were taken); [0]: place not known.
function own_of_places(paths, at) {
	const own = new Float64Array(paths.n_places + 1), samples = new Float64Array(paths.n_places + 1), key = at.event * 2 + at.side;
	for (let i = 0; i < paths.n_samples; i++)
		if (paths.event[i] === key && passes(paths, at, i)) {
			own[paths.place[i]] += paths.weight[i];
			samples[paths.place[i]] += paths.count[i];
		}
	return { own, samples };
}

function totals_of(paths, own) {
	const total = own.slice();
	for (let i = paths.n - 1; i > 0; i--)
		total[paths.caller[i]] += total[i];
	return total;
}

// Walks over all nodes: enter(node), and leave(node) once everything below it was entered.
function walk(paths, enter, leave) {
	for (let i = 1, at = 0; i < paths.n; i++) {
		for (; at !== paths.caller[i]; at = paths.caller[at])
			leave(at);
		enter(i);
		at = i;
	}
}

// Self and inclusive time by function. If a function recurs on a path only its outermost node
// counts.
function sums_of(paths, at, own, total) {
	const self = new Float64Array(paths.others + 2), all = new Float64Array(paths.others + 2);
	const above = new Uint32Array(paths.others + 2), { fn, lost } = paths;
	walk(paths, i => {
		self[fn[i]] += own[i];
		if (!above[fn[i]]++)
			all[fn[i]] += total[i];
	}, i => { above[fn[i]]--; });
	const lossy = new Uint8Array(paths.others + 2), key = at.event * 2 + at.side;
	for (let i = 0; i < lost.fn.length; i++) {
		if (lost.event[i] !== key)
			continue;
		if (is_whole(at) && paths.exact) {
			self[lost.fn[i]] += lost.self[i];
			all[lost.fn[i]] += lost.total[i];
		} else {
			lossy[lost.fn[i]] = 1; // how much of a selection was dropped is not known
		}
	}
	return { self, total: all, lossy };
}

// All calls, [{ from, to, time }]: functions, and the time of the samples with the call on their path. A sample counts
// once per call, however often the call recurs. The root's function stands for unknown callers.
function calls_on(paths, total) {
	const calls = new Map(), path = [], { fn, caller } = paths;
	walk(paths, i => {
		const from = fn[caller[i]], key = from * (paths.others + 2) + fn[i], call = calls.get(key) || { from, to: fn[i], time: 0, above: 0 };
		calls.set(key, call);
		if (!call.above++)
			call.time += total[i];
		path.push(call);
	}, () => { path.pop().above--; });
	return [...calls.values()];
}

// The time of paths with at least one of the functions in `has`: at least `low`, at most `high`.
// These differ if nodes were dropped: the file has the dropped time of each function, but not of
// several together.
function share_of(paths, at, own, total, sums, has) {
	let seen = 0, hidden = 0, most = 0, self = 0, all = 0, known = is_whole(at) && paths.exact;
	let inside = 0; // depth of the matching node that the walk is below; 0: none
	for (let i = 1; i < paths.n; i++) {
		if (inside && paths.depth[i] > inside)
			continue;
		inside = 0;
		if (paths.fn[i] === paths.others) {
			hidden += total[i];
		} else if (has[paths.fn[i]]) {
			seen += total[i];
			inside = paths.depth[i];
		}
	}
	if (!hidden)
		return { low: seen, high: seen };
	for (let f = 0; f < paths.others; f++)
		if (has[f]) {
			most = Math.max(most, sums.total[f]);
			self += sums.self[f];
			all += sums.total[f];
		}
	return { low: Math.max(seen, most, self), high: known ? Math.min(seen + hidden, Math.max(all, seen)) : seen + hidden };
}

// ---- flame graphs

function wider(old) {
	const wide = new old.constructor(old.length * 2);
	wide.set(old);
	return wide;
}

// A growing tree. at() finds or adds the node of a function below a node; add() always adds one.
// `other`: the tree has a second set of weights to compare with.
//
// Most nodes get their children in one pass, each function once, so no search is needed. A node
// that a second path reaches becomes shared(): from then on its children, including those it
// already has, are in a table. size: expected number of nodes.
function growing(others, other, size) {
	const column = type => new type(size || 1 << 12);
	const tree = { n: 1, parent: column(Uint32Array), fn: column(Uint32Array), own: column(Float64Array), other: other && column(Float64Array) };
	let child = null, next, is_shared; // last child of a node; previous sibling; whether the node is shared; null: no node is shared
	let slots = new Uint32Array(1 << 12), used = 0, mask = slots.length - 1; // open addressing; 0: free
	tree.fn[0] = others + 1;
	const link = i => {
		next[i] = child[tree.parent[i]];
		child[tree.parent[i]] = i;
	};
	const place = (parent, fn) => {
		let i = Math.imul(Math.imul(parent, 0x9e3779b1) ^ fn, 0x85ebca6b);
		for (i = (i ^ i >>> 15) & mask; slots[i] && (tree.parent[slots[i]] !== parent || tree.fn[slots[i]] !== fn); i = (i + 1) & mask);
		return i;
	};
	const enter = i => {
		if (++used * 2 > slots.length) {
			const old = slots;
			slots = new Uint32Array(old.length * 2);
			mask = slots.length - 1;
			for (const k of old)
				if (k)
					slots[place(tree.parent[k], tree.fn[k])] = k;
		}
		slots[place(tree.parent[i], tree.fn[i])] = i;
	};
	tree.add = (parent, fn) => {
		const i = tree.n++;
		if (i === tree.fn.length) {
			for (const key of ["parent", "fn", "own", ...(other ? ["other"] : [])])
				tree[key] = wider(tree[key]);
			if (child)
				[child, next, is_shared] = [child, next, is_shared].map(wider);
		}
		tree.parent[i] = parent;
		tree.fn[i] = fn;
		if (child)
			link(i);
		if (child && is_shared[parent])
			enter(i);
		return i;
	};
	tree.shared = i => {
		if (!child) {
			[child, next, is_shared] = [Uint32Array, Uint32Array, Uint8Array].map(type => new type(tree.fn.length));
			for (let k = 1; k < tree.n; k++)
				link(k);
		}
		if (is_shared[i])
			return;
		is_shared[i] = 1;
		for (let c = child[i]; c; c = next[c])
			enter(c);
	};
	tree.at = (parent, fn) => {
		const known = child && is_shared[parent] ? slots[place(parent, fn)] : 0;
		if (known)
			tree.shared(known);
		return known || tree.add(parent, fn);
	};
	return tree;
}

// Compares siblings for their order from left to right; null: as they were added.
function rank_of(tree, by, name) {
	return by === "left" ? (a, b) => tree.total[b] - tree.total[a] || a - b : by === "name" ? (a, b) => {
		const [x, y] = [name(tree.fn[a]), name(tree.fn[b])];
		return x < y ? -1 : x > y ? 1 : a - b;
	} : null;
}

// Sets the positions of a node's children; the node's own position must be set.
function place_children(tree, i, list, rank) {
	if (rank && list.length > 1)
		list.sort(rank);
	let x = tree.first[i];
	for (const c of list) {
		tree.first[c] = x;
		tree.end[c] = x += tree.total[c];
	}
	return list;
}

// Paths from the leaves to the callers. The result has the interface of laid_out(), but the
// children of a node are made when children() is called for it: these trees are large, and few of
// their nodes are wide enough to be visible. The paths through a node are adjacent: leaf[] has
// their leaves, node[] their next callers. In an address a node is one of its leaves and its depth.
function inverted(paths, own, other, by, name) {
	const tree = { n: 1, deepest: 0 }, lists = [], slot = new Uint32Array(paths.others + 2), types = { parent: Uint32Array, fn: Uint32Array, depth: Uint32Array,
		leaf: Uint32Array, start: Uint32Array, stop: Uint32Array, own: Float64Array, total: Float64Array, first: Float64Array, end: Float64Array };
	if (other)
		types.change = Float64Array;
	for (const key in types)
		tree[key] = new types[key](1 << 12);
	let leaf = new Uint32Array(paths.n), n = 0;
	const add_up = (i, from) => {
		tree.total[i] += own[from];
		if (other)
			tree.change[i] += other[from];
	};
	const add = (parent, fn, from) => {
		const i = tree.n++;
		if (i === tree.fn.length)
			for (const key in types)
				tree[key] = wider(tree[key]);
		tree.parent[i] = parent;
		tree.fn[i] = fn;
		tree.depth[i] = tree.depth[parent] + 1;
		tree.leaf[i] = from;
		return i;
	};
	for (let i = 0; i < paths.n; i++)
		if (own[i] || (other && other[i])) {
			leaf[n++] = i;
			add_up(0, i);
			tree.deepest = Math.max(tree.deepest, paths.depth[i]);
		}
	leaf = leaf.slice(0, n);
	const node = leaf.slice(), rank = rank_of(tree, by, name);
	tree.fn[0] = paths.others + 1;
	tree.stop[0] = n;
	tree.end[0] = tree.total[0];
	tree.own[0] = own[0];
	tree.children = i => {
		if (lists[i])
			return lists[i];
		const from = tree.start[i], leaves = leaf.slice(from, tree.stop[i]), nodes = node.slice(from, tree.stop[i]), least = tree.n;
		nodes.forEach((k, e) => {
			if (!k)
				return;
			const c = slot[paths.fn[k]] = slot[paths.fn[k]] || add(i, paths.fn[k], leaves[e]);
			tree.stop[c]++;
			add_up(c, leaves[e]);
		});
		for (let c = least, to = from; c < tree.n; c++) { // turn sizes into offsets
			tree.start[c] = to;
			to += tree.stop[c];
			tree.stop[c] = tree.start[c];
		}
		nodes.forEach((k, e) => {
			if (!k)
				return;
			const c = slot[paths.fn[k]], x = tree.stop[c]++;
			leaf[x] = leaves[e];
			node[x] = paths.caller[k];
			if (!node[x])
				tree.own[c] += own[leaves[e]];
		});
		const list = new Uint32Array(tree.n - least).map((_, k) => least + k);
		for (const c of list)
			slot[tree.fn[c]] = 0;
		return lists[i] = place_children(tree, i, list, rank);
	};
	tree.key = i => (i ? `${tree.leaf[i]}.${tree.depth[i]}` : null);
	tree.reach = key => {
		let i = 0, [k, depth] = /^\d+\.\d+$/.test(key) ? key.split(".").map(Number) : [0, 0];
		for (; depth-- && k && k < paths.n; k = paths.caller[k])
			i = tree.children(i).find(c => tree.fn[c] === paths.fn[k]) || i;
		return i;
	};
	for (let i = 0; other && i < tree.n; i++) // colours depend on the largest change of all nodes
		tree.children(i);
	return tree;
}

// The tree below (or, with `up`, above) the outermost calls of a function.
function around(paths, own, other, f, up, total, total_other) {
	const tree = growing(paths.others, other), root = tree.add(0, f), place = new Uint32Array(paths.n);
	tree.shared(root);
	for (let i = 1; i < paths.n; i++) {
		const outer = place[paths.caller[i]];
		if (outer) {
			place[i] = up ? outer : tree.at(outer, paths.fn[i]);
		} else if (paths.fn[i] === f) {
			let at = root;
			for (let k = paths.caller[i]; up && k; k = paths.caller[k])
				at = tree.at(at, paths.fn[k]);
			place[i] = at;
			if (up) {
				tree.own[at] += total[i];
				if (other)
					tree.other[at] += total_other[i];
			}
		}
		if (place[i] && !up) {
			tree.own[place[i]] += own[i];
			if (other)
				tree.other[place[i]] += other[i];
		}
	}
	return tree;
}

// Folds recursion: a function that is already on the path reuses its node there. times: how often a
// node's function was on one path, at most; place: the tree's node of each node.
function folded(paths, own, other, place = new Uint32Array(paths.n)) {
	const tree = growing(paths.others, other, paths.n + 1), on_path = new Int32Array(paths.others + 2).fill(-1);
	const before = new Int32Array(paths.n), depth = new Uint32Array(paths.others + 2), times = tree.times = [];
	walk(paths, i => {
		const f = paths.fn[i];
		depth[f]++;
		before[i] = on_path[f];
		if (on_path[f] >= 0)
			tree.shared(on_path[f]);
		place[i] = on_path[f] >= 0 ? on_path[f] : tree.at(place[paths.caller[i]], f);
		on_path[f] = place[i];
		times[place[i]] = Math.max(times[place[i]] || 0, depth[f]);
		tree.own[place[i]] += own[i];
		if (other)
			tree.other[place[i]] += other[i];
	}, i => { on_path[paths.fn[i]] = before[i]; depth[paths.fn[i]]--; });
	tree.own[0] += own[0];
	return tree;
}

const SLOTS = 4000; // intervals of time: a thread's samples in one interval are combined

// Samples in order of time, thread by thread: functions that stay on the stack continue their
// frame.
function in_time(paths, at, names_of_threads) {
	const tree = growing(paths.others), key = at.event * 2 + at.side, list = [];
	for (let i = 0; i < paths.n_samples; i++)
		if (paths.event[i] === key && passes(paths, at, i))
			list.push(i);
	const first = list.length ? paths.time[list[0]] : 0, last = list.length ? paths.time[list[list.length - 1]] : 0;
	const width = Math.max(1, (last - first) / SLOTS), slot = i => list.length > SLOTS ? Math.floor((paths.time[i] - first) / width) : paths.time[i];
	list.sort((a, b) => paths.thread[a] - paths.thread[b] || slot(a) - slot(b) || paths.node[a] - paths.node[b]);
	const place = new Uint32Array(paths.n); // the tree's node for each node on the current path
	let thread = -1, top = 0, at_node = 0;
	for (const i of list) {
		const node = paths.node[i], way = [];
		if (paths.thread[i] !== thread) {
			thread = paths.thread[i];
			top = tree.add(0, paths.others + 2 + thread);
			at_node = 0;
			names_of_threads.add(thread);
		}
		place[0] = top;
		let a = at_node, b = node; // down to the common caller
		while (a !== b)
			if (paths.depth[a] >= paths.depth[b] && a) {
				a = paths.caller[a];
			} else {
				way.push(b);
				b = paths.caller[b];
			}
		for (let k = way.length - 1; k >= 0; k--)
			place[way[k]] = tree.add(place[paths.caller[way[k]]], paths.fn[way[k]]);
		tree.own[place[node]] += paths.weight[i];
		at_node = node;
	}
	return tree;
}

// Computes sums and positions of a tree's nodes: a child extends from `first` to `end` within its
// parent. Positions are computed when children() is called for the parent, because most nodes are
// too narrow to be visible. reach() does that for all nodes on the way to the node that key() has
// put into an address.
function laid_out(from, by, name) {
	const { n } = from, [parent, fn, own] = [from.parent, from.fn, from.own].map(column => column.subarray(0, n));
	const tree = { n, parent, fn, own, total: own.slice(), change: from.other && from.other.slice(0, n), times: from.times, depth: from.depth, deepest: 0,
		first: new Float64Array(n), end: new Float64Array(n) }, { total, change } = tree;
	const start = new Uint32Array(n + 1), children = new Uint32Array(Math.max(n - 1, 0));
	for (let i = n - 1; i > 0; i--) {
		total[parent[i]] += total[i];
		if (change)
			change[parent[i]] += change[i];
		start[parent[i]]++;
	}
	for (let i = 1; i <= n; i++)
		start[i] += start[i - 1];
	for (let i = n - 1; i > 0; i--)
		children[--start[parent[i]]] = i;
	const depth = tree.depth = from.depth || new Uint32Array(n);
	for (let i = 1; i < n; i++) {
		depth[i] = depth[parent[i]] + 1;
		if (depth[i] > tree.deepest)
			tree.deepest = depth[i];
	}
	const is_known = new Uint8Array(n), rank = rank_of(tree, by, name);
	tree.end[0] = total[0];
	tree.children = i => {
		const list = children.subarray(start[i], start[i + 1]);
		if (!is_known[i])
			place_children(tree, i, list, rank);
		is_known[i] = 1;
		return list;
	};
	tree.key = i => i || null;
	tree.reach = key => {
		const i = /^\d+$/.test(key) && key < n ? Number(key) : 0, way = [];
		for (let k = i; k; k = parent[k])
			way.push(parent[k]);
		way.reverse().forEach(tree.children);
		return i;
	};
	return tree;
}

// `own`: weights of the selection; `other`: weights to compare with, or null. how: { kind: "down",
// "inverted", "callers", "callees", "folded" or "time", f, order }.
function flame_of(paths, at, own, other, how, name, threads) {
	let tree;
	switch (how.kind) {
	case "inverted":
		return inverted(paths, own, other, how.order, name);
	case "callers":
	case "callees":
		tree = around(paths, own, other, how.f, how.kind === "callers", totals_of(paths, own), other && totals_of(paths, other));
		break;
	case "folded":
		tree = folded(paths, own, other);
		break;
	case "time":
		tree = in_time(paths, at, threads);
		break;
	default:
		tree = { n: paths.n, parent: paths.caller, fn: paths.fn, own, other, depth: paths.depth };
	}
	return laid_out(tree, how.kind === "time" ? null : how.order, name);
}
