// Rewrites stacks: own code with the code of others folded into it, and what the user asked for. Each makes new paths of paths.
// Does not touch the document.

const OWN = 8, NOTE = 16, BARE = 32; // kinds of functions, beside those that have a mark
const GONE = 0xffffffff;

// Makes paths of a tree: place[node] is where a node's samples are in it; GONE: they are left out.
// lost: what functions lose in it; exact: that is known.
function rewritten(paths, tree, place, { lost, exact }) {
	const { n, parent, fn } = tree, size = new Uint32Array(n).fill(1), at = new Uint32Array(n), next = new Uint32Array(n).fill(1);
	for (let i = n - 1; i > 0; i--)
		size[parent[i]] += size[i];
	const made = { ...paths, n, caller: new Uint32Array(n), fn: new Uint32Array(n), depth: new Uint32Array(n), lost, exact };
	made.fn[0] = paths.fn[0];
	for (let i = 1; i < n; i++) { // a caller, then all below it
		const p = parent[i], to = at[i] = next[p];
		next[p] += size[i];
		next[i] = to + 1;
		made.caller[to] = at[p];
		made.depth[to] = made.depth[at[p]] + 1;
		made.fn[to] = fn[i];
	}
	const left = [];
	for (let i = 0; i < paths.n_samples; i++)
		if (place[paths.node[i]] !== GONE)
			left.push(i);
	if (left.length < paths.n_samples) {
		made.n_samples = left.length;
		for (const key of ["time", "thread", "event", "object", "weight", "count", "place"])
			made[key] = paths[key].length ? left.reduce((list, i, k) => { list[k] = paths[key][i]; return list; }, new paths[key].constructor(left.length)) : paths[key];
	}
	made.node = Uint32Array.from(left, i => at[place[paths.node[i]]]);
	return made;
}

// Folds the code of others: of a stack only own functions stay, and have what others do on their behalf. Without an own function
// it becomes one of its library. kind: of each function; library: the number of the function that stands for its library.
function own_paths(paths, kind, library) {
	const { n, caller, fn } = paths, tree = growing(paths.others, null, 1 << 12), place = new Uint32Array(n), lost = { event: [], fn: [], self: [], total: [] };
	const owner = new Uint32Array(n), below = new Uint32Array(n), notes = new Uint32Array(n); // where an own function, what it calls, and notes at the root are
	tree.shared(0);
	for (let i = 1; i < n; i++) {
		const c = caller[i], f = fn[i], is_note = f === paths.others || kind[f] & NOTE;
		owner[i] = owner[c];
		below[i] = below[c];
		notes[i] = notes[c];
		if (!is_note && kind[f] & OWN) {
			place[i] = owner[i] = below[i] = tree.at(below[c] || notes[c], f);
		} else if (is_note && below[c]) {
			place[i] = below[i] = tree.at(below[c], f);
		} else if (is_note) {
			place[i] = notes[i] = tree.at(notes[c], f);
		} else if (owner[c]) {
			place[i] = owner[c];
			tree.shared(owner[c]);
		} else {
			tree.shared(notes[c]);
			place[i] = tree.at(notes[c], library[f]);
		}
	}
	paths.lost.fn.forEach((f, i) => {
		const self = paths.lost.own[i], is_own = kind[f] & OWN;
		if (!self && !is_own)
			return;
		lost.event.push(paths.lost.event[i]);
		lost.fn.push(is_own || kind[f] & NOTE ? f : library[f]);
		lost.self.push(self);
		lost.total.push(is_own ? paths.lost.total[i] : self);
	});
	return rewritten(paths, tree, place, { lost, exact: true });
}

// What an own function calls of others, with the time that it takes on behalf of it: function -> Map of function -> time.
function payments(paths, kind, own) {
	const { n, caller, fn } = paths, owner = new Uint32Array(n), payee = new Uint32Array(n).fill(GONE), sums = new Map();
	for (let i = 1; i < n; i++) {
		const c = caller[i], f = fn[i];
		if (f === paths.others || kind[f] & (OWN | NOTE)) {
			owner[i] = f < paths.others && kind[f] & OWN ? i : 0;
			continue;
		}
		owner[i] = owner[c];
		payee[i] = payee[c] === GONE ? f : payee[c];
		if (!owner[i] || !own[i])
			continue;
		const of = fn[owner[i]], sum = sums.get(of) || new Map();
		sums.set(of, sum.set(payee[i], (sum.get(payee[i]) || 0) + own[i]));
	}
	return sums;
}

// Leaves out the stacks with a function.
function paths_without(paths, f) {
	const tree = growing(paths.others), place = new Uint32Array(paths.n);
	for (let i = 1; i < paths.n; i++)
		place[i] = place[paths.caller[i]] === GONE || paths.fn[i] === f ? GONE : tree.add(place[paths.caller[i]], paths.fn[i]);
	return rewritten(paths, tree, place, { lost: paths.lost, exact: !paths.lost.fn.length });
}

// Takes a function out of all stacks: its callers have its Self.
function merged_paths(paths, f) {
	const tree = growing(paths.others), place = new Uint32Array(paths.n);
	for (let i = 1; i < paths.n; i++) {
		const to = place[paths.caller[i]];
		if (paths.fn[i] === f)
			tree.shared(to);
		place[i] = paths.fn[i] === f ? to : tree.at(to, paths.fn[i]);
	}
	return rewritten(paths, tree, place, { lost: paths.lost, exact: !paths.lost.fn.length });
}

// Only the stacks with a function, from its outermost call on.
function rooted_paths(paths, f) {
	const tree = growing(paths.others), place = new Uint32Array(paths.n).fill(GONE);
	tree.shared(0);
	for (let i = 1; i < paths.n; i++) {
		const to = place[paths.caller[i]];
		if (to !== GONE || paths.fn[i] === f)
			place[i] = tree.at(to === GONE ? 0 : to, paths.fn[i]);
	}
	return rewritten(paths, tree, place, { lost: paths.lost, exact: !paths.lost.fn.length });
}

// Folds recursion, direct or through others: what such a function calls again is called once, from its outermost call.
function paths_without_recursion(paths) {
	const place = new Uint32Array(paths.n), tree = folded(paths, new Float64Array(paths.n), null, place);
	return rewritten(paths, tree, place, { lost: paths.lost, exact: !paths.lost.fn.length });
}
