#include "io/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <system_error>

#include "support/scratch_folder.h"

namespace attnscale {
namespace {

// NIST, Cryptographic Standards and Guidelines, examples with intermediate values for SHA-256, and
// the long message of the Secure Hash Standard's test vectors (one million times "a").
TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The lengths around which the padding takes another block; digests by Python's hashlib.
TEST(Sha256, PadsMessagesOfEveryLengthNearABlock) {
  EXPECT_EQ(sha256_hex(std::string(55, 'b')),
            "eb2c86e932179f4ba13fe8715a26124b77d6bad290b9b4c1cc140cf633300c19");
  EXPECT_EQ(sha256_hex(std::string(56, 'b')),
            "a5fc6e203a4c2b657d0d153885932414b2ffc6a93f0f8bf8b3183315e5a7212c");
  EXPECT_EQ(sha256_hex(std::string(63, 'b')),
            "94e419fabac7f930810f9636354042f8c1426d2f834d4ab65c93dc1e69326b13");
  EXPECT_EQ(sha256_hex(std::string(64, 'b')),
            "a0fab1377f49a759b57f63318262ebe89fabfc990e8e93ceac2984561482b9d4");
  EXPECT_EQ(sha256_hex(std::string(65, 'b')),
            "74b128f30cf83de43ddf4aafc40c7b50a7443d3c73a89a7cfca17e15e43d51ab");
  EXPECT_EQ(sha256_hex(std::string(119, 'b')),
            "68297a9eb141ce16bbc0847da1c0c48e2858704feaa13993bde29f87a198a6e1");
  EXPECT_EQ(sha256_hex(std::string(120, 'b')),
            "392add47fbaa8197a874ebe770a947a26dd6f2becce5f64688cc4d18c9da93bd");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const ScratchFolder folder;
  put(folder / "million", std::string(1000000, 'a'));
  EXPECT_EQ(sha256_hex_of_file(folder / "million"),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  put(folder / "empty", "");
  EXPECT_EQ(sha256_hex_of_file(folder / "empty"),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, NamesTheFileItCannotRead) {
  const ScratchFolder folder;
  try {
    sha256_hex_of_file(folder / "absent.csv");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("absent.csv: No such file or directory"));
  }
}

}  // namespace
}  // namespace attnscale
