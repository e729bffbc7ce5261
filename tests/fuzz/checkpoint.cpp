#include "execution/checkpoint.h"

#include "execution/ledger.h"
#include "fuzz/targets.h"
#include "io/sha256.h"

namespace attnscale {
namespace {

std::string text_of(const Checkpoint& checkpoint, const Plan& plan) {
  const Ledger ledger(plan, checkpoint.shard, read_cells(checkpoint, plan));
  for (std::size_t i = 0; i < ledger.cells(); ++i) ledger.missing(i);
  if (checkpoint.shard == Shard{} && ledger.is_complete()) ledger.tallies();
  return checkpoint_text(checkpoint.identity, ledger);
}

}  // namespace

// The bytes are a checkpoint without its last line, the hash of the rest, which keeps out accidents
// but no authors.
void fuzz_checkpoint(std::string_view bytes) {
  const std::string whole = std::string(bytes) + "sha256 " + sha256_hex(bytes) + "\n";
  may_refuse([&] {
    const Checkpoint checkpoint = parse_checkpoint(whole, "file");
    const Config config = config_of(checkpoint.identity.config);
    if (!is_small(config)) return;
    const Plan plan = make_plan(config);
    const std::string text = text_of(checkpoint, plan);
    expect(text_of(parse_checkpoint(text, "file"), plan) == text,
           "a checkpoint reads back as it was written");
  });
}

}  // namespace attnscale
