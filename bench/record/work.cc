// work.cc - fixed work in C++ with containers, virtual calls and recursion; prints the CPU seconds it took.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

struct node {
	virtual ~node() = default;
	virtual unsigned long sum(int depth) const = 0;
};
struct leaf : node {
	std::vector<unsigned> values;
	explicit leaf(unsigned n) : values(n) { std::iota(values.begin(), values.end(), n); }
	unsigned long sum(int) const override
	{
		return std::accumulate(values.begin(), values.end(), 0ul);
	}
};
struct pair : node {
	std::unique_ptr<node> a, b;
	unsigned long sum(int depth) const override { return a->sum(depth + 1) + b->sum(depth + 1); }
};

static std::unique_ptr<node> make(int depth)
{
	if (!depth)
		return std::make_unique<leaf>(64u);
	auto p = std::make_unique<pair>();
	p->a = make(depth - 1);
	p->b = make(depth - 1);
	return p;
}

static unsigned long words(unsigned n)
{
	std::map<std::string, unsigned> seen;
	for (unsigned i = 0; i < n; i++)
		seen["word " + std::to_string(i * 2654435761u % 5000)]++;
	std::vector<std::string> keys;
	for (auto &[key, count] : seen)
		keys.push_back(key + std::to_string(count));
	std::sort(keys.begin(), keys.end(), std::greater<>());
	return keys.size();
}

static double seconds(clockid_t clock)
{
	timespec t;
	clock_gettime(clock, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/* work ROUNDS [each]: prints its CPU time; when it ended each round. */
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	unsigned long total = 0;
	auto tree = make(12);
	for (int i = 0; i < rounds; i++) {
		total += tree->sum(0) + words(20000);
		if (argc > 2)
			printf("%.6f\n", seconds(CLOCK_MONOTONIC));
	}
	printf("%.6f %lu\n", seconds(CLOCK_PROCESS_CPUTIME_ID), total);
}
