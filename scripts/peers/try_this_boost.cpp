// The lesson's exercise as one writes it with Boost.Random: what scripts/bench.sh compares
// attnscale with. usage: try_this_boost [QUERIES]
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr int kSizes[] = {4, 16, 64, 256, 1024};
constexpr int kKeys = 8;

int main(int argc, char** argv) {
  const int queries = argc > 1 ? std::atoi(argv[1]) : 10000;
  boost::random::mt19937_64 engine(0);
  boost::random::normal_distribution<double> normal;
  const auto draw = [&](std::vector<double>& entries) {
    for (double& entry : entries) entry = normal(engine);
  };

  std::puts("spread of the scores");
  for (const int d : kSizes) {
    std::vector<double> q(d), k(d);
    double sum = 0, squares = 0;
    for (int i = 0; i < queries; ++i) {
      draw(q), draw(k);
      const double score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
      sum += score, squares += score * score;
    }
    const double sd = std::sqrt((squares - sum * sum / queries) / (queries - 1));
    std::printf("%5d %.4g %.4g %.4g\n", d, sd, sd / std::sqrt(d), sd / d);
  }

  std::puts("mean top weight and mean slope p(1-p), divided by 1, sqrt(d), d");
  for (const int d : kSizes) {
    const double divisors[] = {1, std::sqrt(d), 1.0 * d};
    std::vector<double> q(d), k(d), scores(kKeys);
    double top[3] = {}, slope[3] = {};
    for (int i = 0; i < queries; ++i) {
      draw(q);
      for (double& score : scores) {
        draw(k);
        score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      for (int s = 0; s < 3; ++s) {
        double total = 0;
        for (const double score : scores) total += std::exp((score - most) / divisors[s]);
        top[s] += 1 / total / queries, slope[s] += 1 / total * (1 - 1 / total) / queries;
      }
    }
    for (int s = 0; s < 3; ++s) std::printf("%5d %.4f %.4g\n", d, top[s], slope[s]);
  }
}
