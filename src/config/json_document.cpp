#include "config/json_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "config/json_tokens.h"

namespace attnscale {
namespace {

// Deeper nesting than any config has; keeps later recursion shallow.
constexpr std::size_t kMaxDepth = 64;

// nlohmann::json's identifier of "number overflow".
constexpr int kNumberOverflow = 406;

// Builds the document from the library's events. The library says which tokens come, a walker over
// the same text says where they are.
class DocumentBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  DocumentBuilder(std::string_view text, const JsonSource& source)
      : walker_(text), source_(std::make_shared<const JsonSource>(source)) {}

  bool null() override {
    add(JsonKind::kNull);
    return true;
  }
  bool boolean(bool value) override {
    add(JsonKind::kBoolean).boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return add_number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add_number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add_number(value); }
  bool string(string_t& value) override {
    add(JsonKind::kString).text = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonKind::kObject); }
  bool start_array(std::size_t) override { return open(JsonKind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    JsonValue& object = *open_.back();
    const JsonPlace place = take_place();
    const auto [first, is_new] = lines_of_names_.back().try_emplace(name, place.line);
    if (!is_new) {
      refuse(place, child_pointer(object.pointer, name),
             fmt::format("duplicate key {}, which line {} has already; keep one of them",
                         quote_shortened(name), first->second));
    }
    object.members.push_back({name, place, {}});
    expectation_ = JsonExpectation::kColon;
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    if (error.id == kNumberOverflow) {
      walker_.skip_separators();
      TokenWalker ahead = walker_;
      fail(shortened(ahead.take_token()) + " is too large for a number");
    }
    fail(explain_syntax_error(walker_, expectation_));
  }

  // The finished document. The library takes a NUL for the end of the text; here it is not.
  JsonValue take_root() {
    walker_.skip_blanks();
    if (!walker_.at_end()) fail(explain_syntax_error(walker_, expectation_));
    return std::move(root_);
  }

  [[noreturn]] void fail(const std::string& message) const {
    std::string text = to_text(place_here()) + ": " + message;
    if (!open_.empty()) {
      const JsonValue& open = *open_.back();
      text += fmt::format(" (in the {} that starts at line {}, column {})",
                          open.kind == JsonKind::kObject ? "object" : "list", open.place.line,
                          open.place.column);
    }
    throw JsonSyntaxError(text);
  }

 private:
  JsonPlace place_here() const { return {source_, walker_.line(), walker_.column()}; }

  // The place of the token just reported; moves past it.
  JsonPlace take_place() {
    walker_.skip_separators();
    JsonPlace place = place_here();
    token_ = walker_.take_token();
    return place;
  }

  // A new value in the open container, or the root.
  JsonValue& add(JsonKind kind) {
    walker_.skip_separators();
    const TokenWalker before = walker_;
    const JsonPlace place = take_place();
    // The library ends a number or word where it can; what is glued to it is an error of its own.
    if ((kind == JsonKind::kNumber && !is_json_number(token_)) ||
        ((kind == JsonKind::kNull || kind == JsonKind::kBoolean) && token_ != "null" &&
         token_ != "true" && token_ != "false")) {
      walker_ = before;
      fail(explain_token(walker_, "a value (texts are written in double quotes)"));
    }
    JsonValue& value = new_value();
    value.kind = kind;
    value.place = place;
    expect_after_value();
    return value;
  }

  JsonValue& new_value() {
    if (open_.empty()) return root_;
    JsonValue& parent = *open_.back();
    if (parent.kind == JsonKind::kArray) {
      JsonValue& item = parent.items.emplace_back();
      item.pointer = child_pointer(parent.pointer, std::to_string(parent.items.size() - 1));
      return item;
    }
    JsonMember& member = parent.members.back();
    member.value.pointer = child_pointer(parent.pointer, member.name);
    return member.value;
  }

  bool add_number(double number) {
    JsonValue& value = add(JsonKind::kNumber);
    value.number = number;
    value.text = token_;
    return true;
  }

  bool open(JsonKind kind) {
    if (open_.size() >= kMaxDepth) {
      walker_.skip_separators();
      fail("more than " + std::to_string(kMaxDepth) + " lists and objects inside one another");
    }
    open_.push_back(&add(kind));
    lines_of_names_.emplace_back();
    expectation_ =
        kind == JsonKind::kObject ? JsonExpectation::kNameOrEnd : JsonExpectation::kValueOrEnd;
    return true;
  }

  bool close() {
    take_place();
    open_.pop_back();
    lines_of_names_.pop_back();
    expect_after_value();
    return true;
  }

  void expect_after_value() {
    expectation_ = open_.empty()                             ? JsonExpectation::kEndOfText
                   : open_.back()->kind == JsonKind::kObject ? JsonExpectation::kCommaOrBrace
                                                             : JsonExpectation::kCommaOrBracket;
  }

  TokenWalker walker_;
  std::shared_ptr<const JsonSource> source_;
  std::string_view token_;
  JsonValue root_;
  std::vector<JsonValue*> open_;  // an open container is the last of its parent, so it stays put
  std::vector<std::unordered_map<std::string, std::size_t>> lines_of_names_;  // of each of open_
  JsonExpectation expectation_ = JsonExpectation::kValue;
};

std::string message_at(const JsonPlace& place, const std::string& pointer,
                       const std::string& message) {
  constexpr std::size_t kLongestPointer = 400;  // three names of the longest and what is between
  return fmt::format("{}: {}{}{}", to_text(place), shortened(pointer, kLongestPointer),
                     pointer.empty() ? "" : ": ", message);
}

}  // namespace

std::string to_text(const JsonPlace& place) {
  if (place.line == 0) return place.source->name;
  return fmt::format("{}:{}:{}", place.source->name, place.line, place.column);
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto member = std::ranges::find(members, name, &JsonMember::name);
  return member == members.end() ? nullptr : &member->value;
}

JsonValue* JsonValue::find(std::string_view name) {
  return const_cast<JsonValue*>(std::as_const(*this).find(name));
}

JsonValue read_json(std::string_view text, const JsonSource& source) {
  DocumentBuilder builder(text, source);
  if (text.starts_with("\xEF\xBB\xBF")) {
    builder.fail("the file starts with a byte order mark; save it as UTF-8 without one");
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    builder.fail("the file is UTF-16; save it as UTF-8");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.fail("the file is empty; expected an object such as {\"name\": \"first\", ...}");
  }
  nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, /*strict=*/true,
                            /*ignore_comments=*/true);
  return builder.take_root();
}

std::string child_pointer(const std::string& parent, std::string_view name) {
  return parent + (nlohmann::json::json_pointer() / std::string(name)).to_string();
}

void move_to(JsonValue& value, const JsonPlace& place, const std::string& pointer) {
  value.place = place;
  value.pointer = pointer;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    move_to(value.items[i], place, child_pointer(pointer, std::to_string(i)));
  }
  for (JsonMember& member : value.members) {
    member.place = place;
    move_to(member.value, place, child_pointer(pointer, member.name));
  }
}

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return value.boolean ? "true" : "false";
    case JsonKind::kNumber:
      return shortened(value.text);
    case JsonKind::kString:
      return quote_shortened(value.text);
    case JsonKind::kArray:
      return value.items.empty() ? "an empty list" : "a list";
    case JsonKind::kObject:
      return value.members.empty() ? "an empty object" : "an object";
  }
  return {};
}

std::string in_lines(std::string_view json) {
  return nlohmann::ordered_json::parse(json).dump(2);
}

void warn(std::vector<std::string>& warnings, const JsonValue& value, const std::string& message) {
  warnings.push_back(message_at(value.place, value.pointer, message));
}

void refuse(const JsonPlace& place, const std::string& pointer, const std::string& message) {
  throw UserError(message_at(place, pointer, message));
}

void refuse(const JsonValue& value, const std::string& message) {
  refuse(value.place, value.pointer, message);
}

void refuse_found(const JsonValue& value, const std::string& expected) {
  refuse(value, "found " + describe(value) + "; expected " + expected);
}

}  // namespace attnscale
