// The call tree as rows that open: from callers to callees, or from where time was spent to the callers.

const ROWS_BELOW = 40; // rows that open at once; the rest by another click

let known_tree = { key: "", opened: null, shown: null }; // which nodes are open, and how many rows below a node are shown

// Opens the way that most of the time takes, as far as half of a node and a quarter of all go one way.
function hot_way(tree) {
	const opened = new Set();
	for (let i = 0, next; (next = tree.children(i)[0]) !== undefined && tree.total[next] * 2 >= tree.total[i] && tree.total[next] * 4 >= tree.total[0]; i = next)
		opened.add(i);
	return opened;
}

function tree_rows(tree, base, up, say_row) {
	const body = el("tbody"), { opened, shown } = known_tree, below = i => Array.from(tree.children(i)).filter(c => tree.total[c] > 0);
	const toggle = i => {
		if (!opened.delete(i))
			opened.add(i);
		draw(i);
	};
	const row_of = (i, parent) => {
		const f = tree.fn[i] < paths.others ? functions[tree.fn[i]] : null, is_open = opened.has(i), has_more = below(i).length;
		const name = f ? line_of(f.name, link_to("function", f.id), f.shown, kind_mark(f)) : line_of(name_of(tree.fn[i]));
		name.firstChild.prepend(has_more ? button(is_open ? "▾" : "▸", () => toggle(i), { class: "open", tabindex: "-1", "aria-hidden": "true" }) : el("span", { class: "open" }));
		name.firstChild.style.paddingLeft = (tree.depth[i] - 1) * .9 + "em";
		const row = el("tr", { tabindex: "-1", "aria-level": tree.depth[i], "aria-expanded": has_more ? String(is_open) : null, onfocus: () => say_row(i) },
			share_cell(tree.total[i] / base), up ? null : el("td", { class: "n" }, percent(tree.own[i] / base)), el("td", { class: "n minor" }, amount(tree.total[i])),
			tree.change ? el("td", { class: "n minor" }, signed(amount(tree.change[i]), tree.change[i])) : null, name);
		return Object.assign(row, { node: i, above: parent });
	};
	const rows_below = i => below(i).slice(0, shown.get(i) || ROWS_BELOW).flatMap(c => [row_of(c, i), ...(opened.has(c) ? rows_below(c) : [])]).concat(rest_of(i));
	const rest_of = i => {
		const left = below(i).slice(shown.get(i) || ROWS_BELOW);
		return left.length ? [el("tr", {}, el("td", { colspan: "9" }, button(`${count(left.length)} more, ${percent(left.reduce((sum, c) => sum + tree.total[c], 0) / base)}`,
			() => { shown.set(i, Infinity); draw(i); }, { class: "more" })))] : [];
	};
	function draw(at) {
		body.replaceChildren(...rows_below(0));
		const rows = [...body.rows], row = rows.find(r => r.node === at) || rows[0];
		if (row)
			row.tabIndex = 0;
		if (row && at)
			row.focus();
	}
	body.addEventListener("keydown", e => {
		const row = e.target.closest("tr"), i = row.node, go = next => { if (next) { row.tabIndex = -1; next.tabIndex = 0; (next.querySelector(".more") || next).focus(); } };
		const rewrite = REWRITES[e.key], f = tree.fn[i] < paths.others;
		if (e.ctrlKey || e.metaKey || e.altKey || e.target !== row)
			return;
		const keys = {
			ArrowDown: () => go(row.nextSibling), ArrowUp: () => go(row.previousSibling),
			ArrowRight: () => (opened.has(i) ? go(row.nextSibling) : below(i).length && toggle(i)),
			ArrowLeft: () => (opened.has(i) ? toggle(i) : go([...body.rows].find(r => r.node === row.above))),
			Enter: () => f && go_to(link_to("function", tree.fn[i])),
		};
		if (keys[e.key] || (rewrite && f)) {
			e.preventDefault();
			(keys[e.key] || (() => go_to(with_rewrite(e.key + tree.fn[i]))))();
		}
	});
	draw(0);
	return body;
}

function view_tree() {
	const up = state.keys.how === "inverted", { tree, base, key } = flame_tree({ kind: up ? "inverted" : "down", order: "left", width: "after" });
	if (known_tree.key !== key)
		known_tree = { key, opened: up ? new Set() : hot_way(tree), shown: new Map() };
	const about = el("p", { id: "frame", class: "name" }), heads = [head(up ? "Share" : "Children", "n"), up ? null : head("Self", "n"), head("Time", "n minor"), tree.change ? head("Change", "n minor") : null, head("Function")];
	const table = table_of("Call tree", "tree", heads, []), body = tree_rows(tree, base || 1, up, i => about.replaceChildren(...rewrite_links(tree.fn[i])));
	table.setAttribute("role", "treegrid");
	table.lastChild.replaceWith(body);
	return [
		el("div", { class: "tools" }, select_of("Order", [["down", "from callers to callees"], ["inverted", "from callees to callers"]], up ? "inverted" : "down", how => go_to(changed({ how: how === "down" ? null : how })))),
		el("details", { class: "note" }, el("summary", {}, "How to read this"), "A click on ▸, or the right arrow, opens a row; the left one closes it; Enter shows the function. " + Object.keys(REWRITES).map(k => `${k}: ${REWRITES[k].act}`).join(", ") + "."),
		lossy_note(), about, region("Call tree", table),
	];
}
