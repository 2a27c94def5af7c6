/** The command line. The code of a command is loaded when it runs: loading that of `serve` takes 0.15 s. */
import {Command} from "commander";
import {VERSION} from "../server/version.ts";
import {ExitCode} from "./exitCode.ts";
import {createCommand, type Flags, onSwitch, required, type ValuesOf, value} from "./flags/flagTable.ts";
import {integerParser, parseBlockNumber, parseText} from "./flags/flagValues.ts";
import {IMPORT_FLAGS, readImportSource} from "./flags/importFlags.ts";
import {LOAD_FLAGS, readLoadOptions} from "./flags/loadFlags.ts";
import {PULL_FLAGS, readPullOptions} from "./flags/pullFlags.ts";
import {requireWritable} from "./flags/reportFile.ts";
import {SERVE_FLAGS} from "./flags/serveFlags.ts";
import {readServiceOptions} from "./flags/serveOptions.ts";
import {DB_FLAGS} from "./flags/sharedFlags.ts";
import {ignoreServiceVariables, readSwitches, refuseUnknownVariables} from "./flags/variables.ts";
import {readVerifyOptions, VERIFY_FLAGS} from "./flags/verifyFlags.ts";

/** What each command does, for the help. */
const COMMANDS = {
  import:
    "Import blocks (--genesis and --blocks), block differences (--diffs), trie logs (--trielogs) or blocks of a node (--l2) into a store, or initialise a store with a pulled state (--pull).",
  serve: "Serve proofs of the store's finalized blocks, and gas estimates, over JSON-RPC.",
  finalize: "Mark blocks as finalized, permanently. Works while another proofd serves or imports.",
  check: "Check a store for damage, read-only.",
  verify: "Verify the response to a proof request against a root that you trust.",
  pull: "Pull a state, or parts of it, verified, into files for other tools.",
  rollback: "Remove the unfinalized blocks above a block. Works while another proofd serves or imports.",
  snapshot: "Create a consistent copy of a store. Works while another proofd serves or imports.",
  load: "Load-test a server with proof requests; report throughput, latency, errors, and whether answers are right.",
  version: "Print the version, commit, Node version, HTTP library and hash suites.",
};
const SERVE_EXAMPLES = `
Examples:
  proofd serve --demo                                    the built-in demo chain
  proofd serve --db DIR                                  a store that "proofd import" filled
  proofd serve --db DIR --l2 http://node:8545 --genesis genesis.json --finality tag
                                                         follow a layer-2 node and its finalized tag
  proofd serve --db DIR --l2 http://node:8545 --l1 http://l1:8545 --rollup ADDRESS
                                                         finality from the rollup contract on layer 1

Only finalized blocks can be proved. More in README.md and docs/: importing.md (--diffs, --genesis, --finalized), following.md
(--l2, --l1, finality), gas.md (estimates and fees), operations.md (running it).`;
const PULL_EXAMPLES = `
Examples:
  proofd pull --url http://127.0.0.1:8545 --block 100 --root 0x.. --all --out state        a whole state
  proofd pull --url http://127.0.0.1:8545 --block 100 --l1 http://l1:8545 --rollup ADDRESS --accounts --out state
                                                         all accounts, under the root recorded on layer 1
  proofd pull --verify state                             verify a completed pull, offline

docs/pulling.md describes the files.`;

const FINALIZE_FLAGS = {
  ...DB_FLAGS,
  to: required(
    value("<block>", parseBlockNumber).says(
      "last block to mark; all blocks up to it are finalized on layer 1",
    ),
  ),
};
const CHECK_FLAGS = {
  ...DB_FLAGS,
  block: value("<block>", parseBlockNumber).says("check only the state of this block"),
  sample: value("<count>", integerParser(1, Number.MAX_SAFE_INTEGER)).says(
    "check only this many random leaves of the block",
  ),
};
const ROLLBACK_FLAGS = {
  ...DB_FLAGS,
  to: required(value("<block>", parseBlockNumber).says("block to keep as the newest")),
  finalized: onSwitch("also remove finalized blocks; requires that no other proofd has the store open"),
};
const SNAPSHOT_FLAGS = {
  ...DB_FLAGS,
  out: required(value("<folder>", parseText).says("folder to create; its parent must exist")),
};

export function createProgram(onExitCode: (code: number) => void): Command {
  const program = new Command("proofd")
    .description("Proof server for layer-2 rollups: Merkle proofs of accounts and slots over JSON-RPC.")
    .version(VERSION, "-V, --version")
    .showHelpAfterError("(--help lists commands and flags)")
    .addHelpText(
      "after",
      "\nEvery flag can be set by an environment variable: --max-queue by PROOFD_MAX_QUEUE, those of load by PROOFD_LOAD_...",
    )
    .configureOutput({outputError: (message, write) => write(withoutKeys(message))})
    .exitOverride();

  /** @param run - returns the exit code */
  function add<F extends Flags>(
    name: keyof typeof COMMANDS,
    flags: F,
    run: (values: ValuesOf<F>, command: Command) => Promise<number>,
  ): Command {
    // Flags of load, such as --blocks, have another meaning in other commands.
    const prefix = name === "load" ? "PROOFD_LOAD" : "PROOFD";
    const work = async (values: ValuesOf<F>, self: Command) => onExitCode(await run(values, self));
    const command = createCommand(name, COMMANDS[name], flags, work, prefix).copyInheritedSettings(program);
    program.addCommand(command);
    return command;
  }

  add("import", IMPORT_FLAGS, async (values, command) => {
    const source = readImportSource(values, command);
    const {runImport} = await import("./commands/importCommand.ts");
    return runImport({...values, source});
  });
  add("serve", SERVE_FLAGS, async (values, command) => {
    const options = readServiceOptions(values, command);
    const {runServe} = await import("./commands/serveCommand.ts");
    return runServe(options, values);
  }).addHelpText("after", SERVE_EXAMPLES);
  add("finalize", FINALIZE_FLAGS, async values => {
    const {runFinalize} = await import("./commands/blockCommands.ts");
    return runFinalize(values);
  });
  add("check", CHECK_FLAGS, async values => {
    const {runCheck} = await import("./commands/checkCommand.ts");
    return runCheck(values);
  });
  add("verify", VERIFY_FLAGS, async (values, command) => {
    const options = readVerifyOptions(values, command);
    const {runVerify} = await import("./commands/verifyCommand.ts");
    return runVerify(options);
  });
  add("pull", PULL_FLAGS, async (values, command) => {
    const options = readPullOptions(values, command);
    const {runPullCommand} = await import("./commands/pullCommand.ts");
    return runPullCommand(options);
  }).addHelpText("after", PULL_EXAMPLES);
  add("rollback", ROLLBACK_FLAGS, async values => {
    const {runRollback} = await import("./commands/blockCommands.ts");
    return runRollback(values);
  });
  add("snapshot", SNAPSHOT_FLAGS, async values => {
    const {runSnapshot} = await import("./commands/snapshotCommand.ts");
    return runSnapshot(values);
  });
  add("load", LOAD_FLAGS, async (values, command) => {
    const options = readLoadOptions(values, command);
    if (values.html !== undefined) requireWritable(values.html, "html", command);
    const {runLoad} = await import("./commands/loadCommand.ts");
    return runLoad(options, values, command);
  });
  add("version", {}, async () => {
    const {describeVersion} = await import("./commands/versionCommand.ts");
    process.stdout.write(describeVersion());
    return ExitCode.OK;
  });
  return program;
}

/** Removes the value of an unknown flag, and user and password of a URL, from a usage error. */
function withoutKeys(text: string): string {
  return text
    .replace(/^(error: unknown option '--?[^=\n]*)=.*'/s, "$1=***'")
    .replaceAll(/:\/\/[^\s'/@]*@/g, "://***@");
}

/** Validates the PROOFD_ variables, except those of Kubernetes. @throws InvalidArgumentError for a bad switch */
export function readEnvironment(program: Command, environment: NodeJS.ProcessEnv): void {
  const warning = ignoreServiceVariables(environment);
  if (warning !== undefined) process.stderr.write(`warning: ${warning}\n`);
  refuseUnknownVariables(program, environment);
  for (const command of program.commands) readSwitches(command, environment);
}
