// work.cpp - what a recording is made of: work.cpp SECONDS. Expressions are made up, parsed, simplified and
// evaluated by functions that call each other, words are counted, and patterns are searched for: deep stacks
// of many shapes, most of the code inlined templates.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

std::mt19937 random_bits(1);
int pick(int n) { return int(random_bits() % unsigned(n)); }

struct Node {
	virtual ~Node() = default;
	virtual double value(const std::map<std::string, double> &names) const = 0;
	virtual std::unique_ptr<Node> simple() = 0;
	virtual bool is_number() const { return false; }
};
using Tree = std::unique_ptr<Node>;

struct Number : Node {
	double n;
	explicit Number(double n) : n(n) {}
	double value(const std::map<std::string, double> &) const override { return n; }
	Tree simple() override { return std::make_unique<Number>(n); }
	bool is_number() const override { return true; }
};

struct Name : Node {
	std::string name;
	explicit Name(std::string s) : name(std::move(s)) {}
	double value(const std::map<std::string, double> &names) const override
	{
		auto found = names.find(name);
		return found == names.end() ? 0 : found->second;
	}
	Tree simple() override { return std::make_unique<Name>(name); }
};

template <class Operation> struct Binary : Node {
	Tree left, right;
	Binary(Tree l, Tree r) : left(std::move(l)), right(std::move(r)) {}
	double value(const std::map<std::string, double> &names) const override
	{
		return Operation()(left->value(names), right->value(names));
	}
	Tree simple() override
	{
		Tree l = left->simple(), r = right->simple();
		if (l->is_number() && r->is_number())
			return std::make_unique<Number>(Operation()(l->value({}), r->value({})));
		return std::make_unique<Binary>(std::move(l), std::move(r));
	}
};

struct Call : Node {
	std::string function;
	std::vector<Tree> arguments;
	double value(const std::map<std::string, double> &names) const override
	{
		std::vector<double> values;
		for (const Tree &a : arguments)
			values.push_back(a->value(names));
		if (values.empty())
			return 0;
		if (function == "max")
			return *std::max_element(values.begin(), values.end());
		std::sort(values.begin(), values.end(), [](double a, double b) { return a < b; });
		return values[values.size() / 2];
	}
	Tree simple() override
	{
		auto c = std::make_unique<Call>();
		c->function = function;
		for (Tree &a : arguments)
			c->arguments.push_back(a->simple());
		return c;
	}
};

class Parser {
	const std::string &text;
	size_t at = 0;
	char next() const { return at < text.size() ? text[at] : 0; }
	bool take(char c) { return next() == c && ++at; }
	std::string word()
	{
		size_t from = at;
		while (isalnum((unsigned char)next()))
			at++;
		return text.substr(from, at - from);
	}
	Tree call(std::string name)
	{
		auto c = std::make_unique<Call>();
		c->function = std::move(name);
		do
			c->arguments.push_back(sum());
		while (take(','));
		take(')');
		return c;
	}
	Tree atom()
	{
		if (take('(')) {
			Tree inner = sum();
			take(')');
			return inner;
		}
		std::string w = word();
		if (!w.empty() && isdigit((unsigned char)w[0]))
			return std::make_unique<Number>(std::stod(w));
		return take('(') ? call(std::move(w)) : Tree(std::make_unique<Name>(std::move(w)));
	}
	Tree product()
	{
		Tree left = atom();
		while (next() == '*') {
			at++;
			left = std::make_unique<Binary<std::multiplies<double>>>(std::move(left), atom());
		}
		return left;
	}

    public:
	explicit Parser(const std::string &t) : text(t) {}
	Tree sum()
	{
		Tree left = product();
		for (;;) {
			if (take('+'))
				left = std::make_unique<Binary<std::plus<double>>>(std::move(left), product());
			else if (take('-'))
				left = std::make_unique<Binary<std::minus<double>>>(std::move(left), product());
			else
				return left;
		}
	}
};

std::string make_expression(int depth)
{
	if (depth <= 0 || pick(8) == 0)
		return pick(2) ? std::to_string(pick(1000)) : std::string(1, char('a' + pick(26)));
	switch (pick(5)) {
	case 0:
		return "(" + make_expression(depth - 1) + ")";
	case 1:
		return (pick(2) ? "max(" : "median(") + make_expression(depth - 1) + "," + make_expression(depth - 2) +
		       "," + make_expression(depth - 3) + ")";
	default:
		return make_expression(depth - 1) + "+-*"[pick(3)] + make_expression(depth - 1);
	}
}

double calculate()
{
	std::map<std::string, double> names;
	for (char c = 'a'; c <= 'z'; c++)
		names[std::string(1, c)] = pick(100);
	std::string text = make_expression(12);
	Tree tree = Parser(text).sum()->simple();
	double sum = 0;
	for (int i = 0; i < 10; i++)
		sum += tree->value(names);
	return sum;
}

double count_words()
{
	std::unordered_map<std::string, int> words;
	std::ostringstream out;
	for (int i = 0; i < 3000; i++)
		out << "word" << pick(500) << ' ';
	std::istringstream in(out.str());
	for (std::string w; in >> w;)
		words[w]++;
	std::vector<std::pair<int, std::string>> list;
	for (auto &w : words)
		list.emplace_back(w.second, w.first);
	std::sort(list.begin(), list.end());
	return list.empty() ? 0 : list[0].first;
}

double search()
{
	static const std::regex pattern("(a|b)*c+(d[e-g]*|h)?i");
	std::string text;
	for (int i = 0; i < 60; i++)
		text += char('a' + pick(9));
	std::smatch m;
	return std::regex_search(text, m, pattern) ? double(m.position()) : 0;
}

} // namespace

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, sum = 0;
	while (double(clock()) / CLOCKS_PER_SEC < seconds)
		sum += calculate() + search() + (pick(40) ? 0 : count_words());
	printf("%g\n", sum);
}
