// The program on one machine.
#include "app/program.h"
#include "execution/executor.h"

int main(int argc, char** argv) {
  attnscale::ThreadExecutor executor;
  return attnscale::run_program({argv + 1, argv + argc}, executor);
}
