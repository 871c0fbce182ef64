-- Counts the words of a text, sorts them, and prints a report: with two mistakes that everybody has made once.
local function read(n)
	local words, seed = {}, 42
	for i = 1, n do
		seed = (seed * 1103515245 + 12345) % 2147483648
		words[i] = "word" .. seed % 4000
	end
	return words
end

local function count(words)
	local counts = {}
	for _, w in ipairs(words) do
		counts[w] = (counts[w] or 0) + 1
	end
	return counts
end

local function sorted(counts)
	local names = {}
	for w in pairs(counts) do
		table.insert(names, 1, w) -- moves all others
	end
	table.sort(names, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
	return names
end

local function report(names, counts)
	local text = ""
	for _, w in ipairs(names) do
		text = text .. w .. " " .. counts[w] .. "\n" -- copies the text so far
	end
	return text
end

local length = 0
for _ = 1, tonumber(arg[1] or 4) do
	local counts = count(read(200000))
	length = length + #report(sorted(counts), counts)
end
print(length .. " bytes")
