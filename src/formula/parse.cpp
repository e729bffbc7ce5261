#include "formula/parse.h"

#include <fmt/core.h>

#include <algorithm>

namespace attnscale {
namespace {

constexpr std::size_t kLongest = 2000;  // characters
constexpr int kDeepest = 100;           // brackets and signs within one another

enum class Kind { kNumber, kQuery, kKey };

std::string_view kind_name(Kind kind) {
  if (kind == Kind::kNumber) return "a number";
  return kind == Kind::kQuery ? "a query" : "a key";
}

/// A part that was read, and where it begins.
struct Part {
  Formula formula;
  std::size_t character;
  Kind kind = Kind::kNumber;
  bool has_product = false;  ///< of a query and a key
};

[[noreturn]] void fail(std::size_t character, const std::string& sentence) {
  throw FormulaError(character, sentence);
}

void require_number(const Part& part) {
  if (part.kind == Kind::kNumber) return;
  fail(part.character, fmt::format("found {} where a number may stand; the product of both is q.k",
                                   kind_name(part.kind)));
}

Part joined(Operation operation, Part a, const Part& b) {
  a.formula = Formula(operation, std::move(a.formula), b.formula);
  a.has_product = a.has_product || b.has_product;
  return a;
}

/// Of two numbers, or of a vector and its factor.
Part calculated(Operation operation, Part a, const Part& b) {
  const bool scales_b = a.kind == Kind::kNumber && operation == Operation::kMultiply;
  const bool scales_a = operation == Operation::kMultiply || operation == Operation::kDivide;
  require_number(scales_b ? a : b);
  if (!scales_b && !scales_a) require_number(a);
  const Kind kind = scales_b ? b.kind : a.kind;
  const Part& factor = scales_b ? a : b;
  if (kind != Kind::kNumber && factor.has_product) {
    fail(factor.character, "a factor of a query or a key cannot hold their product");
  }
  Part part = joined(operation, std::move(a), b);
  part.kind = kind;
  return part;
}

/// The norm of one side of a product, or the bare vector as "v".
Formula norm_of(const Formula& side) {
  for (std::size_t place = 0; place < side.nodes().size(); ++place) {
    if (!is_vector(side[place].operation)) continue;
    // The vector's norm, if it has one, is the next node, or follows its width.
    std::size_t norm = place + 1;
    while (norm < side.nodes().size() && side[norm].operation < Operation::kRms) ++norm;
    if (norm == side.nodes().size()) return Formula(FormulaNode{Operation::kName, 0, "v"});
    return side.part(norm);
  }
  return side;
}

class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string_view> own, const NearestName& nearest)
      : lexer_(text), own_(own), nearest_(nearest) {
    advance();
  }

  Formula parse(FormulaKind kind) {
    if (token_.kind == Token::kEnd) fail(1, "the formula is empty");
    Part all = sum();
    if (token_.kind == ')') fail(token_.character, "found \")\", but no bracket is open");
    require_end_of_sum();
    require_number(all);
    if (kind == FormulaKind::kLogit && !all.has_product) {
      fail(all.character, "the formula has no product q.k of a query and a key");
    }
    if (kind == FormulaKind::kNumber && all.has_product) {
      fail(all.character, "q.k belongs in the logit, not in a number beside it");
    }
    return std::move(all.formula);
  }

 private:
  void advance() {
    after_number_ = token_.kind == Token::kNumber;
    token_ = lexer_.next();
    if (token_.character > kLongest) {
      fail(kLongest, fmt::format("the formula goes on beyond {} characters", kLongest));
    }
  }

  bool accept(char sign) {
    const bool found = token_.kind == sign;
    if (found) advance();
    return found;
  }

  void require_end_of_sum() const {
    if (token_.kind != ',') return;
    fail(token_.character, "found \",\", which stands only between the operands of a function");
  }

  void close_bracket(std::size_t opened) {
    if (accept(')')) return;
    fail(token_.character, fmt::format("found {}, but \")\" must close the bracket of character {}",
                                       token_.quoted(), opened));
  }

  Part sum() {
    Part left = product();
    while (token_.kind == '+' || token_.kind == '-') {
      const auto operation = token_.kind == '+' ? Operation::kAdd : Operation::kSubtract;
      advance();
      left = calculated(operation, std::move(left), product());
    }
    return left;
  }

  Part product() {
    Part left = signed_power();
    while (true) {
      const bool is_operand =
          token_.kind == Token::kNumber || token_.kind == Token::kName || token_.kind == '(';
      if (token_.kind == Token::kNumber && after_number_) {
        fail(token_.character,
             fmt::format("found {} right after a number: write * between them", token_.quoted()));
      }
      if (is_operand) {
        left = calculated(Operation::kMultiply, std::move(left), power());
      } else if (accept('*')) {
        left = calculated(Operation::kMultiply, std::move(left), signed_power());
      } else if (accept('/')) {
        left = calculated(Operation::kDivide, std::move(left), signed_power());
      } else {
        return left;
      }
    }
  }

  Part signed_power() {
    const std::size_t character = token_.character;
    const bool is_negative = token_.kind == '-';
    if (!accept('-') && !accept('+')) return power();
    Part part = deeper(&Parser::signed_power);
    if (is_negative) part.formula = Formula(Operation::kNegate, std::move(part.formula));
    part.character = character;
    return part;
  }

  Part power() {
    Part base = dot();
    if (!accept('^')) return base;
    return calculated(Operation::kPower, std::move(base), deeper(&Parser::signed_power));
  }

  Part dot() {
    Part left = whole();
    while (token_.kind == '.') {
      const std::size_t character = token_.character;
      advance();
      left = dot_product(std::move(left), whole(), character);
    }
    return left;
  }

  Part dot_product(Part query, const Part& key, std::size_t character) {
    if (query.kind != Kind::kQuery || key.kind != Kind::kKey) {
      fail(character, fmt::format("the dot multiplies a query by a key, as in q.k or (q / "
                                  "sqrt(d)).k, but {} stands before it and {} after it",
                                  kind_name(query.kind), kind_name(key.kind)));
    }
    const Formula norms(Operation::kDot, norm_of(query.formula), norm_of(key.formula));
    if (norms[norms.first(norms.root())].operation != norms[norms.root() - 1].operation) {
      fail(character, "a norm stands on both sides of the dot or on neither, as in rms(q).rms(k)");
    }
    if (norms_.value_or(norms) != norms) {
      fail(query.character, "all products of a formula have the same norms, but this has others");
    }
    norms_ = norms;
    Part part = joined(Operation::kDot, std::move(query), key);
    part.kind = Kind::kNumber;
    part.has_product = true;
    return part;
  }

  Part whole() {
    const Token token = token_;
    if (token.kind == Token::kNumber) {
      advance();
      return {Formula(token.number), token.character};
    }
    if (token.kind == Token::kName) {
      advance();
      const OperationRow* function = find_function(token.text);
      return function != nullptr && token_.kind == '(' ? call(*function, token) : name(token);
    }
    if (!accept('(')) {
      fail(token.character,
           fmt::format("found {} where a number, a name, a function or \"(\" may stand",
                       token.quoted()));
    }
    Part part = deeper(&Parser::sum);
    require_end_of_sum();
    close_bracket(token.character);
    part.character = token.character;
    return part;
  }

  Part name(const Token& token) const {
    const std::string name(token.text);
    if (name == "q") return {Formula({Operation::kQuery}), token.character, Kind::kQuery};
    if (name == "k") return {Formula({Operation::kKey}), token.character, Kind::kKey};
    std::vector<std::string_view> known(formula_names().begin(), formula_names().end());
    known.insert(known.end(), own_.begin(), own_.end());
    if (std::ranges::find(known, token.text) == known.end()) fail_at_name(token, known);
    return {Formula({Operation::kName, 0, name}), token.character};
  }

  [[noreturn]] void fail_at_name(const Token& token, std::vector<std::string_view> known) const {
    const std::string found = token.quoted();
    if (find_function(token.text) != nullptr) {
      fail(token.character, fmt::format("{} is a function, which needs a bracket after it", found));
    }
    if (token.text == "log") fail(token.character, "\"log\" is ln, log2 or log10 here");
    std::string names = "q, k";
    for (const std::string_view other : known) {
      if (other != "q" && other != "k") names += ", " + std::string(other);
    }
    for (const OperationRow& row : operation_table()) {
      if (!row.help.empty()) known.push_back(row.name);
    }
    const auto meant = nearest_ ? nearest_(token.text, known) : std::nullopt;
    fail(token.character, meant ? fmt::format("{} is unknown; did you mean \"{}\"?", found, *meant)
                                : fmt::format("{} is unknown; names are {}", found, names));
  }

  Part call(const OperationRow& function, const Token& token) {
    const std::size_t opened = token_.character;
    std::vector<Part> operands;
    do {
      advance();  // over the bracket or a comma
      if (operands.empty() && token_.kind == ')') break;
      operands.push_back(deeper(&Parser::sum));
    } while (token_.kind == ',');
    close_bracket(opened);
    if (operands.size() < function.least || operands.size() > function.most) {
      std::string allowed = fmt::format("{}", function.least);
      if (function.most == kMostOperands) allowed += " or more";
      if (function.most == function.least + 1) allowed += fmt::format(" or {}", function.most);
      fail(token.character,
           fmt::format("{} takes {}, not {}", function.name, allowed, operands.size()));
    }
    Part part = function.operation < Operation::kDot ? of_numbers(function, operands)
                                                     : norm(function, operands);
    part.character = token.character;
    return part;
  }

  static Part of_numbers(const OperationRow& function, const std::vector<Part>& operands) {
    Part part = operands.front();
    require_number(part);
    if (operands.size() == 1) part.formula = Formula(function.operation, std::move(part.formula));
    for (std::size_t i = 1; i < operands.size(); ++i) {
      Operation operation = function.operation;
      if (operation == Operation::kClamp) operation = i == 1 ? Operation::kMax : Operation::kMin;
      part = calculated(operation, std::move(part), operands[i]);
    }
    return part;
  }

  Part norm(const OperationRow& function, const std::vector<Part>& operands) {
    const bool is_cos = function.operation == Operation::kCos;
    for (const Part& vector : std::span(operands).first(is_cos ? 2 : 1)) {
      if (vector.kind != Kind::kNumber && vector.formula.nodes().size() == 1) continue;
      fail(vector.character, fmt::format("{} takes {} alone; factors stand outside", function.name,
                                         is_cos ? "q, k" : "q or k"));
    }
    Part part = operands.front();
    if (is_cos) {
      Part key = operands.back();
      part.formula = Formula(Operation::kUnit, std::move(part.formula));
      key.formula = Formula(Operation::kUnit, std::move(key.formula));
      return dot_product(std::move(part), key, key.character);
    }
    if (operands.size() == 1) {
      part.formula = Formula(function.operation, std::move(part.formula));
      return part;
    }
    const Part& width = operands[1];
    require_number(width);
    if (width.has_product || mentions(width.formula, "i") || mentions(width.formula, "j")) {
      fail(width.character, "the width of a norm cannot depend on q.k, i or j");
    }
    return joined(function.operation, std::move(part), width);
  }

  Part deeper(Part (Parser::*read)()) {
    if (++depth_ > kDeepest) {
      fail(token_.character, fmt::format("brackets and signs lie more than {} deep", kDeepest));
    }
    Part part = (this->*read)();
    --depth_;
    return part;
  }

  Lexer lexer_;
  std::span<const std::string_view> own_;
  const NearestName& nearest_;
  Token token_;
  bool after_number_ = false;  // the token before this one
  int depth_ = 0;
  std::optional<Formula> norms_;  // of every product
};

}  // namespace

Formula parse_formula(std::string_view text, FormulaKind kind,
                      std::span<const std::string_view> own, const NearestName& nearest) {
  return Parser(text, own, nearest).parse(kind);
}

}  // namespace attnscale
