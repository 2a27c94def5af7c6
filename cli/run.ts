/** Runs a command and turns its end into an exit code. */
import {CommanderError} from "commander";
import {ExitCode} from "./exitCode.ts";
import {createProgram, readEnvironment} from "./program.ts";
import {WorkError} from "./workError.ts";

export async function run(): Promise<number> {
  let exitCode: number = ExitCode.OK;
  try {
    const program = createProgram(code => {
      exitCode = code;
    });
    readEnvironment(program, process.env);
    await program.parseAsync(process.argv);
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/** @returns the exit code for what was thrown; what is not expected shows its stack */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written its message; the environment's errors are ours.
    if (error.code === "commander.invalidArgument" && error.message.startsWith("environment"))
      process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode === 0 ? ExitCode.OK : ExitCode.USAGE;
  }
  if (error instanceof WorkError) process.stderr.write(`error: ${error.message}\n`);
  else process.stderr.write(`error: unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  return ExitCode.FAILED;
}
