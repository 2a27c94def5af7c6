/** Reads flags as a command of proofd does. */
import assert from "node:assert/strict";
import {type Command, CommanderError} from "commander";
import {createCommand, type Flags, type ValuesOf} from "../../../cli/flags/flagTable.ts";
import {readSwitches} from "../../../cli/flags/variables.ts";

type Variables = Readonly<Record<string, string>>;

/** @param said - gets what the command writes */
export function readFlags<F extends Flags, R>(
  flags: F,
  read: (values: ValuesOf<F>, command: Command) => R,
  args: readonly string[],
  variables: Variables = {},
  said: string[] = [],
): R {
  const results: R[] = [];
  const write = (text: string) => said.push(text);
  const command = createCommand("serve", "", flags, (values, self) => {
    results.push(read(values, self));
  });
  command.exitOverride().configureOutput({writeErr: write, writeOut: write});
  // Commander takes variables from process.env.
  Object.assign(process.env, variables);
  try {
    readSwitches(command, process.env);
    command.parse(args, {from: "user"});
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
  assert.equal(results.length, 1);
  return results[0] as R;
}

/** Checks that `run` ends with a usage error. Nothing that has "secret" in it may be in the message, or in `said`. */
export function assertUsageError(run: () => unknown, message: RegExp, said: readonly string[] = []): void {
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof CommanderError, String(error));
    assert.notEqual(error.exitCode, 0);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message + said.join(""), /secret/);
    return true;
  });
}
