// Reads the data in the file: JSON, a NUL, and columns of numbers, deflated and in base64.

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

// Reads n LEB128 numbers. `factor`, instead of shifts, because numbers may exceed 32 bits.
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

// Rows of a table as objects; [] if there is no table.
function rows_of(table) {
	if (!table)
		return [];
	return table.rows.map(cells => {
		const row = {};
		table.columns.forEach((key, i) => { row[key] = cells[i]; });
		return row;
	});
}
