// Source lines and instructions of what was hit.

let known_code = null;

// Functions with instructions, [{ name, object, f, rows }], and files with lines, [{ name, rows }].
function code_at_hand() {
	if (known_code)
		return known_code;
	const code = { functions: [], files: [] }, files = new Map();
	for (const row of rows_of(data.tables.instructions)) {
		if (row.kind === "function") {
			code.functions.push({ row, name: row.instruction.replace(/ \([^()]*\)$/, ""), object: row.object, rows: [] });
		} else {
			const last = code.functions[code.functions.length - 1];
			last.name = row.function || last.name;
			last.rows.push(row);
		}
	}
	for (const c of code.functions)
		c.f = by_name.get(c.name + "\n" + c.object) || null;
	for (const row of rows_of(data.tables.lines)) {
		if (!row.file || row.line === null)
			continue;
		if (!files.has(row.file))
			files.set(row.file, { name: row.file, rows: [], self: 0 });
		const file = files.get(row.file);
		file.rows.push(row);
		file.self += row.self || 0;
	}
	code.files = [...files.values()].sort((a, b) => b.self - a.self);
	return known_code = code;
}

const has_code = () => !!(data.tables.instructions || data.tables.lines);

function links_to_code(f) {
	if (!has_code())
		return null;
	const code = code_at_hand(), i = code.functions.findIndex(c => c.f === f);
	if (i < 0)
		return null;
	const hottest = code.functions[i].rows.filter(r => r.file).sort((a, b) => (b.self || 0) - (a.self || 0))[0];
	const file = hottest ? code.files.findIndex(x => x.name === hottest.file) : -1;
	return [el("a", { href: link_to("code", `f${i}`) }, "Instructions"), " ",
		file >= 0 ? el("a", { href: link_to("code", `s${file}`, { l: hottest.line }) }, "Source") : null];
}

const whole_time = () => (data.tables.instructions || data.tables.lines).properties.total || 1;

// Lines and instructions are not in the file by time, thread and event: whoever chose some of these is told.
function note_of_whole() {
	if (!paths || !(stretch_at_hand() || threads_at_hand() || event_at_hand()))
		return data.events && data.events.length > 1 ? el("p", { class: "note" }, `Times are of ${data.events[0].name}.`) : null;
	return el("p", { class: "warn" }, `Lines and instructions have the time of the whole recording, of ${data.events[0].name}: not that of the part or event chosen above.`);
}

// Where a jump goes to, if that is an instruction of the same function.
function jumps_of(rows) {
	const index = new Map(rows.map((r, i) => [BigInt(r.address), i])), jumps = [];
	rows.forEach((r, i) => {
		const match = /^(?:j\w+|b(?:\.\w+|eq|ne|lt|ge|ltu|geu|eqz|nez)?|cb\w+|tb\w+)\s+(?:.*[\s,])?#?(0x[0-9a-f]+)/.exec(r.instruction);
		const to = match ? index.get(BigInt(match[1])) : undefined;
		if (to !== undefined && to !== i)
			jumps.push({ from: i, to, low: Math.min(i, to), high: Math.max(i, to) });
	});
	return jumps;
}

const MOST_TRACKS = 16, LINE_HEIGHT = 22;

// Arrows side by side: the shorter, the nearer to the text.
function jump_arrows(rows) {
	const jumps = jumps_of(rows).sort((a, b) => (a.high - a.low) - (b.high - b.low)), tracks = [];
	for (const j of jumps) {
		j.track = tracks.findIndex(t => t.every(o => o.high < j.low || o.low > j.high));
		if (j.track < 0)
			j.track = tracks.push([]) - 1;
		tracks[j.track].push(j);
	}
	const shown = jumps.filter(j => j.track < MOST_TRACKS), width = (Math.min(tracks.length, MOST_TRACKS) + 1) * 5 + 8;
	const y = i => i * LINE_HEIGHT + LINE_HEIGHT / 2;
	const hot = Math.max(...rows.map(r => r.self || 0));
	return svg("svg", { class: "jumps", width, height: rows.length * LINE_HEIGHT, role: "img", "aria-label": `${jumps.length} jumps within the function` },
		shown.map(j => svg("path", { class: (rows[j.to].self || 0) > hot / 4 ? "hot" : j.to < j.from ? "back" : null,
			d: `M${width} ${y(j.from)}H${width - 4 - 5 * (j.track + 1)}V${y(j.to)}H${width - 1}m-4 -3l4 3l-4 3` })));
}

function view_instructions(i) {
	const code = code_at_hand(), c = code.functions[i];
	if (!c)
		return [el("p", {}, "There is no such function in this file.")];
	const total = whole_time(), with_calls = c.rows.some(r => r.calls), with_all = c.rows.some(r => r.inclusive && r.inclusive !== r.self);
	const hottest = c.rows.reduce((a, r, k) => ((r.self || 0) > (c.rows[a].self || 0) ? k : a), 0);
	let before = "";
	const rows = c.rows.map((r, k) => {
		const place = r.file ? `${base_name(r.file)}:${r.line}` : "", file = place && place !== before ? code.files.findIndex(x => x.name === r.file) : -1;
		const shown = place === before ? "" : file >= 0 ? el("a", { href: link_to("code", `s${file}`, { l: r.line }) }, place) : place;
		before = place;
		return el("tr", { id: k === hottest ? "hottest" : null, class: state.keys.l && r.file && r.file === state.keys.file && String(r.line) === state.keys.l ? "self" : null },
			r.self ? share_cell(r.self / total) : el("td"), with_all ? el("td", { class: "n minor" }, r.inclusive ? percent(r.inclusive / total) : "") : null,
			el("td", { class: "n minor" }, count(r.samples)), with_calls ? el("td", { class: "n minor" }, count(r.calls)) : null,
			el("td", { class: "name soft" }, r.address.replace(/^0x0*/, "")), k ? null : el("td", { class: "arrows", rowspan: c.rows.length }, jump_arrows(c.rows)),
			el("td", { class: "name code", title: r.instruction }, r.instruction.replace(`<${c.name}`, "<")), el("td", { class: "name soft minor" }, shown));
	});
	const head = (title, kind) => el("th", { scope: "col", class: kind || null }, title);
	return [
		el("h2", { class: "name title" }, c.f ? el("a", { href: link_to("function", c.f.id) }, c.name) : c.name),
		el("p", { class: "soft" }, `${c.object}: ${percent((c.row.self || 0) / total)} of all. `, el("a", { href: changed({ l: null }), onclick: e => {
			e.preventDefault();
			document.getElementById("hottest").scrollIntoView({ block: "center" });
		} }, "To the hottest instruction")),
		note_of_whole(), notes_of(data.tables.instructions),
		el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Instructions" }, el("table", { class: "listing" }, el("caption", { class: "unseen" }, "Instructions of " + c.name),
			el("thead", {}, el("tr", {}, head("Self", "n"), with_all ? head("Total", "n minor") : null, head("Samples", "n minor"), with_calls ? head("Calls", "n minor") : null,
				head("Address"), head("Jumps"), head("Instruction"), head("Line", "minor"))), el("tbody", {}, rows))),
	];
}

function view_source(i) {
	const code = code_at_hand(), file = code.files[i], total = whole_time();
	if (!file)
		return [el("p", {}, "There is no such source in this file.")];
	const of_line = new Map();
	code.functions.forEach((c, k) => c.rows.forEach(r => {
		if (r.file === file.name && !of_line.has(r.line))
			of_line.set(r.line, k);
	}));
	const rows = file.rows.slice().sort((a, b) => a.line - b.line), counted = rows.some(r => r.count !== null);
	let before = null;
	return [
		el("h2", { class: "name title" }, file.name), el("p", { class: "soft" }, `${percent(file.self / total)} of all, in its lines. `,
			el("a", { href: changed({ l: rows.reduce((a, r) => ((r.self || 0) > (a.self || 0) ? r : a)).line }) }, "To the hottest line")), note_of_whole(), notes_of(data.tables.lines),
		el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Source" }, el("table", { class: "listing" }, el("caption", { class: "unseen" }, "Source " + file.name),
			el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "n" }, "Self"), el("th", { scope: "col", class: "n minor" }, "Total"),
				counted ? el("th", { scope: "col", class: "n" }, "Count") : null, el("th", { scope: "col", class: "n" }, "Line"), el("th", { scope: "col" }, "Source"))),
			el("tbody", {}, rows.map(r => {
				const gap = before !== null && r.line > before + 1, k = of_line.get(r.line);
				before = r.line;
				return el("tr", { class: [String(r.line) === state.keys.l ? "self" : "", gap ? "gap" : ""].join(" ").trim() || null, id: String(r.line) === state.keys.l ? "chosen" : null },
					r.self ? share_cell(r.self / total) : el("td"), el("td", { class: "n minor" }, r.inclusive ? percent(r.inclusive / total) : ""),
					counted ? el("td", { class: "n" }, count(r.count)) : null,
					el("td", { class: "n soft" }, k === undefined ? String(r.line) : el("a", { href: link_to("code", `f${k}`, { l: r.line, file: file.name }), title: "its instructions" }, String(r.line))),
					el("td", { class: "name code" }, r.source || ""));
			})))),
	];
}

function view_code(argument) {
	if (/^[fs]\d+$/.test(argument)) {
		setTimeout(() => { const row = main.querySelector("tr.self"); if (row) row.scrollIntoView({ block: "center" }); });
		return (argument[0] === "f" ? view_instructions : view_source)(Number(argument.slice(1)));
	}
	const code = code_at_hand(), total = whole_time(), table = (caption, list, link) => (list.length ? [el("h2", {}, caption), sortable([
		share_column("Self", r => r.share, "own time, as a share of the whole recording"),
		{ title: "Name", key: r => r.name, cell: r => el("td", { class: "name" }, el("a", { href: link(r) }, r.name)) },
	], list, sorting(), caption).element] : null);
	return [
		note_of_whole(),
		table("Source files", code.files.map((x, i) => ({ i, name: x.name, share: x.self / total })), r => link_to("code", `s${r.i}`)),
		table("Instructions of functions", code.functions.map((x, i) => ({ i, name: x.name, share: (x.row.self || 0) / total })), r => link_to("code", `f${r.i}`)),
		notes_of(data.tables.lines, data.tables.instructions),
	];
}
