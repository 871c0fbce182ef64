// Templates, virtual calls, operators, exceptions, lambdas, namespaces, multiple inheritance.
#include <algorithm>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes
{
struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const { return "shape"; }
};

struct Named {
	virtual ~Named() = default;
	virtual int length(const std::string &s) const { return static_cast<int>(s.size()); }
};

template <typename T, int Scale> struct Box : Shape, Named {
	T w, h;
	Box(T w_, T h_) : w(w_), h(h_) {}
	double area() const override
	{
		double a = 0;
		for (int i = 0; i < 50; i++)
			a += static_cast<double>(w) * static_cast<double>(h) * Scale / 50;
		return a;
	}
	std::string name() const override { return "box" + std::to_string(Scale); }
	int length(const std::string &s) const override { return Named::length(s) * Scale; }
};

namespace
{
struct Secret : Shape {
	double area() const override { return 1.5; }
};
} // namespace
} // namespace shapes

struct Vec {
	double x, y;
	Vec operator+(const Vec &o) const { return { x + o.x, y + o.y }; }
	double operator[](int i) const { return i ? y : x; }
	bool operator<(const Vec &o) const { return x < o.x || (x == o.x && y < o.y); }
	explicit operator bool() const { return x != 0 || y != 0; }
};

template <typename Iterator, typename Predicate>
__attribute__((noinline)) int count_matching(Iterator a, Iterator b, Predicate p)
{
	int n = 0;
	for (; a != b; ++a)
		n += p(*a) ? 1 : 0;
	return n;
}

__attribute__((noinline)) static int risky(int n)
{
	if (n % 7 == 0)
		throw std::runtime_error("seven");
	return n == 1 ? 1 : risky(n - 1) + 1;
}

static int careful(int n)
{
	try {
		return risky(n);
	} catch (const std::runtime_error &e) {
		return static_cast<int>(std::string(e.what()).size());
	}
}

struct Global {
	std::map<std::string, int> seen;
	Global() { seen["start"] = 1; }
	~Global() { seen.clear(); }
} global;

int main()
{
	std::vector<std::unique_ptr<shapes::Shape>> all;
	for (int i = 0; i < 300; i++) {
		all.push_back(std::make_unique<shapes::Box<int, 2>>(i, i + 1));
		all.push_back(std::make_unique<shapes::Box<double, 3>>(i * .5, 2.));
		all.push_back(std::make_unique<shapes::Secret>());
	}
	double area = 0;
	int sum = 0;
	for (int round = 0; clock() < CLOCKS_PER_SEC / 4; round++) {
		for (const auto &s : all) {
			area += s->area();
			global.seen[s->name()]++;
		}
		std::vector<Vec> v;
		for (int i = 0; i < 500; i++)
			v.push_back(Vec{ double(i * 7919 % 500), double(i) } + Vec{ 1, 2 });
		std::sort(v.begin(), v.end());
		sum += count_matching(v.begin(), v.end(), [&](const Vec &x) { return x[0] > round; });
		sum += count_matching(v.begin(), v.end(), [](const Vec &x) { return bool(x); });
		std::function<int(int)> f = [&](int n) { return n ? f(n - 1) + 1 : careful(round % 50 + 1); };
		sum += f(20);
	}
	std::cout << (area > 0) << ' ' << (sum > 0) << ' ' << global.seen.size() << '\n';
	return 0;
}
