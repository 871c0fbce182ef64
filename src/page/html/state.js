// The address holds the current view: #view/argument?key=value&... Event, time and threads are kept
// when the view changes.

const KEPT = ["e", "t", "th", "o", "own", "tr"]; // event; "1.5-2.25" in seconds; numbers of threads; number of a program or library;
                                                 // whether the code of others is folded; how stacks are rewritten

function parse_address(hash) {
	const [where, keys] = hash.replace(/^#/, "").split("?"), [view, ...rest] = where.split("/");
	const s = { view: view || "summary", arg: decodeURIComponent(rest.join("/")), keys: {} };
	for (const [key, value] of new URLSearchParams(keys || ""))
		s.keys[key] = value;
	return s;
}

function address_of(s) {
	const keys = new URLSearchParams();
	for (const key of Object.keys(s.keys).sort())
		if (s.keys[key] !== null && s.keys[key] !== undefined && s.keys[key] !== "")
			keys.set(key, s.keys[key]);
	const text = keys.toString();
	return "#" + s.view + (s.arg !== "" ? "/" + encodeURIComponent(s.arg) : "") + (text ? "?" + text : "");
}

let state = parse_address("");

// The address of another view, with the kept keys and the function in focus.
function link_to(view, arg, keys) {
	const kept = view === "function" ? {} : { f: state.view === "function" ? state.arg : state.keys.f };
	for (const key of KEPT)
		kept[key] = state.keys[key];
	return address_of({ view, arg: arg === undefined ? "" : String(arg), keys: { ...kept, ...keys } });
}

// The address of the same view with other keys; null removes a key.
function changed(keys) { return address_of({ ...state, keys: { ...state.keys, ...keys } }); }

function go_to(address) { location.hash = address; }

// Changes the address without a step in the history: for typed text.
function put_address(keys) {
	state = { ...state, keys: { ...state.keys, ...keys } };
	history.replaceState(null, "", address_of(state));
}
