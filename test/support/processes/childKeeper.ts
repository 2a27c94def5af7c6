/**
 * Kills the processes that a test process leaves when it is killed itself. The keeper's standard input ends with that process.
 * childProcesses.ts sends it "+PID NAME" for a process group that began, and "-PID" for one that ended.
 */
import {createInterface} from "node:readline";

const names = new Map<number, string>();
// The signals that end a terminal's processes, or those of a runner that gives up, must not end this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

createInterface({input: process.stdin})
  .on("line", line => {
    const [, sign, pid, name] = /^([+-])(\d+) ?(.*)$/.exec(line) as RegExpExecArray;
    if (sign === "+") names.set(Number(pid), name as string);
    else names.delete(Number(pid));
  })
  .once("close", () => {
    for (const [pid, name] of names) {
      try {
        process.kill(-pid, "SIGKILL");
        process.stderr.write(`killed, since the test process has gone: ${name}\n`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  });
