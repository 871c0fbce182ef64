// Human-readable numbers.

function percent(share) { return (100 * share).toFixed(2) + " %"; }

// The unit is chosen by the rounded value: 0.9996 s is shown as 1 s, not 1000 ms.
function seconds(s) {
	if (s === null || s === undefined)
		return "";
	const size = Math.abs(s);
	if (size === 0)
		return "0";
	if (size >= 100)
		return s.toFixed(1) + " s";
	if (size >= .9995)
		return s.toFixed(3) + " s";
	if (size >= .9995e-3)
		return (s * 1e3).toPrecision(3) + " ms";
	return size >= .9995e-6 ? (s * 1e6).toPrecision(3) + " µs" : (s * 1e9).toPrecision(3) + " ns";
}

// A value of a time column: seconds, unless the table's dimension says otherwise.
function quantity(v, dimension) {
	return !dimension || dimension === "seconds" ? seconds(v) : v === null || v === undefined ? "" : v.toLocaleString("en", { maximumFractionDigits: 2 });
}

function count(n) {
	return typeof n === "number" ? n.toLocaleString("en") : n === null || n === undefined ? "" : String(n);
}

function signed(text, v) { return v > 0 ? "+" + text : text; }

function base_name(path) { return path.slice(path.lastIndexOf("/") + 1) || path; }

// The same text gets the same colour everywhere.
function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}
