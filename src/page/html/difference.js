// The difference of two recordings, or two sets of them: what takes more time after than before,
// and what less.

// Data without times has numbers of events.
const dimension_of = () => data.tables.difference.properties.dimension || "seconds";
const difference = v => quantity(v, dimension_of());

function change_cell(v, base) {
	return el("td", { class: "n " + (v > 0 ? "slower" : v < 0 ? "faster" : "") }, signed(difference(v), v), base ? ` (${signed((100 * v / base).toFixed(2), v)} %)` : "");
}

function change_table(title, rows, total, what) {
	const by_text = name => by_name.get(name) || functions.find(f => f.name === name.replace(/ \(inlined\)$/, ""));
	return [el("h2", {}, title), sortable([
		{ title: "Change", number: true, key: r => Math.abs(r.change), help: dimension_of() + " of a run, and its share of the total before", cell: r => change_cell(r.change, total) },
		minor(number_column("Before", r => r.before, difference)), minor(number_column("After", r => r.after, difference)),
		minor(number_column("Chance", r => r.chance, v => (v === null || v === undefined ? "" : "± " + difference(v)), "equal programs would differ by more only once in twenty times")),
		{ title: what, key: r => r.name, cell: r => {
			const f = paths ? by_text(r.name + "\n" + (r.object || "")) || by_text(r.name) : null;
			return line_of(r.name, f ? link_to("flame", "", { how: "callers", f: f.id }) : null);
		} },
	], rows, sorting(), title).element];
}

// The change exceeds what equal programs would differ by in one of twenty comparisons.
const is_certain = r => (r.p !== null && r.p !== undefined ? r.p <= .05 : true);

function view_difference() {
	const table = data.tables.difference, p = table.properties, rows = rows_of(table).filter(r => r.name !== null && r.change);
	const certain = rows.filter(is_certain), shown = state.keys.all ? rows : certain, grown = p.total_after - p.total_before;
	const share = p.total_before && p.total_after ? `, ${signed((100 * grown / p.total_before).toFixed(2), grown)} %` : "";
	const figure = (text, what) => el("div", {}, el("b", {}, text), what), unit = dimension_of() === "seconds" ? "" : " " + dimension_of();
	return [
		el("div", { class: "big" }, figure(difference(p.total_before) + unit, "before"), figure(difference(p.total_after) + unit, "after"),
			figure(signed(difference(grown), grown) + unit, "in all" + share),
			p.total_chance ? figure("± " + difference(p.total_chance) + unit, "by chance (95 %)") : null),
		data.warnings.map(w => el("p", { class: "warn" }, w)), notes_of(table),
		el("div", { class: "tools" }, checkbox_of("also what differs by no more than chance", !!state.keys.all, on => go_to(changed({ all: on ? "1" : null }))),
			el("span", { class: "soft" }, `${count(rows.length - certain.length)} of ${count(rows.length)} functions`)),
		change_table("Slower", shown.filter(r => r.change > 0), p.total_before, "Function"),
		change_table("Faster", shown.filter(r => r.change < 0), p.total_before, "Function"),
	];
}
