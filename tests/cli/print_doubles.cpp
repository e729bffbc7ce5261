// Prints random doubles as the CSV files of a run have them, beside their bits, for
// csv_readers_test.py.

#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>

#include "io/table.h"

int main() {
  constexpr int kNumbers = 20000;
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> exponent(-300, 300);
  std::uniform_real_distribution<double> unit(0, 1);
  attnscale::Table table{{"number", "bits"}, {}};
  for (int i = 0; i < kNumbers; ++i) {
    // Weights and estimates in one half, every magnitude in the other.
    const double number =
        i % 2 == 0 ? unit(engine) : (unit(engine) - 0.5) * std::pow(10, exponent(engine));
    table.rows.push_back({number, std::bit_cast<std::int64_t>(number)});
  }
  std::cout << attnscale::to_csv(table);
}
