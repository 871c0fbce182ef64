// hottest.cpp - the ten functions most time was spent in, with what they called.
//	c++ hottest.cpp $(pkg-config --cflags --libs kin)
#include <kin/samples.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
	kin_profile *profile = nullptr;
	kin_samples *s = nullptr;
	kin_error *err = kin_profile_open(argv + 1, argc - 1, nullptr, &profile);
	if (err || (err = kin_samples_new(profile, &s)))
		return fprintf(stderr, "%s\n", kin_error_message(err)), 1;
	std::map<uint32_t, double> inclusive;
	double total = 0;
	while (const kin_sample *x = kin_samples_next(s)) {
		std::set<uint32_t> seen; // of a sample each function gets the weight once
		for (uint32_t at = x->stack; at; at = kin_samples_stack(s, at)->caller) {
			size_t n;
			const kin_line *lines = kin_samples_lines(s, kin_samples_stack(s, at)->location, &n);
			for (size_t i = 0; i < n; i++)
				if (seen.insert(lines[i].function).second)
					inclusive[lines[i].function] += x->weight;
		}
		total += x->weight;
	}
	std::vector<std::pair<double, std::string>> rows;
	for (const auto &f : inclusive)
		rows.emplace_back(-f.second, kin_samples_function(s, f.first)->name);
	std::sort(rows.begin(), rows.end());
	for (size_t i = 0; i < rows.size() && i < 10; i++)
		printf("%5.1f %%  %s\n", -100 * rows[i].first / total, rows[i].second.c_str());
	kin_samples_free(s);
	kin_profile_free(profile);
}
