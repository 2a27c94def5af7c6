/** Runs a command and maps its outcome to an exit code. */
import {CommanderError} from "commander";
import {SettingsError, StillOpen, StoppedEarly, WorkError} from "../server/lifecycle/workError.ts";
import {ExitCode, endByForce} from "./exitCode.ts";
import {createProgram, readEnvironment} from "./program.ts";

/** @param args - without the program's name. @returns the exit code */
export async function run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode: number = ExitCode.OK;
  try {
    const program = createProgram(code => {
      exitCode = code;
    });
    readEnvironment(program, environment);
    await program.parseAsync(args, {from: "user"});
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/** Prints the error, with its stack if it is unexpected. @returns the exit code */
export function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander prints its own errors, but not those of `readEnvironment`.
    if (error.code === "commander.invalidArgument" && error.message.startsWith("environment"))
      process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode === 0 ? ExitCode.OK : ExitCode.USAGE;
  }
  if (error instanceof StoppedEarly) return ExitCode.OK;
  if (error instanceof StillOpen) {
    process.stderr.write(`error: ${error.message}; the process ends itself with SIGKILL\n`);
    endByForce();
  }
  if (error instanceof WorkError) process.stderr.write(`error: ${error.message}\n`);
  else process.stderr.write(`error: unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  return error instanceof SettingsError ? ExitCode.USAGE : ExitCode.FAILED;
}
