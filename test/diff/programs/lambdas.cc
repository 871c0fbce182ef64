/* Closures: clang calls them $_0, $_1, and GNU gprof drops local names with a dollar. */
#include <algorithm>
#include <functional>
#include <vector>

static volatile unsigned long sum;

__attribute__((noinline)) static void spend(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}

template <class F> __attribute__((noinline)) static unsigned long each(int n, F f)
{
	unsigned long s = 0;
	for (int i = 0; i < n; i++)
		s += f(i);
	return s;
}

static const auto early = [](int i) { spend(1000 * i); return (unsigned long)i; };

int main()
{
	std::vector<int> v{ 5, 3, 8, 1, 9, 2 };
	auto twice = [](int i) { spend(20000); return 2ul * i; };
	auto nested = [&](int i) {
		auto inner = [&](int k) { spend(5000 * k); return twice(k) + v[k % v.size()]; };
		return inner(i) + inner(i + 1);
	};
	std::function<unsigned long(int)> any = [&](int i) { return nested(i % 7); };
	sum += each(200, twice) + each(100, nested) + each(100, early) + each(50, any);
	std::sort(v.begin(), v.end(), [](int a, int b) { spend(100); return a > b; });
	sum += twice(3) + nested(4) + early(5);
	return sum == 42;
}
