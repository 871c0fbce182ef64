"use strict";
// Flame graphs as trees, and which share of the time has a name. Nothing here needs a page.

function make_tree(f) {
	const n = f.parent.length, depth = new Int32Array(n), first = new Float64Array(n), end = new Float64Array(n);
	const children = Array.from({ length: n }, () => []);
	for (let i = 1; i < n; i++) {
		children[f.parent[i]].push(i);
		depth[i] = depth[f.parent[i]] + 1;
	}
	const stands_in = i => i > 0 && f.name[i] === f.names.length; // for frames that are not in the file
	const name = i => !i ? "all" : stands_in(i) ? "others" : f.names[f.name[i]];
	for (const list of children)
		list.sort((a, b) => name(a) < name(b) ? -1 : 1);
	end[0] = f.total[0];
	for (let i = 0; i < n; i++) { // parents come before their children
		let at = first[i];
		for (const c of children[i]) {
			first[c] = at;
			at += f.total[c];
			end[c] = at;
		}
	}
	let deepest = 0;
	for (let i = 0; i < n; i++)
		deepest = Math.max(deepest, depth[i]);
	return { n, depth, first, end, children, parent: f.parent, total: f.total, name, stands_in, deepest };
}

function plain(name) { return name.replace(/_\[[kij]\]$/, ""); }

// The time of stacks that have a name with the pattern, which is in lower case: at least `low`, at most `high`.
// Where frames were left out they can differ: of one name it is known how much has it, of several together it is not.
function search_share(f, tree, pattern) {
	const has = f.names.map(n => plain(n).toLowerCase().includes(pattern));
	let seen = 0, hidden = 0, most = 0, all = 0;
	const todo = [0]; // what is found counts once, however often below itself
	while (todo.length) {
		const i = todo.pop();
		if (i && tree.stands_in(i))
			hidden += tree.total[i];
		else if (i && has[f.name[i]])
			seen += tree.total[i];
		else
			for (const k of tree.children[i])
				todo.push(k);
	}
	f.weight.forEach((w, n) => {
		if (has[n]) {
			most = Math.max(most, w);
			all += w;
		}
	});
	return { low: Math.max(seen, most), high: Math.min(seen + hidden, all) };
}
