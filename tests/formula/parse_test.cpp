#include "formula/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formula/print.h"
#include "formula/program.h"

namespace attnscale {
namespace {

const std::vector<std::string_view> kOwn{"cap", "g", "layer", "x", "y"};

Formula logit(std::string_view text) {
  return parse_formula(text, FormulaKind::kLogit, kOwn);
}

// Each pair is one tree.
TEST(ParseFormula, BindsAsItsRulesSay) {
  const std::vector<std::pair<const char*, const char*>> kSame{
      {"x / y x q.k", "((x / y) * x) * q.k"},
      {"q.k / x y", "(q.k / x) * y"},
      {"x^y^x q.k", "x^(y^x) * q.k"},
      {"-x^2 q.k", "(-(x^2)) * q.k"},
      {"x^-y^2 q.k", "x^(-(y^2)) * q.k"},
      {"d^-0.5 q.k", "(d^(-0.5)) (q.k)"},
      {"q.k^2", "(q.k)^2"},
      {"x - y - x + q.k", "((x - y) - x) + q.k"},
      {"2x q.k", "2 * x * q.k"},
      {"0.1ln(x)q.k", "0.1 * ln(x) * q.k"},
      {"x(y + 1) q.k", "x * (y + 1) * q.k"},
      {"layer * (x) q.k", "layer x q.k"},
      {"+q.k", "q.k"},
      {"  q . k\n", "q.k"},
      {".5q.k", "0.5 q.k"},
      {"1e-3 q.k", "0.001 q.k"},
      {"2e q.k", "2 * e * q.k"},
      {"max(x, y, 3) q.k", "max(max(x, y), 3) q.k"},
      {"clamp(q.k, -x, x)", "min(max(q.k, -x), x)"},
      {"cos(q, k)", "unit(q).unit(k)"},
      {"(q / sqrt(d)).k", "((q) / (sqrt(d))).(k)"},
      {"(-2q).(k x)", "((-2) * q).(k * x)"},
  };
  for (const auto& [text, other] : kSame) EXPECT_EQ(logit(text), logit(other)) << text;
  EXPECT_NE(logit("x / (y x) q.k"), logit("x / y x q.k"));
  EXPECT_NE(logit("(x^y)^x q.k"), logit("x^y^x q.k"));
}

TEST(ParseFormula, CallsAFunctionOnlyBeforeABracket) {
  const auto value = [](std::string_view text) {
    const Formula formula = parse_formula(text, FormulaKind::kNumber, kOwn);
    return value_of(with_values(formula, {{"layer", 3.0}, {"x", 2.0}}), {});
  };
  EXPECT_EQ(value("1 / (layer + 1)"), 0.25);
  EXPECT_EQ(value("x (layer + 1)"), 8);
  EXPECT_EQ(value("layer * (x + 1)"), 9);
}

TEST(PrintFormula, IsCanonical) {
  const std::vector<std::pair<const char*, const char*>> kPrinted{
      {"50*tanh( q.k/sqrt(144)/50 )", "50 tanh(q.k / sqrt(144) / 50)"},
      {"1/(layer+1)*q.k/sqrt(d)", "1 / (layer + 1) * q.k / sqrt(d)"},
      {"layer*(x+1) q.k", "layer * (x + 1) q.k"},
      {"x*2*q.k", "x * 2 q.k"},
      {"q.k*-x", "q.k * -x"},
      {"q.k^2", "(q.k)^2"},
      {"(g*rms(q)).(g*rms(k))", "(g rms(q)).(g rms(k))"},
      {"rms(q,2048).rms(k,2048)", "rms(q, 2048).rms(k, 2048)"},
      {"x-(y-q.k)", "x - (y - q.k)"},
      {"min(max(q.k,-x),x)", "clamp(q.k, -x, x)"},
      {"unit(q).unit(k)/0.07", "cos(q, k) / 0.07"},
      {"max(1, ln(keys) / ln(2048)) q.k", "max(1, ln(keys) / ln(2048)) q.k"},
      {"1e-6 q.k + 100000 + 1e22", "1e-06 q.k + 1e+05 + 1e+22"},
  };
  for (const auto& [text, printed] : kPrinted) {
    EXPECT_EQ(print_formula(logit(text)), printed);
    EXPECT_EQ(logit(printed), logit(text)) << printed;
  }
}

TEST(PrintFormula, ShowsNumbersInPlaceOfNames) {
  const Formula formula =
      with_values(logit("cap tanh(q.k / cap) - x (i - j)"), {{"cap", 30.0}, {"x", -0.5}});
  EXPECT_EQ(print_formula(formula), "30 tanh(q.k / 30) - -0.5 (i - j)");
  EXPECT_EQ(logit(print_formula(formula)), formula);
}

TEST(Formula, KnowsItsNames) {
  const Formula formula = logit("cap tanh(q.k / cap) + x ln(keys)");
  EXPECT_EQ(own_names(formula), (std::vector<std::string>{"cap", "x"}));
  EXPECT_TRUE(mentions(formula, "keys"));
  EXPECT_FALSE(mentions(formula, "d"));
}

std::optional<std::string_view> nearest(std::string_view wrong,
                                        std::span<const std::string_view> known) {
  for (const std::string_view name : known) {
    if (name.substr(0, 2) == wrong.substr(0, 2)) return name;
  }
  return std::nullopt;
}

constexpr const char* kOperand = " where a number, a name, a function or \"(\" may stand";
constexpr const char* kSigns =
    ": a formula is of numbers, names, + - * / ^ (power), round brackets and q.k";
constexpr const char* kNoVector = " where a number may stand; the product of both is q.k";
constexpr const char* kDot =
    "the dot multiplies a query by a key, as in q.k or (q / sqrt(d)).k, but ";
constexpr const char* kBothSides =
    "a norm stands on both sides of the dot or on neither, as in rms(q).rms(k)";
constexpr const char* kOtherNorms =
    "all products of a formula have the same norms, but this has others";
constexpr const char* kNoProduct = "the formula has no product q.k of a query and a key";
constexpr const char* kFactor = "a factor of a query or a key cannot hold their product";
constexpr const char* kWidth = "the width of a norm cannot depend on q.k, i or j";

TEST(ParseFormula, PointsAtWhatIsWrong) {
  const std::string operand(kOperand);
  const std::string signs(kSigns);
  const std::string vector(kNoVector);
  const std::string dot(kDot);
  struct Case {
    const char* text;
    std::size_t character;
    std::string sentence;
  };
  const std::vector<Case> kWrong{
      {"", 1, "the formula is empty"},
      {"  \t", 1, "the formula is empty"},
      {"2", 1, kNoProduct},
      {"sqrt(d) ln(keys)", 1, kNoProduct},
      {"q", 1, "found a query" + vector},
      {"k", 1, "found a key" + vector},
      {"rms(q)", 1, "found a query" + vector},
      {"q k", 3, "found a key" + vector},
      {"q * k", 5, "found a key" + vector},
      {"q + k", 5, "found a key" + vector},
      {"q.k + q", 7, "found a query" + vector},
      {"q.k / k", 7, "found a key" + vector},
      {"q^2", 1, "found a query" + vector},
      {"2^q", 3, "found a query" + vector},
      {"ln(q)", 4, "found a query" + vector},
      {"max(1, k) q.k", 8, "found a key" + vector},
      {"q.q", 2, dot + "a query stands before it and a query after it"},
      {"k.q", 2, dot + "a key stands before it and a query after it"},
      {"q.k.k", 4, dot + "a number stands before it and a key after it"},
      {"q / sqrt(d).k", 12, dot + "a number stands before it and a key after it"},
      {"2 x.k", 4, dot + "a number stands before it and a key after it"},
      {"rms(q).k", 7, kBothSides},
      {"q.rms(k)", 2, kBothSides},
      {"rms(q).unit(k)", 7, kBothSides},
      {"(x q).(x rms(k))", 6, kBothSides},
      {"q.k + cos(q, k)", 11, kOtherNorms},
      {"rms(q, 8).rms(k, 8) + rms(q).rms(k)", 23, kOtherNorms},
      {"(q.k q).k", 2, kFactor},
      {"(q / q.k).k", 6, kFactor},
      {"rms(2 q).rms(k)", 5, "rms takes q or k alone; factors stand outside"},
      {"rms(3).rms(k)", 5, "rms takes q or k alone; factors stand outside"},
      {"cos(q, 2 k)", 8, "cos takes q, k alone; factors stand outside"},
      {"cos(k, q)", 8, dot + "a key stands before it and a query after it"},
      {"cos(q)", 1, "cos takes 2, not 1"},
      {"cos(x) q.k", 1, "cos takes 2, not 1"},
      {"rms(q, 8, 8).k", 1, "rms takes 1 or 2, not 3"},
      {"rms(q, j).rms(k, j)", 8, kWidth},
      {"rms(q, q.k).k", 8, kWidth},
      {"rms(q, k).k", 8, "found a key" + vector},
      {"max(q.k)", 1, "max takes 2 or more, not 1"},
      {"ln() q.k", 1, "ln takes 1, not 0"},
      {"tanh(q.k, 2)", 1, "tanh takes 1, not 2"},
      {"clamp(q.k, 1)", 1, "clamp takes 3, not 2"},
      {"q.k /", 6, "found the end" + operand},
      {"q.k + * 2", 7, "found \"*\"" + operand},
      {"* q.k", 1, "found \"*\"" + operand},
      {"q.k ^", 6, "found the end" + operand},
      {"q.", 3, "found the end" + operand},
      {".k", 1, "found \".\"" + operand},
      {"() q.k", 2, "found \")\"" + operand},
      {"max(1,) q.k", 7, "found \")\"" + operand},
      {"(q.k", 5, "found the end, but \")\" must close the bracket of character 1"},
      {"tanh(q.k / sqrt(d)", 19, "found the end, but \")\" must close the bracket of character 5"},
      {"q.k)", 4, "found \")\", but no bracket is open"},
      {"q.k, 2", 4, "found \",\", which stands only between the operands of a function"},
      {"(q.k, 2)", 5, "found \",\", which stands only between the operands of a function"},
      {"2 3 q.k", 3, "found \"3\" right after a number: write * between them"},
      {"x^2 2 q.k", 5, "found \"2\" right after a number: write * between them"},
      {"q.k / sqrt d", 7, "\"sqrt\" is a function, which needs a bracket after it"},
      {"log(keys) q.k", 1, "\"log\" is ln, log2 or log10 here"},
      {"ln(kez) q.k", 4, "\"kez\" is unknown; did you mean \"keys\"?"},
      {"tan(q.k)", 1, "\"tan\" is unknown; did you mean \"tanh\"?"},
      {"n q.k", 1, "\"n\" is unknown; names are q, k, d, keys, i, j, e, pi, cap, g, layer, x, y"},
      {"Q.K", 1, "\"Q\" is unknown; names are q, k, d, keys, i, j, e, pi, cap, g, layer, x, y"},
      {"q·k", 2, "found \"·\"" + signs},
      {"q.k / √d", 7, "found \"√\"" + signs},
      {"q.k ** 2", 5, "found \"**\"" + signs},
      {"[q.k]", 1, "found \"[\"" + signs},
      {"q.k = 2", 5, "found \"=\"" + signs},
      {"1e999 q.k", 1, "1e999 is beyond what a double can hold"},
      {"1e-999 q.k", 1, "1e-999 is beyond what a double can hold"},
  };
  EXPECT_GE(kWrong.size(), 60U);
  for (const Case& wrong : kWrong) {
    try {
      parse_formula(wrong.text, FormulaKind::kLogit, kOwn, nearest);
      ADD_FAILURE() << wrong.text << " was read";
    } catch (const FormulaError& error) {
      EXPECT_EQ(error.character, wrong.character) << wrong.text;
      EXPECT_EQ(error.what(),
                "at character " + std::to_string(wrong.character) + ", " + wrong.sentence)
          << wrong.text;
    }
  }
}

TEST(ParseFormula, RefusesAProductInANumber) {
  try {
    parse_formula("2 + q.k", FormulaKind::kNumber);
    ADD_FAILURE();
  } catch (const FormulaError& error) {
    EXPECT_EQ(std::string(error.what()),
              "at character 1, q.k belongs in the logit, not in a number beside it");
  }
}

TEST(ParseFormula, SetsBoundsToLengthAndDepth) {
  EXPECT_THROW(logit(std::string(101, '(') + "q.k" + std::string(101, ')')), FormulaError);
  EXPECT_NO_THROW(logit(std::string(99, '(') + "q.k" + std::string(99, ')')));
  EXPECT_THROW(logit(std::string(3000, '-') + "q.k"), FormulaError);
  std::string sum = "q.k";
  while (sum.size() < 1990) sum += " + x";
  EXPECT_NO_THROW(logit(sum));
  while (sum.size() < 2010) sum += " + x";
  EXPECT_THROW(logit(sum), FormulaError);
}

}  // namespace
}  // namespace attnscale
