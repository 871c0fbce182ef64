// As work.c: what C++ adds are exceptions, virtual calls, and much inlined library code.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area(int depth) const = 0;
};

struct leaf : shape {
	double x;
	explicit leaf(double v) : x(v) {}
	double area(int depth) const override
	{
		std::ostringstream s;
		s << x << ' ' << depth;
		if (depth % 7 == 3)
			throw std::runtime_error(s.str());
		return x * static_cast<double>(s.str().size());
	}
};

struct group : shape {
	std::vector<std::unique_ptr<shape>> of;
	double area(int depth) const override
	{
		double sum = 0;
		for (auto &s : of) {
			try {
				sum += s->area(depth + 1);
			} catch (const std::exception &e) {
				sum += e.what()[0];
			}
		}
		return sum;
	}
};

static std::unique_ptr<shape> make(int depth, unsigned &seed)
{
	seed = seed * 1664525 + 1013904223;
	if (!depth)
		return std::make_unique<leaf>(seed >> 8);
	auto g = std::make_unique<group>();
	for (unsigned i = 0; i < 2 + seed % 2; i++)
		g->of.push_back(make(depth - 1, seed));
	return g;
}

int main(int argc, char **argv)
{
	std::clock_t until = std::clock() + static_cast<std::clock_t>(
		(argc > 1 ? std::atof(argv[1]) : 0.3) * CLOCKS_PER_SEC);
	unsigned seed = 1;
	double sum = 0;
	while (std::clock() < until) {
		std::map<std::string, std::vector<int>> words;
		for (int i = 0; i < 500; i++)
			words[std::to_string(seed * i % 1000)].push_back(i);
		std::function<int(int)> depth = [&](int n) { return n ? depth(n - 1) + 1 : 0; };
		for (auto &w : words)
			std::stable_sort(w.second.begin(), w.second.end(),
					 [&](int a, int b) { return depth(a % 20) > depth(b % 20); });
		sum += make(6, seed)->area(0);
	}
	return sum == 42;
}
