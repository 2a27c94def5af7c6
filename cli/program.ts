/**
 * The command line: its commands, flags and PROOFD_* variables, and the checks before any work. A command's code is
 * loaded when the command runs. Loading that of `serve` takes 0.15 s.
 */
import {Argument, Command} from "commander";
import {VERSION} from "../server/version.ts";
import {SHELLS, writeCompletion} from "./commands/completionScript.ts";
import {createLoad} from "./commands/loadCommand.ts";
import {createCommand, onSwitch, required, value} from "./flags/flagTable.ts";
import {integerParser, parseBlockNumber, parseText} from "./flags/flagValues.ts";
import {adviseOnFlags} from "./flags/foreignFlags.ts";
import {IMPORT_FLAGS, readImportSource} from "./flags/importFlags.ts";
import {PULL_FLAGS, readPullOptions} from "./flags/pullFlags.ts";
import {SERVE_FLAGS} from "./flags/serveFlags.ts";
import {readServiceOptions} from "./flags/serveOptions.ts";
import {DB_FLAGS} from "./flags/sharedFlags.ts";
import {ignoreServiceVariables, readSwitches, refuseUnknownVariables} from "./flags/variables.ts";
import {readVerifyOptions, VERIFY_FLAGS} from "./flags/verifyFlags.ts";

const SERVE_EXAMPLES = `
Examples:
  proofd serve --demo                                    a small chain that is built in
  proofd serve --db DIR                                  what "proofd import" has put into DIR
  proofd serve --db DIR --l2 http://node:8545 --genesis genesis.json --finality tag
                                                         follow a node of layer 2, and its finalized tag
  proofd serve --db DIR --l2 http://node:8545 --l1 http://l1:8545 --rollup ADDRESS
                                                         and finality from the rollup's contract on layer 1

Only finalized blocks can be proved. README.md and docs/ tell more: importing.md (--diffs, --genesis, --finalized), following.md
(--l2, --l1, finality), gas.md (estimates and fees), operations.md (running it).`;
const PULL_EXAMPLES = `
Examples:
  proofd pull --url http://127.0.0.1:8545 --block 100 --root 0x.. --all --out state        a whole state
  proofd pull --url http://127.0.0.1:8545 --block 100 --l1 http://l1:8545 --rollup ADDRESS --accounts --out state
                                                         all accounts, under the root that layer 1 holds
  proofd pull --verify state                             check the files, without a server

docs/pulling.md describes the files.`;

/** @param onExitCode - takes the exit code of the command that ran */
export function createProgram(onExitCode: (code: number) => void): Command {
  const program = new Command("proofd")
    .description("Proof service for a layer-2 rollup: sparse Merkle trees over JSON-RPC.")
    .version(VERSION, "-V, --version")
    .showHelpAfterError("(--help lists commands and flags)")
    .addHelpText(
      "after",
      "\nEvery flag may also come from a variable: --max-queue from PROOFD_MAX_QUEUE, those of load from PROOFD_LOAD_...",
    )
    .configureOutput({outputError: (message, write) => write(withoutKeys(message))})
    .exitOverride();
  const creators = [createImport, createServe, createFinalize, createCheck, createVerify];
  for (const create of [
    ...creators,
    createPull,
    createRollback,
    createSnapshot,
    createLoad,
    createVersion,
    createCompletion,
  ]) {
    const command = create(onExitCode).copyInheritedSettings(program);
    const outputError = (message: string, write: (text: string) => void) =>
      write(adviseOnFlags(withoutKeys(message), command));
    program.addCommand(command.configureOutput({outputError}));
  }
  return program;
}

/** A usage error without the value of a flag that is unknown, and without the user and password of a URL. */
function withoutKeys(text: string): string {
  return text
    .replace(/^(error: unknown option '--?[^=\n]*)=.*'/s, "$1=***'")
    .replaceAll(/:\/\/[^\s'/@]*@/g, "://***@");
}

/**
 * Checks the PROOFD_ variables. Those that Kubernetes sets for a service are ignored with a warning. Unknown ones are
 * refused when a command runs.
 *
 * @throws InvalidArgumentError if the variable of a switch is not 1, true, 0, false or empty
 */
export function readEnvironment(program: Command, environment: NodeJS.ProcessEnv): void {
  const warning = ignoreServiceVariables(environment);
  if (warning !== undefined) process.stderr.write(`warning: ${warning}\n`);
  refuseUnknownVariables(program, environment);
  for (const command of program.commands) readSwitches(command, environment);
}

function createImport(onExitCode: (code: number) => void): Command {
  const description =
    "Import blocks (--genesis and --blocks), block differences (--diffs), trie logs (--trielogs) or blocks of a node (--l2) into a store, or begin one with a pulled state (--pull).";
  return createCommand("import", description, IMPORT_FLAGS, async (values, command) => {
    const source = readImportSource(values, command);
    const {runImport} = await import("./commands/importCommand.ts");
    onExitCode(await runImport({...values, source}));
  });
}

function createServe(onExitCode: (code: number) => void): Command {
  const description = "Serve proofs of the store's finalized blocks, and gas estimates, over JSON-RPC.";
  const command = createCommand("serve", description, SERVE_FLAGS, async (values, command) => {
    const options = readServiceOptions(values, command);
    const {runServe} = await import("./commands/serveCommand.ts");
    onExitCode(await runServe(options, values));
  });
  return command.addHelpText("after", SERVE_EXAMPLES);
}

function createCheck(onExitCode: (code: number) => void): Command {
  const flags = {
    ...DB_FLAGS,
    block: value("<block>", parseBlockNumber).says("check only the state of this block"),
    sample: value("<count>", integerParser(1, Number.MAX_SAFE_INTEGER)).says(
      "check only this many random leaves of the block",
    ),
  };
  const description = "Find damage in a store and say where it is. Changes nothing.";
  return createCommand("check", description, flags, async values => {
    const {runCheck} = await import("./commands/checkCommand.ts");
    onExitCode(await runCheck(values));
  });
}

function createVerify(onExitCode: (code: number) => void): Command {
  const description = "Check the answer to a request for proofs against a root that you trust.";
  return createCommand("verify", description, VERIFY_FLAGS, async (values, command) => {
    const options = readVerifyOptions(values, command);
    const {runVerify} = await import("./commands/verifyCommand.ts");
    onExitCode(await runVerify(options));
  });
}

function createPull(onExitCode: (code: number) => void): Command {
  const description =
    "Pull whole states or parts of them from a proofd, verified, into files that other tools read.";
  const command = createCommand("pull", description, PULL_FLAGS, async (values, command) => {
    const options = readPullOptions(values, command);
    const {runPullCommand} = await import("./commands/pullCommand.ts");
    onExitCode(await runPullCommand(options));
  });
  return command.addHelpText("after", PULL_EXAMPLES);
}

function createFinalize(onExitCode: (code: number) => void): Command {
  const to = value("<block>", parseBlockNumber).says(
    "mark all blocks up to this one, which are finalized on layer 1",
  );
  const description =
    "Mark blocks of a store as finalized, permanently. Works while another proofd serves or imports.";
  return createCommand("finalize", description, {...DB_FLAGS, to: required(to)}, async values => {
    const {runFinalize} = await import("./commands/finalizeCommand.ts");
    onExitCode(await runFinalize(values));
  });
}

function createRollback(onExitCode: (code: number) => void): Command {
  const flags = {
    ...DB_FLAGS,
    to: required(value("<block>", parseBlockNumber).says("block that becomes the newest")),
    finalized: onSwitch("remove finalized blocks too; only while no other proofd has the store open"),
  };
  const description =
    "Remove the unfinalized blocks above a block, also while another proofd serves or imports.";
  return createCommand("rollback", description, flags, async values => {
    const {runRollback} = await import("./commands/rollbackCommand.ts");
    onExitCode(await runRollback(values));
  });
}

function createSnapshot(onExitCode: (code: number) => void): Command {
  const out = value("<folder>", parseText).says("folder to make; the folder that it lies in must be there");
  const description =
    "Make a second store that holds what a store holds at one moment, also while another proofd serves or imports.";
  return createCommand("snapshot", description, {...DB_FLAGS, out: required(out)}, async values => {
    const {runSnapshot} = await import("./commands/snapshotCommand.ts");
    onExitCode(await runSnapshot(values));
  });
}

function createVersion(): Command {
  const description = "Print the version, the commit, Node's version, the HTTP library and the hash suites.";
  return createCommand("version", description, {}, async () => {
    const {describeVersion} = await import("./commands/versionCommand.ts");
    process.stdout.write(describeVersion());
  });
}

function createCompletion(): Command {
  const description = "Print a script that completes commands and flags in a shell.";
  const command = createCommand("completion", description, {}, (_, {parent, processedArgs}) => {
    process.stdout.write(writeCompletion(parent as Command, processedArgs[0]));
  });
  return command.addArgument(new Argument("<shell>").choices(SHELLS));
}
