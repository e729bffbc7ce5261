#include "draw/law.h"

#include <algorithm>
#include <array>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Parameters = std::span<const double>;
using Normal = boost::random::normal_distribution<double>;
using Uniform = boost::random::uniform_real_distribution<double>;

double power(double number, int exponent) {
  double product = 1;
  for (int i = 0; i < exponent; ++i) product *= number;
  return product;
}

// 1 3 5 ... (2 half - 1).
double normal_moment(Parameters, int half) {
  double product = 1;
  for (int i = 2; i <= half; ++i) product *= 2 * i - 1;
  return product;
}

// Of the middles of 2^52 equal parts of (0, 1): u and 1 - u are both exact, and neither is 0.
double middle_of_unit(std::uint64_t word) {
  return static_cast<double>((word >> 12) * 2 + 1) * 0x1p-53;
}

EntryShape shaped(double sd, EntryKind kind, std::array<double, 3> numbers = {}) {
  return {.sd = sd, .kind = kind, .numbers = numbers};
}

void fill_normal(Parameters, RandomStream& words, std::span<double> out) {
  Normal normal;
  for (double& entry : out) entry = normal(words);
}

void fill_uniform(Parameters, RandomStream& words, std::span<double> out) {
  const double end = std::sqrt(3.0);
  Uniform uniform(-end, end);
  for (double& entry : out) entry = uniform(words);
}

void fill_rademacher(Parameters, RandomStream& words, std::span<double> out) {
  for (double& entry : out) entry = words() >> 63 == 0 ? 1 : -1;
}

// An exponential number of mean sqrt(1/2) with a sign from the word's lowest bit, which
// middle_of_unit leaves alone.
void fill_laplace(Parameters, RandomStream& words, std::span<double> out) {
  const double scale = std::sqrt(0.5);
  for (double& entry : out) {
    const std::uint64_t word = words();
    const double size = -scale * plain::log(middle_of_unit(word));
    entry = (word & 1) == 0 ? size : -size;
  }
}

// (2 half)! / 2^half.
double laplace_moment(Parameters, int half) {
  double product = 1;
  for (int i = 1; i <= half; ++i) product *= i * (2 * i - 1);
  return product;
}

// The spread of ln(u / (1 - u)) is pi / sqrt(3).
double logistic_scale() {
  constexpr double kPi = 3.14159265358979323846;
  return std::sqrt(3.0) / kPi;
}

// The inverse of the distribution function.
void fill_logistic(Parameters, RandomStream& words, std::span<double> out) {
  for (double& entry : out) {
    const double u = middle_of_unit(words());
    entry = logistic_scale() * plain::log(u / (1 - u));
  }
}

// (4^half - 2) |B_(2 half)| 3^half, with Bernoulli's numbers.
double logistic_moment(Parameters, int half) {
  struct Fraction {
    double numerator;
    double denominator;
  };
  constexpr std::array<Fraction, 13> kBernoulli{{{1, 1},
                                                 {1, 6},
                                                 {1, 30},
                                                 {1, 42},
                                                 {1, 30},
                                                 {5, 66},
                                                 {691, 2730},
                                                 {7, 6},
                                                 {3617, 510},
                                                 {43867, 798},
                                                 {174611, 330},
                                                 {854513, 138},
                                                 {236364091, 2730}}};
  const auto& [numerator, denominator] = kBernoulli[static_cast<std::size_t>(half)];
  return (power(4, half) - 2) * power(3, half) * numerator / denominator;
}

constexpr std::array kStudentT{
    LawParameter{"nu", 2, 1e6,
                 "degrees of freedom; at 2 or fewer the spread is infinite and cannot be made 1: "
                 "write more than 2, such as 2.1"},
};

// The product of (2 i - 1) (nu - 2) / (nu - 2 i).
double student_t_moment(Parameters parameters, int half) {
  const double nu = parameters[0];
  if (nu <= 2 * half) return kInfinity;
  double product = 1;
  for (int i = 2; i <= half; ++i) product *= (2 * i - 1) + (2 * i - 1) * (2 * i - 2) / (nu - 2 * i);
  return product;
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000), for
// the shape nu / 2 > 1; the gamma number's double is chi-squared.
double draw_chi_squared(double nu, Normal& normal, RandomStream& words) {
  const double d = nu / 2 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(words);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double log_u = plain::log(middle_of_unit(words()));
    if (log_u < 0.5 * x * x + d * (1 - v + plain::log(v))) return 2 * d * v;
  }
}

// z / sqrt(chi2 / nu), whose variance is nu / (nu - 2).
void fill_student_t(Parameters parameters, RandomStream& words, std::span<double> out) {
  const double nu = parameters[0];
  Normal normal;
  for (double& entry : out) {
    const double chi_squared = draw_chi_squared(nu, normal, words);
    entry = normal(words) * std::sqrt((nu - 2) / chi_squared);
  }
}

constexpr std::array kTruncatedNormal{
    LawParameter{"at", 1e-3, 30, "largest size of an entry before it is rescaled, in spreads"},
};

// The sum over j of at^(2j) / ((2k+1) (2k+3) ... (2k+2j+1)): positive terms only. By parts, the
// integral of x^(2k) e^(-x^2/2) from 0 to at is at^(2k+1) e^(-at^2/2) times it.
double truncated_series(double at, int k) {
  double term = 1.0 / (2 * k + 1);
  double sum = 0;
  for (int j = 1; term > sum * 0x1p-60; ++j) {
    sum += term;
    term *= at * at / (2 * (k + j) + 1);
  }
  return sum;
}

// E[x^(2k)] of a normal number within [-at, at].
double truncated_moment(double at, int k) {
  double moment = truncated_series(at, k) / truncated_series(at, 0);
  for (int i = 0; i < k; ++i) moment *= at * at;
  return moment;
}

double truncated_normal_moment(Parameters parameters, int half) {
  const double variance = truncated_moment(parameters[0], 1);
  return truncated_moment(parameters[0], half) / power(variance, half);
}

EntryShape truncated_normal_shape(Parameters parameters) {
  const double at = parameters[0];
  double outside = 2 * plain::normal_cdf(-at);
  double inside = 1 - outside;
  if (at < 1) {  // the smaller of the two without cancellation
    inside = 2 * at * plain::normal_density(at) * truncated_series(at, 0);
    outside = 1 - inside;
  }
  return shaped(1 / std::sqrt(truncated_moment(at, 1)), EntryKind::kTruncatedNormal,
                {at, inside, outside});
}

// Rejection, from the normal law where it mostly lies within the bounds, else from the uniform.
double draw_truncated(double at, Normal& normal, Uniform& within, RandomStream& words) {
  for (;;) {
    if (at >= 1) {
      const double x = normal(words);
      if (std::abs(x) <= at) return x;
    } else {
      const double x = within(words);
      if (middle_of_unit(words()) < plain::exp(-0.5 * x * x)) return x;
    }
  }
}

void fill_truncated_normal(Parameters parameters, RandomStream& words, std::span<double> out) {
  const double at = parameters[0];
  const double scale = 1 / std::sqrt(truncated_moment(at, 1));
  Normal normal;
  Uniform within(-at, at);
  for (double& entry : out) entry = scale * draw_truncated(at, normal, within, words);
}

constexpr std::array kShareNotZero{
    LawParameter{"p", 0, 1, "share of entries that are not 0"},
};

void fill_sparse(Parameters parameters, RandomStream& words, std::span<double> out) {
  const double p = parameters[0];
  const double scale = 1 / std::sqrt(p);
  Normal normal;
  for (double& entry : out) entry = middle_of_unit(words()) < p ? scale * normal(words) : 0;
}

double sparse_moment(Parameters parameters, int half) {
  return normal_moment({}, half) / power(parameters[0], half - 1);
}

double ternary_moment(Parameters parameters, int half) {
  return 1 / power(parameters[0], half - 1);
}

constexpr std::array kOutlier{
    LawParameter{"p", 0, 1, "share of outlying entries"},
    LawParameter{"outlier_sd", 0, 1e6,
                 "spread of what is added to an outlying entry, in spreads of the others"},
};

double outlier_moment(Parameters parameters, int half) {
  const double p = parameters[0];
  const double added = parameters[1] * parameters[1];
  const double variance = 1 + p * added;
  double outlying = p;
  for (int i = 0; i < half; ++i) outlying *= 1 + added;
  return normal_moment({}, half) * ((1 - p) + outlying) / power(variance, half);
}

EntryShape outlier_shape(Parameters parameters) {
  const double added = parameters[1] * parameters[1];
  const double usual = 1 / std::sqrt(1 + parameters[0] * added);
  return shaped(1, EntryKind::kMixedNormal, {parameters[0], usual * std::sqrt(1 + added), usual});
}

// Given whether it is an outlier, an entry is normal: one normal number is enough.
void fill_outlier(Parameters parameters, RandomStream& words, std::span<double> out) {
  const auto [p, outlying, usual] = outlier_shape(parameters).numbers;
  Normal normal;
  for (double& entry : out) {
    const double sd = middle_of_unit(words()) < p ? outlying : usual;
    entry = sd * normal(words);
  }
}

void fill_ternary(Parameters parameters, RandomStream& words, std::span<double> out) {
  const double p = parameters[0];
  const double size = 1 / std::sqrt(p);
  for (double& entry : out) {
    const double u = middle_of_unit(words());
    entry = u < p / 2 ? -size : u < p ? size : 0;
  }
}

// Each row stays a few lines: its name, its formula, how it is computed.
// clang-format off
constexpr auto kLaws = std::to_array<LawRow>({
    {.name = "normal", .help = "standard normal entries",
     .formula = "exp(-x^2/2) / sqrt(2 pi)",
     .even_moment = normal_moment, .shape = [](Parameters) { return EntryShape(); },
     .fill = fill_normal},
    {.name = "uniform", .help = "entries even between two bounds",
     .formula = "1 / (2 sqrt(3)) for |x| <= sqrt(3)",
     .even_moment = [](Parameters, int half) { return power(3, half) / (2 * half + 1); },
     .shape = [](Parameters) { return shaped(2 * std::sqrt(3.0), EntryKind::kUniform); },
     .fill = fill_uniform},
    {.name = "rademacher", .help = "a fair sign",
     .formula = "1 or -1, each with probability 1/2",
     .even_moment = [](Parameters, int) { return 1.0; },
     .shape = [](Parameters) { return shaped(1, EntryKind::kSigned, {1}); },
     .fill = fill_rademacher, .has_atoms = true},
    {.name = "laplace", .help = "two-sided exponential entries",
     .formula = "exp(-sqrt(2) |x|) / sqrt(2)",
     .even_moment = laplace_moment,
     .shape = [](Parameters) { return shaped(std::sqrt(0.125), EntryKind::kExponential); },
     .fill = fill_laplace},
    {.name = "logistic", .help = "tails between the normal law's and Laplace's",
     .formula = "sqrt(3) / pi * ln(u / (1 - u)), u uniform on (0, 1)",
     .even_moment = logistic_moment,
     .shape = [](Parameters) { return shaped(logistic_scale() / 2, EntryKind::kLogistic); },
     .fill = fill_logistic},
    {.name = "student_t", .help = "heavy tails that fall as a power of the size",
     .formula = "z sqrt((nu - 2) / c), z normal, c chi-squared with nu degrees of freedom",
     .parameters = kStudentT, .even_moment = student_t_moment,
     .shape = [](Parameters nu) {
       return shaped(std::sqrt(nu[0] - 2), EntryKind::kStudentT, {1 / nu[0]}); },
     .fill = fill_student_t,
     .moments_below = [](Parameters numbers) { return numbers[0]; }},
    {.name = "truncated_normal",
     .help = "normal entries without tails, as many initialisations draw them",
     .formula = "z given |z| <= at, z normal, over its spread",
     .parameters = kTruncatedNormal, .even_moment = truncated_normal_moment,
     .shape = truncated_normal_shape, .fill = fill_truncated_normal},
    {.name = "sparse", .help = "mostly zeros, the others normal",
     .formula = "z / sqrt(p) with probability p, else 0, z normal",
     .parameters = kShareNotZero, .even_moment = sparse_moment,
     .shape = [](Parameters p) {
       return shaped(1 / std::sqrt(p[0]), EntryKind::kMixedNormal, {p[0], 1, 0}); },
     .fill = fill_sparse, .has_atoms = true},
    {.name = "outlier", .help = "normal entries, a few of them much larger",
     .formula = "(z + b outlier_sd y) / sqrt(1 + p outlier_sd^2), z and y normal, b = 1 with "
                "probability p, else 0",
     .parameters = kOutlier, .even_moment = outlier_moment, .shape = outlier_shape,
     .fill = fill_outlier},
    {.name = "ternary", .help = "three levels, as of entries quantised to them",
     .formula = "-1 / sqrt(p) or 1 / sqrt(p), each with probability p/2, else 0",
     .parameters = kShareNotZero, .even_moment = ternary_moment,
     .shape = [](Parameters p) { return shaped(1 / std::sqrt(p[0]), EntryKind::kSigned, {p[0]}); },
     .fill = fill_ternary, .has_atoms = true},
});
// clang-format on

}  // namespace

std::span<const LawRow> law_table() {
  return kLaws;
}

const LawRow* find_law(std::string_view name) {
  const auto* row = std::ranges::find(kLaws, name, &LawRow::name);
  return row == kLaws.end() ? nullptr : row;
}

EntryShape entry_shape(const Law& law) {
  EntryShape shape = law.row->shape(law.parameters);
  shape.mean = law.mean;
  shape.sd *= law.sd;
  shape.clip = law.clip;
  return shape;
}

bool is_centred_normal(const Law& law) {
  return law.row == find_law("normal") && law.mean == 0 && !law.is_clipped();
}

}  // namespace attnscale
