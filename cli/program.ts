/**
 * The command line: its commands, flags and PROOFD_* variables, and the checks before any work. A command's code is
 * loaded when the command runs. Loading that of `serve` takes 0.15 s.
 */
import {availableParallelism} from "node:os";
import {Command, type Option} from "commander";
import {VERSION} from "../server/version.ts";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../storage/hash/suiteNames.ts";
import type {ImportSource} from "../workers/job/importSource.ts";
import type {CheckOptions} from "./commands/checkCommand.ts";
import type {FinalizeOptions} from "./commands/finalizeCommand.ts";
import {createLoad} from "./commands/loadCommand.ts";
import type {RollbackOptions} from "./commands/rollbackCommand.ts";
import {createEstimateOptions, readEstimateOptions, refuseIdle} from "./flags/estimateFlags.ts";
import {createFinalityOptions, readFinality} from "./flags/finalityFlags.ts";
import {
  createOption,
  createSwitch,
  integerParser,
  listParser,
  MAX_WORKERS,
  parseBlockNumber,
  parseChainId,
  parseFinalized,
  parseHash,
  parseHostName,
  parseOrigin,
  parseText,
  readSwitches,
  refuseUnknownVariables,
} from "./flags/flag.ts";
import {createHistoryOption} from "./flags/historyFlag.ts";
import {createLimitOptions, readLimits} from "./flags/limitFlags.ts";
import {createNamespaceOption} from "./flags/namespaceFlag.ts";
import {createNodeOptions, readNodes, refuseSockets} from "./flags/nodeFlags.ts";
import {
  createNodeSourceOptions,
  createToOption,
  type NodeSourceFlags,
  readNodeSource,
  refuseReading,
} from "./flags/nodeSourceFlags.ts";
import {ignoreServiceVariables} from "./flags/serviceVariables.ts";
import {createVerifyOptions, readVerifyOptions, type VerifyFlags} from "./flags/verifyFlags.ts";

/** 30 years. */
const MAX_LAG_SECONDS = 1_000_000_000;
const DEFAULT_AUDIT_SAMPLES = 16;
/** With a slot each, 50 000 calls to the node. */
const MAX_AUDIT_SAMPLES = 10_000;
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** @param onExitCode - takes the exit code of the command that ran */
export function createProgram(onExitCode: (code: number) => void): Command {
  const program = new Command("proofd")
    .description("Proof service for a layer-2 rollup: sparse Merkle trees over JSON-RPC.")
    .version(VERSION, "-V, --version")
    .showHelpAfterError("(--help lists commands and flags)")
    .addHelpText(
      "after",
      "\nEvery flag may also come from a variable: --max-batch from PROOFD_MAX_BATCH, those of load from PROOFD_LOAD_...",
    )
    .exitOverride();
  program.addCommand(createImport(onExitCode));
  program.addCommand(createServe(onExitCode));
  program.addCommand(createFinalize(onExitCode));
  program.addCommand(createCheck(onExitCode));
  program.addCommand(createAudit(onExitCode));
  program.addCommand(createVerify(onExitCode));
  program.addCommand(createRollback(onExitCode));
  program.addCommand(createLoad(onExitCode));
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/**
 * Checks the PROOFD_ variables. Those that Kubernetes sets for a service are ignored with a warning. Unknown ones are refused when a command runs.
 *
 * @throws InvalidArgumentError if the variable of a switch is not 1, true, 0, false or empty
 */
export function readEnvironment(program: Command, environment: NodeJS.ProcessEnv): void {
  const warning = ignoreServiceVariables(environment);
  if (warning !== undefined) process.stderr.write(`warning: ${warning}\n`);
  refuseUnknownVariables(program, environment);
  for (const command of program.commands) readSwitches(command.options, environment);
}

function createImport(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("import"), [
    dbOption(),
    genesisOption(),
    createOption("--blocks <file>", "blocks in the format of `geth export`, plain or .gz").argParser(
      parseText,
    ),
    createOption(
      "--diffs <file>",
      "block differences as NDJSON, plain or .gz; - reads standard input",
    ).argParser(parseText),
    createOption(
      "--trielogs <file>",
      "trie logs of Besu's Shomei plugin, one per line, plain or .gz; - reads standard input; block 0 is that of --genesis, if it is given",
    ).argParser(parseText),
    ...createNodeSourceOptions(),
    createToOption(),
    finalizedOption(),
    createOption(
      "--head <hash>",
      "hash of the last block; a source that ends at another block is refused",
    ).argParser(parseHash),
    createHistoryOption(),
    chainIdOption(),
    suiteOption(),
  ])
    .description(
      "Import blocks (--genesis and --blocks), block differences (--diffs), trie logs (--trielogs) or blocks of a node (--l2) into a store.",
    )
    .action(async (values, command: Command) => {
      const source = chooseSource(values, command);
      const {db, finalized, head, history, chainId, suite} = values;
      const {runImport} = await import("./commands/importCommand.ts");
      onExitCode(await runImport({db, source, finalized, head, history, chainId, suite}));
    });
}

interface SourceFlags extends NodeSourceFlags {
  readonly blocks?: string;
  readonly diffs?: string;
  readonly trielogs?: string;
  readonly head?: Uint8Array;
}

function chooseSource(values: SourceFlags, command: Command): ImportSource {
  const {genesis, blocks, diffs, trielogs, head} = values;
  const node = readNodeSource(values, {blocks, diffs, trielogs, head}, false, command);
  if (node !== undefined) return node;
  if (trielogs !== undefined) {
    const other = diffs === undefined ? (blocks === undefined ? undefined : "--blocks") : "--diffs";
    if (other !== undefined) command.error(`error: --trielogs and ${other} cannot be used together`);
    return {kind: "trielogs", path: trielogs, genesisPath: genesis};
  }
  if (diffs !== undefined) {
    const other = genesis === undefined ? (blocks === undefined ? undefined : "--blocks") : "--genesis";
    if (other !== undefined) command.error(`error: --diffs and ${other} cannot be used together`);
    return {kind: "diffs", path: diffs};
  }
  if (genesis === undefined && blocks === undefined)
    command.error("error: nothing to import: give --genesis and --blocks, or --diffs, --trielogs or --l2");
  if (genesis === undefined) command.error("error: --blocks needs --genesis");
  if (blocks === undefined) command.error("error: --genesis needs --blocks or --trielogs");
  return {kind: "blocks", genesisPath: genesis as string, blocksPath: blocks as string};
}

function createServe(onExitCode: (code: number) => void): Command {
  const defaultWorkers = Math.max(1, availableParallelism() - 1);
  return addOptions(new Command("serve"), [
    dbOption(),
    createOption("--host <address>", "address to listen on").argParser(parseText).default("127.0.0.1"),
    createOption("--port <port>", "port to listen on; 0 takes a free port")
      .argParser(integerParser(0, 65_535))
      .default(8545),
    createOption("--workers <count>", "number of proof threads")
      .argParser(integerParser(1, MAX_WORKERS))
      .default(defaultWorkers, `cores - 1, here ${defaultWorkers}`),
    createOption(
      "--cache-mb <mib>",
      "MiB of pages and key positions that each proof and estimate thread keeps",
    )
      .argParser(integerParser(1, 65_536))
      .default(64),
    createOption(
      "--diffs <file>",
      "import these block differences while serving; - reads standard input",
    ).argParser(parseText),
    ...createNodeSourceOptions(),
    genesisOption(),
    finalizedOption(),
    createOption(
      "--max-lag <seconds>",
      "fail /readyz while the newest block is older than this, or when the source of --diffs or --l2 has ended or failed",
    ).argParser(integerParser(1, MAX_LAG_SECONDS)),
    createOption(
      "--max-finality-lag <seconds>",
      "fail /readyz while the newest finalized block is older than this",
    ).argParser(integerParser(1, MAX_LAG_SECONDS)),
    ...createNodeOptions("l1"),
    ...createFinalityOptions(),
    createSwitch("--demo", "import and serve the built-in demo chain; all its blocks are finalized"),
    createOption(
      "--cors <origin>",
      "let web pages of this origin ask from a browser; * for any origin; may be given several times",
    ).argParser(listParser(parseOrigin)),
    createOption(
      "--allow-host <name>",
      "let requests call the server by this name besides localhost; * for any name; may be given several times; default: any name, unless --host is loopback",
    ).argParser(listParser(parseHostName)),
    createNamespaceOption(),
    createHistoryOption(),
    createSwitch("--verify", "compare the checksums of all tables in the background after the start"),
    chainIdOption(),
    suiteOption(),
    ...createLimitOptions(),
    ...createEstimateOptions(),
    createOption("--log-level <level>", "log entries of this level and above to standard error")
      .choices(LOG_LEVELS)
      .default("info"),
    createSwitch("--log-requests", "log every request"),
  ])
    .description("Serve proofs of the store's finalized blocks, and gas estimates, over JSON-RPC.")
    .action(async (values, command: Command) => {
      const {db, host, port, workers, cacheMb, diffs, finalized, maxLag, demo, verify, chainId, suite} =
        values;
      const {cors, allowHost, namespace, history, logLevel, logRequests} = values;
      const nodes = readNodes(values, "l2", command);
      // Beside --diffs the nodes only tell what is finalized.
      const isOnlyFinality = diffs !== undefined && values.finality === "tag";
      const l2 = isOnlyFinality ? undefined : readNodeSource(values, {diffs, demo}, true, command);
      if (isOnlyFinality) {
        refuseReading(command, "with --diffs");
        if (nodes !== undefined) refuseSockets(nodes, command, "with --diffs");
      }
      if (l2 === undefined) refuseIdle([genesisOption()], command, "without blocks of --l2");
      if (diffs === undefined && l2 === undefined) {
        refuseIdle([finalizedOption()], command, "without --diffs or --l2");
        if (maxLag !== undefined)
          command.error("error: --max-lag needs --diffs or --l2: without them, no new block arrives");
      }
      const finality = readFinality(values, readNodes(values, "l1", command), nodes, command);
      const {runServe} = await import("./commands/serveCommand.ts");
      const served = {
        db,
        host,
        port,
        workers,
        cacheBytes: cacheMb * 2 ** 20,
        diffs,
        l2,
        finalized,
        maxLagSeconds: maxLag,
        maxFinalityLagSeconds: values.maxFinalityLag,
        finality,
        demo: demo === true,
        verify: verify === true,
        chainId,
        suite,
        cors: cors ?? [],
        allowedHosts: allowHost ?? [],
        namespace,
        history,
        logRequests: logRequests === true,
        limits: readLimits(values),
        estimate: readEstimateOptions(values, command),
      };
      onExitCode(await runServe(served, logLevel));
    });
}

function createCheck(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("check"), [
    dbOption(),
    createOption("--block <block>", "check only the state of this block").argParser(parseBlockNumber),
    createOption("--sample <count>", "check only this many random leaves of the block").argParser(
      integerParser(1, Number.MAX_SAFE_INTEGER),
    ),
  ])
    .description("Find damage in a store and say where it is. Changes nothing.")
    .action(async (values: CheckOptions) => {
      const {runCheck} = await import("./commands/checkCommand.ts");
      onExitCode(await runCheck({db: values.db, block: values.block, sample: values.sample}));
    });
}

function createAudit(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("audit"), [
    dbOption(),
    ...createNodeOptions("l2"),
    createOption("--block <block>", "compare values as of this block (default: the newest held)").argParser(
      parseBlockNumber,
    ),
    createOption("--sample <count>", "compare at most this many accounts and this many slots")
      .argParser(integerParser(1, MAX_AUDIT_SAMPLES))
      .default(DEFAULT_AUDIT_SAMPLES),
  ])
    .description(
      "Compare random accounts and slots that a block touched with a node's. Changes nothing, also while another proofd serves.",
    )
    .action(async (values, command: Command) => {
      const nodes = readNodes(values, "l2", command);
      if (nodes === undefined)
        return command.error("error: --l2 is missing: expected the URL of a layer-2 node");
      refuseSockets(nodes, command, "in an audit");
      const {db, block, sample} = values;
      const {runAudit} = await import("./commands/auditCommand.ts");
      onExitCode(await runAudit({db, nodes, block, sample}));
    });
}

function createVerify(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("verify"), createVerifyOptions())
    .description("Check the answer to a request for proofs against a root that you trust.")
    .action(async (flags: VerifyFlags, command: Command) => {
      const options = readVerifyOptions(flags, command);
      const {runVerify} = await import("./commands/verifyCommand.ts");
      onExitCode(await runVerify(options));
    });
}

function createFinalize(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("finalize"), [
    dbOption(),
    createOption("--to <block>", "mark all blocks up to this one, which are finalized on layer 1")
      .argParser(parseBlockNumber)
      .makeOptionMandatory(),
  ])
    .description(
      "Mark blocks of a store as finalized, permanently. Works while another proofd serves or imports.",
    )
    .action(async (values: FinalizeOptions) => {
      const {runFinalize} = await import("./commands/finalizeCommand.ts");
      onExitCode(await runFinalize(values));
    });
}

function createRollback(onExitCode: (code: number) => void): Command {
  return addOptions(new Command("rollback"), [
    dbOption(),
    createOption("--to <block>", "block that becomes the newest")
      .argParser(parseBlockNumber)
      .makeOptionMandatory(),
    createSwitch("--finalized", "remove finalized blocks too; only while no other proofd has the store open"),
  ])
    .description("Remove the unfinalized blocks above a block, also while another proofd serves or imports.")
    .action(async (values: RollbackOptions) => {
      const {runRollback} = await import("./commands/rollbackCommand.ts");
      onExitCode(await runRollback(values));
    });
}

function genesisOption(): Option {
  return createOption("--genesis <file>", "genesis.json with its alloc, in the format of geth").argParser(
    parseText,
  );
}

function dbOption(): Option {
  return createOption("--db <folder>", "folder of the store").argParser(parseText).default("./data");
}

function finalizedOption(): Option {
  const description =
    "blocks up to this one are finalized, as are those that the lines mark; last: every block that is read";
  return createOption("--finalized <block>", description).argParser(parseFinalized);
}

function chainIdOption(): Option {
  return createOption(
    "--chain-id <id>",
    "id of the chain; other chains are refused. Needed only where block 0 does not name it",
  ).argParser(parseChainId);
}

function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

function suiteOption(): Option {
  return createOption(
    "--suite <name>",
    `hash suite of the trees; a new store gets it, a store with another suite is refused (default for a new store: ${DEFAULT_SUITE_NAME})`,
  ).choices(SUITE_NAMES);
}
