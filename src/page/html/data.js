// What the file holds: JSON, a NUL, and columns of numbers, deflated and in base64.

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytes_of_base64(text) {
	const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

// n numbers, LEB128; those above 2^32 need the factor.
function read_column(bytes, offset, n) {
	const column = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		let value = 0, factor = 1, byte;
		do {
			byte = bytes[offset++];
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte & 128);
		column[i] = value;
	}
	return column;
}

function parse_data(bytes) {
	const end = bytes.indexOf(0), data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
	const columns = {};
	for (const key in data.columns || {})
		columns[key] = read_column(bytes, end + 1 + data.columns[key][1], data.columns[key][0]);
	data.columns = columns;
	return data;
}

// Rows of a table as objects; none of a table that is not there.
function rows_of(table) {
	if (!table)
		return [];
	return table.rows.map(cells => {
		const row = {};
		table.columns.forEach((key, i) => { row[key] = cells[i]; });
		return row;
	});
}
