// The program for many processes: the same commands as attnscale, started with mpirun or srun. The
// root runs them, the other ranks measure what it hands out; all return its exit code.
#include <exception>
#include <string>

#include "app/process.h"
#include "app/program.h"
#include "config/config.h"
#include "config/user_error.h"
#include "execution/executor_mpi.h"

int main(int argc, char** argv) {
  using namespace attnscale;
  try {
    const MpiWorld world(&argc, &argv);
    if (world.rank() != 0) {
      return serve(world,
                   [](const std::string& text) { return parse_config(text, "the root").config; });
    }
    MpiExecutor executor(world, to_json_text);
    const int code = run_program({argv + 1, argv + argc}, executor);
    executor.dismiss(code);
    return code;
  } catch (const std::exception& error) {
    say(std::string("attnscale: ") + error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
