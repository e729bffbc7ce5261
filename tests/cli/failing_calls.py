"""What the tests share that disturb the program with tests/support/failing_calls.cpp."""

import os

# A config with every kind of file, measured in no time.
CONFIG = {"name": "killed", "seed": 4, "experiments": [
    {"name": "drawn", "d": [4, 16], "keys": 4, "queries": 3000, "samples": 2,
     "metrics": ["logit_sd", "top_weight"], "histogram": ["top_weight"]},
    {"name": "typed", "metrics": ["top_weight"],
     "given": {"scores": [[16, 8, 0], [1, 2, 3]], "d": 16}}]}

KILLS = ("kill", "torn")
ERRORS = {"ENOSPC": "No space left on device", "ENOSPC+": "No space left on device",
          "EIO": "Input/output error", "EIO+": "Input/output error"}


def disturbed(library, folder, **settings):
    """What to add to the environment for calls below `folder` to go wrong; the settings are those
    that the library says, as in at=3, how="kill"."""
    return {"LD_PRELOAD": str(library), "FAIL_FOLDER": os.path.realpath(folder)} | {
        f"FAIL_{name.upper()}": str(value) for name, value in settings.items()}
