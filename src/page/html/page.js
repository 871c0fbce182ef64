// Chooses the view and its argument by the address.

const main = document.getElementById("main");

function views_there() {
	const views = {};
	if (data.tables.difference)
		views.difference = ["Difference", view_difference];
	else
		views.summary = ["Summary", view_summary];
	if (paths || !data.tables.difference)
		views.functions = ["Functions", view_functions];
	if (paths)
		Object.assign(views, { flame: ["Flame graph", view_flame], tree: ["Call tree", view_tree] });
	if (!is_comparison() && !data.tables.difference)
		views.graph = ["Call graph", view_graph];
	if (paths && data.unit_ns)
		views.timeline = ["Timeline", view_timeline];
	if (has_code())
		views.code = ["Code", view_code];
	return views;
}

// A thread that had several names is listed under the last one.
function text_of_threads(list) {
	const names = new Map(list.map(i => [data.threads[i][2] ? data.threads[i].slice(1, 4).join("/") : i, thread_name(i)]));
	return names.size > 3 ? `${names.size} threads` : [...names.values()].join(", ");
}

// The selected event, interval and threads, which apply to all views; each can be removed.
function filters() {
	const f = state.view === "function" ? null : focus_at_hand();
	const away = (text, keys) => el("a", { class: "chip", href: changed(keys) }, text, el("span", { "aria-hidden": "true" }, " ×"), el("span", { class: "unseen" }, ": take away"));
	const focus = f && !["callers", "callees"].includes(state.keys.how) ? [away(name_in_box(f.name), { f: null })] : [];
	if (!paths)
		return focus;
	const stretch = stretch_at_hand(), threads = threads_at_hand(), objects = objects_there(), list = focus;
	if (data.events.length > 1)
		list.push(select_of("Event", data.events.map(e => [e.name, e.name]), event_of().name, e => go_to(changed({ e, z: null, w: null }))));
	if (objects.length > 1)
		list.push(select_of("In", [["", "all programs and libraries"], ...objects.map(o => [String(o), base_name(data.objects[o])])],
			state.keys.o || "", o => go_to(changed({ o: o || null, z: null, w: null }))));
	if (data.own)
		list.push(checkbox_of("own code", own_at_hand(), () => go_to(other_code()), { "aria-keyshortcuts": "o",
			title: "the code of others, such as libraries, is in the Self of the own functions that call it (key o)" }));
	const rewrites = rewrites_at_hand();
	for (const r of rewrites)
		list.push(away(r.how.text(r.f && name_in_box(r.f.shown)), { tr: rewrites.filter(x => x !== r).map(x => x.text).join("."), z: null, w: null }));
	if (stretch)
		list.push(away(`${seconds(stretch.from)} to ${seconds(stretch.to)}`, { t: null, z: null, w: null }));
	if (threads)
		list.push(away(text_of_threads([...threads]), { th: null, z: null, w: null }));
	if (is_part())
		list.push(checkbox_of("shares of this part", !!state.keys.rel, on => go_to(changed({ rel: on ? "1" : null }))));
	return list;
}

const scrolled = new Map(); // scroll position by address: browsers would scroll before the content exists

function show() {
	leaving.abort();
	leaving = new AbortController();
	state = parse_address(location.hash);
	paths = all_paths && paths_at_hand();
	const views = views_there(), first = Object.keys(views)[0], known = { function: view_function, cycle: view_cycle };
	const name = views[state.view] || known[state.view] ? state.view : first, chosen = known[name] || views[name][1];
	document.title = data.title;
	document.getElementById("views").replaceChildren(...Object.keys(views).map(key => el("a", { href: link_to(key),
		"aria-current": key === name ? "page" : null }, views[key][0])));
	document.getElementById("filters").replaceChildren(...filters());
	main.replaceChildren(...chosen(state.arg).flat(9).filter(x => x));
	scrollTo(0, scrolled.get(location.hash) || 0);
}

function begin() {
	history.scrollRestoration = "manual";
	addEventListener("scroll", () => scrolled.set(location.hash, scrollY), { passive: true });
	addEventListener("keydown", e => {
		const search = main.querySelector("input[type=search]");
		if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input:not([type=checkbox]), select"))
			return;
		if (e.key === "o" && data.own)
			go_to(other_code());
		if (e.key !== "/" || !search)
			return;
		e.preventDefault();
		search.focus();
	});
	addEventListener("popstate", show);
	addEventListener("hashchange", () => { if (!main.contains(document.activeElement)) main.focus({ preventScroll: true }); });
	show();
}

async function start() {
	try {
		take_data(parse_data(await inflate(bytes_of_base64(document.getElementById("data").textContent))));
	} catch (e) {
		main.replaceChildren(el("p", { class: "warn" }, typeof DecompressionStream === "undefined"
			? "This browser cannot unpack the data: it takes one of 2023 or later." : `The data cannot be read: ${e.message}`));
		return;
	}
	begin();
}
start();
