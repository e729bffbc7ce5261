"""A Slurm cluster of one node, this machine, without systemd, root or a file outside its folder.

Its daemons stay in the foreground as children of the test, on ports of their own; `stop` ends them
and the jobs by process id. The node says it has four processors, whatever the machine has.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# Each command and the Debian package it is in.
TOOLS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client",
         "srun": "slurm-client", "squeue": "slurm-client"}
DAEMONS_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"

CONFIG = """ClusterName=attnscale
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=5
MinJobAge=3600
SchedulerParameters=sched_interval=2,bf_interval=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_package():
    """The first Debian package that is not installed, or nothing."""
    for tool, package in TOOLS.items():
        if not shutil.which(tool, path=DAEMONS_PATH):
            return package
    return None


def wait_until(condition, what, seconds=60):
    """Waits, and returns what the condition did: something that counts as true."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} seconds")
        time.sleep(0.1)
    return answer


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class SlurmNode:
    def __init__(self, folder):
        """Starts the cluster in `folder`, which is there. munged accepts no folder above it that
        all may write to, but for one with the sticky bit, such as /tmp."""
        self.folder = Path(folder)
        self.daemons = []
        self.environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"),
                                         "PATH": DAEMONS_PATH}
        self.folder.chmod(0o755)  # munged's socket must be within reach of all
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        controller_port, node_port = free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIG.format(
            host=socket.gethostname().partition(".")[0], user=pwd.getpwuid(os.getuid()).pw_name,
            folder=self.folder, controller_port=controller_port, node_port=node_port))
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self):
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self._daemon("munged", "--foreground", f"--key-file={key}",
                     f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                     f"--seed-file={self.folder}/munged.seed")
        wait_until((self.folder / "munge.socket").exists, "munged's socket")
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-c")
        wait_until(lambda: self.ask("sinfo", "-h", "-o", "%T") == "idle", "an idle node")

    def _daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "wb") as output:
            self.daemons.append(subprocess.Popen(
                [shutil.which(name, path=DAEMONS_PATH), *arguments], stdout=output,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.environment,
                start_new_session=True))

    def ask(self, *command):
        """What a command of Slurm prints; nothing if it fails."""
        answer = subprocess.run(command, capture_output=True, text=True, env=self.environment,
                                timeout=60)
        return answer.stdout.strip() if answer.returncode == 0 else ""

    def tasks(self, job):
        """Task of an array, or the job itself -> its state and exit code."""
        lines = self.ask("squeue", "-h", "-r", "-t", "all", "-j", job, "-O",
                         "ArrayJobID:20,ArrayTaskID:20,JobID:20,State:20,exit_code:20").splitlines()
        return {task if task != "N/A" else number: (state, int(status) // 256)
                for _, task, number, state, status in map(str.split, lines)}

    def log(self):
        """The end of what the daemons and the jobs submitted in `folder` wrote."""
        paths = [*self.folder.glob("*.log"), *self.folder.glob("slurm-*.out")]
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}"
                         for path in sorted(paths))

    def stop(self):
        if len(self.daemons) == 3:
            self.ask("scancel", "--signal=KILL", "--full", f"--user={os.getuid()}")
            self.ask("scancel", f"--user={os.getuid()}")
            with contextlib.suppress(TimeoutError):
                wait_until(lambda: not self.ask("squeue", "-h"), "the end of all jobs", 30)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
