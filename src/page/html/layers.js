// Lays out a graph in layers, callers above callees. Does not touch the document.
//
// sizes: [{ w, h }], the most important node first. arcs: [{ from, to, weight }], ends by number, not from a node to
// itself. room: the width that the nodes of a layer may take; focus: a node whose callers stand above it though they be in a
// cycle, or undefined. Returns { x, y, layer: by node; ways: by arc, its points
// from the caller to the callee; width, height }; x and y are a node's middle.

const NODE_GAP = 24, WAY_GAP = 12, LAYER_GAP = 34, SWEEPS = 8, PLACINGS = 10,
	TO_MIDDLE = .5; // how much everything is drawn to the middle: the picture becomes narrower, its lines less straight

function lists_by(n, arcs, key) {
	const lists = Array.from({ length: n }, () => []);
	arcs.forEach(a => lists[a[key]].push(a));
	return lists;
}

// The arcs in the order of a walk from the nodes without callers, along those with most weight first; those of the node in
// focus come before all others.
function walked(n, arcs, focus) {
	const out = lists_by(n, arcs, "from"), is_called = new Uint8Array(n), seen = new Uint8Array(n), list = arcs.filter(a => a.to === focus || a.from === focus);
	const visit = i => {
		seen[i] = 1;
		for (const arc of out[i].sort((a, b) => b.weight - a.weight)) {
			list.push(arc);
			if (!seen[arc.to])
				visit(arc.to);
		}
	};
	arcs.forEach(a => { is_called[a.to] = 1; });
	for (const called of [0, 1])
		for (let i = 0; i < n; i++)
			if (is_called[i] === called && !seen[i])
				visit(i);
	return new Set(list);
}

// The arcs as links { from, to, weight, arc } without cycles: an arc that would close one is turned.
function without_cycles(n, arcs, focus) {
	const below = Array.from({ length: n }, (_, i) => new Set([i])), links = []; // below: the nodes that links lead to from a node
	for (const arc of walked(n, arcs, focus)) {
		const [from, to] = below[arc.to].has(arc.from) ? [arc.to, arc.from] : [arc.from, arc.to];
		links.push({ from, to, weight: arc.weight, arc });
		below.filter(set => set.has(from)).forEach(set => below[to].forEach(i => set.add(i)));
	}
	return links;
}

// A layer for each node, below those of its callers. A full layer takes no more: first come those with the longest way
// below them. A node without callers then goes down to what it calls.
function layers_of(sizes, links, room) {
	const n = sizes.length, out = lists_by(n, links, "from"), callers = lists_by(n, links, "to"), left = callers.map(list => list.length);
	const below = new Int32Array(n).fill(-1), layer = new Int32Array(n), used = [], wide = i => sizes[i].w + NODE_GAP;
	const way_below = i => below[i] >= 0 ? below[i] : below[i] = out[i].reduce((most, l) => Math.max(most, 1 + way_below(l.to)), 0);
	let ready = sizes.map((_, i) => i).filter(i => !left[i]);
	while (ready.length) {
		const at = used.length, later = [], placed = [];
		used.push(0);
		ready.sort((a, b) => way_below(b) - way_below(a) || a - b);
		for (const i of ready)
			if (used[at] && used[at] + wide(i) > room) {
				later.push(i);
			} else {
				used[at] += wide(i);
				layer[i] = at;
				placed.push(i);
			}
		for (const i of placed)
			for (const l of out[i])
				if (!--left[l.to])
					later.push(l.to);
		ready = later;
	}
	for (let i = n - 1; i >= 0; i--)
		if (!callers[i].length && out[i].length) {
			let at = Math.min(...out[i].map(l => layer[l.to])) - 1;
			while (at > layer[i] && used[at] + wide(i) > room)
				at--;
			used[layer[i]] -= wide(i);
			used[layer[i] = Math.max(at, layer[i])] += wide(i);
		}
	const kept = [...new Set(layer)].sort((a, b) => a - b); // some may be empty now
	return Array.from(layer, at => kept.indexOf(at));
}

// Items of the layers: nodes, and where longer links cross a layer. up, down: the items that one is linked to, and how
// much that should be straight.
function items_of(sizes, links, layer) {
	const items = sizes.map((s, i) => ({ w: s.w, layer: layer[i], up: [], down: [], is_node: true }));
	const join = (a, b, weight) => {
		a.down.push({ item: b, weight });
		b.up.push({ item: a, weight });
	};
	for (const l of links) {
		let at = items[l.from];
		l.items = [at];
		for (let k = layer[l.from] + 1; k <= layer[l.to]; k++) {
			const next = k === layer[l.to] ? items[l.to] : { w: 0, layer: k, up: [], down: [], is_node: false };
			if (!next.is_node)
				items.push(next);
			join(at, next, (at.is_node ? 1 : 3) * (next.is_node ? 1 : 3) * (1 + 4 * l.weight));
			l.items.push(at = next);
		}
	}
	return items;
}

// The layers, with items in the order of a walk along the links, down or up.
function first_order(items, key = "down") {
	const rows = [], seen = new Set(), back = key === "down" ? "up" : "down";
	const visit = item => {
		if (seen.has(item))
			return;
		seen.add(item);
		(rows[item.layer] = rows[item.layer] || []).push(item);
		item[key].forEach(l => visit(l.item));
	};
	items.filter(item => !item[back].length).forEach(visit);
	rows.forEach(number_row);
	return rows;
}

function number_row(row) { row.forEach((item, i) => { item.at = i; }); }

// How many crossings an exchange of two items of a layer, a left of b, would save.
function saved_by_exchange(a, b, key) {
	let n = 0;
	for (const x of a[key])
		for (const y of b[key])
			n += Math.sign(x.item.at - y.item.at);
	return n;
}

// Counts, for each link of a layer from left to right, those before it that end further right, by a Fenwick tree.
function crossings_of(rows) {
	let n = 0;
	rows.forEach((row, k) => {
		const sums = new Uint32Array((rows[k + 1] || []).length + 1);
		let before = 0;
		for (const item of row) {
			for (const l of item.down) {
				n += before;
				for (let i = l.item.at + 1; i; i &= i - 1)
					n -= sums[i];
			}
			for (const l of item.down) {
				before++;
				for (let i = l.item.at + 1; i < sums.length; i += i & -i)
					sums[i]++;
			}
		}
	});
	return n;
}

// Where an item wants to be by what it is linked to: the median, or the mean.
function wish_of(list, by_mean) {
	const at = list.map(l => l.item.at).sort((a, b) => a - b), m = at.length >> 1;
	return by_mean ? at.reduce((a, b) => a + b, 0) / at.length : at.length % 2 ? at[m] : (at[m - 1] + at[m]) / 2;
}

// Exchanges neighbours while that saves crossings.
function exchange(rows) {
	for (let is_better = true, times = 0; is_better && times < SWEEPS; times++) {
		is_better = false;
		for (const row of rows)
			for (let i = 1; i < row.length; i++) {
				const [a, b] = [row[i - 1], row[i]];
				if (saved_by_exchange(a, b, "up") + saved_by_exchange(a, b, "down") > 0) {
					[row[i - 1], row[i]] = [b, a];
					[a.at, b.at] = [i, i - 1];
					is_better = true;
				}
			}
	}
}

// The order with the fewest crossings: of several starts, and sweeps from each, which sort the layers by what lies above
// or below. Items without links there keep their places.
function ordered(items) {
	let least = Infinity, best = null;
	const keep = rows => {
		const n = crossings_of(rows), is_better = n < least;
		if (is_better)
			[least, best] = [n, rows.map(row => row.slice())];
		return is_better;
	};
	for (const start of ["down", "up"])
		for (const by_mean of [false, true]) {
			const rows = first_order(items, start);
			keep(rows);
			for (let sweep = 0, end = SWEEPS; sweep < end && least; sweep++) {
				const key = (sweep % 2 === 0) === (start === "down") ? "up" : "down", later = sweep & 2 ? -1 : 1; // equal ones: as they were, or not
				for (const row of key === "down" ? rows.slice().reverse() : rows) {
					const moved = row.filter(item => item[key].length), wish = new Map(moved.map(item => [item, wish_of(item[key], by_mean)]));
					moved.sort((a, b) => wish.get(a) - wish.get(b) || later * (a.at - b.at));
					row.forEach((item, i) => { if (item[key].length) row[i] = moved.shift(); });
					number_row(row);
				}
				exchange(rows);
				end = keep(rows) ? sweep + SWEEPS : end;
			}
		}
	best.forEach(number_row);
	return best;
}

const distance = (a, b) => (a.w + b.w) / 2 + (a.is_node && b.is_node ? NODE_GAP : WAY_GAP);

// Moves the items of a layer to the places nearest to where they want to be (the least sum of weighted squares) that keep
// order and distances: items that would be too close become a block with one place.
function place_row(row, wants) {
	const blocks = [];
	let offset = 0;
	row.forEach((item, i) => {
		offset += i ? distance(row[i - 1], item) : 0;
		let block = { from: i, sum: (wants[i][0] - offset) * wants[i][1], weight: wants[i][1] };
		for (let last; (last = blocks[blocks.length - 1]) && last.sum / last.weight >= block.sum / block.weight; blocks.pop())
			block = { from: last.from, sum: last.sum + block.sum, weight: last.weight + block.weight };
		blocks.push(block);
	});
	offset = 0;
	row.forEach((item, i) => {
		offset += i ? distance(row[i - 1], item) : 0;
		if (blocks.length > 1 && blocks[1].from <= i)
			blocks.shift();
		item.x = blocks[0].sum / blocks[0].weight + offset;
	});
}

// Places items below or above what they are linked to, around 0.
function place(rows) {
	for (const row of rows)
		place_row(row, row.map(() => [0, 1]));
	for (let k = 0; k < PLACINGS; k++) {
		const keys = k + 2 >= PLACINGS ? ["up", "down"] : [k % 2 ? "down" : "up"];
		for (const row of k % 2 ? rows.slice().reverse() : rows)
			place_row(row, row.map(item => {
				const near = keys.flatMap(key => item[key]), weight = near.reduce((sum, l) => sum + l.weight, TO_MIDDLE);
				return near.length ? [near.reduce((sum, l) => sum + l.item.x * l.weight, 0) / weight, weight] : [item.x, .1];
			}));
	}
}

// Where links leave a node, or reach it: side by side, in the order of where they come from or go to.
function ports(items, links, sizes) {
	const spread = (key, end, next) => lists_by(sizes.length, links, end).forEach((list, i) => {
		list.sort((a, b) => next(a).x - next(b).x).forEach((l, k) => {
			l[key] = items[i].x + (k - (list.length - 1) / 2) * Math.min(16, sizes[i].w * .8 / list.length);
		});
	});
	spread("x1", "from", l => l.items[1]);
	spread("x2", "to", l => l.items[l.items.length - 2]);
}

function layers(sizes, arcs, room, focus) {
	const links = without_cycles(sizes.length, arcs, focus), layer = layers_of(sizes, links, room);
	const items = items_of(sizes, links, layer), rows = ordered(items), tops = [];
	let height = 0;
	place(rows);
	const left = Math.min(...items.map(item => item.x - item.w / 2));
	items.forEach(item => { item.x -= left; });
	const ends = rows.map((row, k) => {
		tops[k] = height;
		const end = height + Math.max(...items.map((item, i) => (item.is_node && item.layer === k ? sizes[i].h : 0)));
		height = end + LAYER_GAP + Math.min(LAYER_GAP, 4 * row.reduce((n, item) => n + Math.max(0, item.down.length - 1), 0)); // room for curves
		return end;
	}), y = layer.map(k => (tops[k] + ends[k]) / 2);
	ports(items, links, sizes);
	const ways = new Map(links.map(l => {
		const last = l.items.length - 1, points = l.items.flatMap((item, k) => (!k ? [[l.x1, y[l.from] + sizes[l.from].h / 2], [l.x1, ends[item.layer]]]
			: k === last ? [[l.x2, tops[item.layer]], [l.x2, y[l.to] - sizes[l.to].h / 2]] : [[item.x, tops[item.layer]], [item.x, ends[item.layer]]]));
		return [l.arc, l.arc.from === l.from ? points : points.reverse()];
	}));
	return { x: sizes.map((_, i) => items[i].x), y, layer, ways: arcs.map(a => ways.get(a)), height: ends[ends.length - 1],
		width: Math.max(...items.map(item => item.x + item.w / 2)) };
}
