// Source lines and instructions with samples.

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
		c.f = function_named(c.name, c.object, c.rows.length ? c.rows[0].address : "") || null;
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

let known_hits = null;

// For each row, what was measured in the chosen part and event: row -> { self, samples }, self as a
// share of share_base(). null: the whole recording and the first event are chosen, whose values the
// tables have.
function hits_at_hand() {
	if (!paths || !paths.n_places || !(is_part() || event_at_hand()))
		return null;
	const now = look();
	if (known_hits && known_hits.now === now && known_hits.rel === state.keys.rel)
		return known_hits;
	const rows = rows_of_places(), { own, samples } = own_of_places(paths, now.at), of = new Map(), base = share_base(now);
	for (let p = 1; p <= paths.n_places; p++)
		for (const row of samples[p] ? rows[p] : []) {
			const sum = of.get(row) || { self: 0, samples: 0 };
			sum.self += own[p] / base;
			sum.samples += samples[p];
			of.set(row, sum);
		}
	return known_hits = { now, of, rel: state.keys.rel };
}

let known_rows = null;

// For each place, its instruction row and its line row, if the page shows them.
function rows_of_places() {
	if (known_rows)
		return known_rows;
	const code = code_at_hand(), c = data.columns, lines = new Map(), objects = new Map();
	for (const f of code.files)
		for (const r of f.rows)
			lines.set(f.name + "\n" + r.line, [...(lines.get(f.name + "\n" + r.line) || []), r]);
	for (const f of code.functions)
		for (const r of f.rows) {
			if (!objects.has(f.object))
				objects.set(f.object, []);
			objects.get(f.object).push({ at: Number(r.address), r });
		}
	for (const list of objects.values())
		list.sort((a, b) => a.at - b.at);
	known_rows = [[]];
	for (let i = 0; i < paths.n_places; i++) {
		const list = objects.get(base_name(data.objects[c.place_object[i]])) || [], address = c.place_address[i];
		let low = 0, high = list.length; // find the last instruction that begins at or before the address
		while (low < high) {
			const mid = low + high >> 1;
			if (list[mid].at <= address)
				low = mid + 1;
			else
				high = mid;
		}
		const line = c.place_file[i] ? lines.get(data.files[c.place_file[i] - 1] + "\n" + c.place_line[i]) : null;
		known_rows.push([...(low && address < list[low - 1].at + LONGEST ? [list[low - 1].r] : []), ...(line ? line.slice(0, 1) : [])]);
	}
	return known_rows;
}

const LONGEST = 16; // longest instruction, in bytes

// { self, all, samples } of a row: self and all are shares; all: with calls, null if not known.
function measured(r, hits) {
	if (!hits)
		return { self: (r.self || 0) / whole_time(), all: r.inclusive ? r.inclusive / whole_time() : 0, samples: r.samples };
	const sum = hits.of.get(r);
	return sum ? { ...sum, all: null } : { self: 0, all: null, samples: null };
}

// null: histograms do not distinguish instructions.
const share_of_function = (c, hits) => (c.row.self === null ? null : share_of_rows(c.rows, hits));
const share_of_rows = (rows, hits) => rows.reduce((sum, r) => sum + measured(r, hits).self, 0);
const hottest_of = (rows, hits) => rows.reduce((a, r) => (measured(r, hits).self > measured(a, hits).self ? r : a), rows[0]);

const has_code = () => !!(data.tables.instructions || data.tables.lines);

// The address of a line of a file on the forge, or undefined.
function forge_of(file, line) {
	const url = data.source_url, roots = data.source_roots || [], root = roots.filter(r => file.startsWith(r + "/")).sort((a, b) => b.length - a.length)[0];
	if (!url || !/^https?:[/]/.test(url) || (roots.length && !root))
		return undefined;
	const path = (root ? file.slice(root.length) : file).replace(/^[/]+/, "").split("/").map(encodeURIComponent).join("/");
	return url.replaceAll("{file}", () => path).replaceAll("{line}", () => String(Number(line)));
}

function forge_link(file, line) {
	const href = forge_of(file, line);
	return href ? el("a", { href, rel: "noopener noreferrer", target: "_blank", class: "forge", title: href, "aria-label": `${base_name(file)}:${line} on the forge` }, " ↗") : null;
}

function links_to_code(f) {
	if (!has_code())
		return null;
	const code = code_at_hand(), i = code.functions.findIndex(c => c.f === f);
	if (i < 0)
		return null;
	const hottest = hottest_of(code.functions[i].rows.filter(r => r.file), hits_at_hand());
	const file = hottest ? code.files.findIndex(x => x.name === hottest.file) : -1;
	return [el("a", { href: link_to("code", `f${i}`) }, "Instructions"), " ",
		file >= 0 ? [el("a", { href: link_to("code", `s${file}`, { l: hottest.line }) }, "Source"), forge_link(hottest.file, hottest.line)] : null];
}

const whole_time = () => (data.tables.instructions || data.tables.lines).properties.total || 1;

// The note for a chosen part, if the file's size limit left no room for the instruction at which
// each sample was taken.
function note_of_whole() {
	if (!paths || paths.n_places || !(is_part() || event_at_hand()))
		return null;
	return el("p", { class: "warn" }, `Lines and instructions have the time of the whole recording, of ${data.events[0].name}: not that of the part or event chosen above. --max-size makes room for that.`);
}

// Jumps whose target is an instruction of the same function.
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

// Draws arrows side by side, the shortest nearest to the text.
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
	const hits = hits_at_hand(), self = r => measured(r, hits).self, hot = self(hottest_of(rows, hits));
	return svg("svg", { class: "jumps", width, height: rows.length * LINE_HEIGHT, role: "img", "aria-label": `${jumps.length} jumps within the function` },
		shown.map(j => svg("path", { class: self(rows[j.to]) > hot / 4 ? "hot" : j.to < j.from ? "back" : null,
			d: `M${width} ${y(j.from)}H${width - 4 - 5 * (j.track + 1)}V${y(j.to)}H${width - 1}m-4 -3l4 3l-4 3` })));
}

function view_instructions(i) {
	const code = code_at_hand(), c = code.functions[i];
	if (!c)
		return [el("p", {}, "There is no such function in this file.")];
	const hits = hits_at_hand(), with_calls = c.rows.some(r => r.calls), with_all = !hits && c.rows.some(r => r.inclusive && r.inclusive !== r.self);
	const with_inlined = c.rows.some(r => r.inlined), hottest = c.rows.indexOf(hottest_of(c.rows, hits)), share = share_of_function(c, hits);
	let before = "", inside = "";
	const rows = c.rows.map((r, k) => {
		const place = r.file ? `${base_name(r.file)}:${r.line}` : "", file = place && place !== before ? code.files.findIndex(x => x.name === r.file) : -1;
		const shown = place === before ? "" : file >= 0 ? el("a", { href: link_to("code", `s${file}`, { l: r.line }) }, place) : place;
		before = place;
		const now = measured(r, hits), inlined = r.inlined === inside ? "" : r.inlined || "";
		inside = r.inlined;
		return el("tr", { id: k === hottest ? "hottest" : null, class: state.keys.l && r.file && r.file === state.keys.file && String(r.line) === state.keys.l ? "self" : null },
			now.self ? share_cell(now.self) : el("td"), with_all ? el("td", { class: "n minor" }, now.all ? percent(now.all) : "") : null,
			el("td", { class: "n minor" }, count(now.samples)), with_calls ? el("td", { class: "n minor" }, count(r.calls)) : null,
			el("td", { class: "name soft minor" }, r.address.replace(/^0x0*/, "")), k ? null : el("td", { class: "arrows", rowspan: c.rows.length }, jump_arrows(c.rows)),
			el("td", { class: "name code", title: r.instruction }, r.instruction.replace(`<${c.name}`, "<")), el("td", { class: "name soft minor" }, shown),
			with_inlined ? el("td", { class: "name soft minor", title: r.inlined }, el("div", { class: "clip" }, inlined)) : null);
	});
	return [
		el("h2", { class: "name title" }, c.f ? el("a", { href: link_to("function", c.f.id) }, shown_of(c.name)) : shown_of(c.name)),
		el("p", { class: "soft" }, c.object, share === null ? null : [`: ${percent(share)} of all. `, el("a", { href: changed({ l: null }), onclick: e => {
			e.preventDefault();
			document.getElementById("hottest").scrollIntoView({ block: "center" });
		} }, "To the hottest instruction")]),
		note_of_whole(), notes_of(data.tables.instructions),
		region("Instructions", table_of("Instructions of " + c.name, "listing", [head("Self", "n"), with_all ? head("Children", "n minor") : null, head("Samples", "n minor"), with_calls ? head("Calls", "n minor") : null,
				head("Address", "minor"), head("Jumps"), head("Instruction"), head("Line", "minor"), with_inlined ? head("Inlined", "minor") : null], rows)),
	];
}

function view_source(i) {
	const code = code_at_hand(), file = code.files[i], hits = hits_at_hand();
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
		el("h2", { class: "name title" }, file.name, forge_link(file.name, hottest_of(rows, hits).line)), el("p", { class: "soft" }, `${percent(share_of_rows(file.rows, hits))} of all, in its lines. `,
			el("a", { href: changed({ l: hottest_of(rows, hits).line }) }, "To the hottest line")), note_of_whole(), notes_of(data.tables.lines),
		region("Source", table_of("Source " + file.name, "listing", [head("Self", "n"), hits ? null : head("Children", "n minor"),
			counted ? head("Count", "n") : null, head("Line", "n"), head("Source")],
			rows.map(r => {
				const gap = before !== null && r.line > before + 1, k = of_line.get(r.line);
				const now = measured(r, hits);
				before = r.line;
				return el("tr", { class: [String(r.line) === state.keys.l ? "self" : "", gap ? "gap" : ""].join(" ").trim() || null, id: String(r.line) === state.keys.l ? "chosen" : null },
					now.self ? share_cell(now.self) : el("td"), hits ? null : el("td", { class: "n minor" }, now.all ? percent(now.all) : ""),
					counted ? el("td", { class: "n" }, count(r.count)) : null,
					el("td", { class: "n soft" }, k === undefined ? String(r.line) : el("a", { href: link_to("code", `f${k}`, { l: r.line, file: file.name }), title: "its instructions" }, String(r.line)), forge_link(file.name, r.line)),
					el("td", { class: "name code" }, r.source || ""));
			}))),
	];
}

// For the summary: the lines with most time, and the hottest instruction of each function.
function hottest_code() {
	if (!has_code())
		return null;
	const code = code_at_hand(), hits = hits_at_hand(), most = list => list.filter(x => x.share > 0).sort((a, b) => b.share - a.share).slice(0, 5);
	const line = (r, i, share) => ({ share, text: r.source, more: forge_link(r.file, r.line), name: `${base_name(r.file)}:${r.line}`, link: link_to("code", `s${i}`, { l: r.line }) });
	const is_own = !hits && own_at_hand() && !rewrites_at_hand().length, rows = code.files.flatMap((x, i) => x.rows.map(r => [r, i]));
	const row_of = new Map(is_own ? rows.map(([r, i]) => [r.file + "\n" + r.line, [r, i]]) : []);
	const lines = most(is_own ? data.own.lines.map(([file, l, weight]) => [row_of.get(data.files[file] + "\n" + l), weight]).filter(([row]) => row)
		.map(([row, weight]) => line(...row, weight / share_base(look()))) : rows.map(row => line(...row, measured(row[0], hits).self)));
	const instructions = most(code.functions.map((c, i) => {
		const r = hottest_of(c.rows, hits);
		return { share: r ? measured(r, hits).self : 0, text: r && r.instruction.replace(`<${c.name}`, "<"), name: c.name, link: link_to("code", `f${i}`, { h: 1 }) };
	}));
	const part = (title, list) => (list.length ? [el("h2", {}, title), plain_table(list.map(r => el("tr", {}, share_cell(r.share),
		el("td", { class: "name" }, el("div", { class: "clip", title: r.name }, el("a", { href: r.link }, shown_of(r.name)), r.more)), line_of(r.text || ""))), title)] : null);
	return [note_of_whole(), part(is_own ? "Lines of own code" : "Hottest lines", lines), part("Hottest instructions", instructions)];
}

function view_code(argument) {
	if (/^[fs]\d+$/.test(argument)) {
		setTimeout(() => { const row = main.querySelector(state.keys.h ? "#hottest" : "tr.self"); if (row) row.scrollIntoView({ block: "center" }); });
		return (argument[0] === "f" ? view_instructions : view_source)(Number(argument.slice(1)));
	}
	const code = code_at_hand(), hits = hits_at_hand(), table = (caption, list, link) => (list.length ? [el("h2", {}, caption), sortable([
		share_column("Self", r => r.share, "own time, as a share of the whole recording"),
		{ title: "Name", key: r => r.name, cell: r => line_of(r.name, link(r)) },
	], list, sorting(), caption).element] : null);
	return [
		note_of_whole(),
		table("Source files", code.files.map((x, i) => ({ i, name: x.name, share: share_of_rows(x.rows, hits) })), r => link_to("code", `s${r.i}`, { l: hottest_of(code.files[r.i].rows, hits).line })),
		table("Instructions of functions", code.functions.map((x, i) => ({ i, name: x.name, share: share_of_function(x, hits) })), r => link_to("code", `f${r.i}`, { h: 1 })),
		notes_of(data.tables.lines, data.tables.instructions),
	];
}
