// The program: hands the command to the room that does it, prints errors once, returns the exit
// code.
#include <iostream>

#include "app/program.h"
#include "execution/executor.h"

int main(int argc, char** argv) {
  attnscale::ThreadExecutor executor;
  return attnscale::run_program({argv + 1, argv + argc}, executor);
}
