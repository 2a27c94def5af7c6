/** Flags of `proofd pull`: what to pull, from where, into which folder, and the trusted root. */
import type {Command} from "commander";
import {FORMAT_NAMES, type FormatName} from "../../client/folder/format/formatName.ts";
import type {SuiteName} from "../../storage/hash/suiteNames.ts";
import {writeCommandLine} from "./commandLine.ts";
import {headed, onSwitch, secret, type ValuesOf, value} from "./flagTable.ts";
import {listParser, parseAddress, parseBlockNumber, parseHash, parseText, redactUrls} from "./flagValues.ts";
import {readUrl} from "./loadValues.ts";
import {createNodeFlags, readHeaders, readNodes, URL_HEADER_FLAGS} from "./nodeFlags.ts";
import {ASKED_SUITE_FLAG, TRUSTED_ROLLUP_FLAG} from "./sharedFlags.ts";
import type {RootSource} from "./verifyFlags.ts";

type PullChoice =
  | {readonly kind: "accounts"}
  | {readonly kind: "all"}
  /** `0x` text in lower case, each once. */
  | {readonly kind: "storage"; readonly addresses: readonly string[]}
  | {readonly kind: "keys"; readonly file: string}
  /** What changed since a block, in all trees. */
  | {readonly kind: "changes"; readonly since: ChangesStart};

/** A block, or the folder of a completed pull of it. */
export type ChangesStart = {readonly block: number; readonly root: RootSource} | {readonly folder: string};

export interface PullOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly choice: PullChoice;
  readonly block: number;
  readonly root: RootSource;
  readonly suite: SuiteName;
  readonly out: string;
  readonly format: FormatName;
  readonly resume: boolean;
  /** The command line, without secrets. */
  readonly command: string;
}

/** A folder to verify. Without `root`, the root in its manifest is trusted. */
export interface FolderVerification {
  readonly folder: string;
  readonly root: ((block: number) => RootSource) | undefined;
  /** The same for the block that changes start from. */
  readonly fromRoot: ((block: number) => RootSource) | undefined;
}

const MAX_ADDRESSES = 1000;

export const PULL_FLAGS = {
  ...headed("What to pull", {
    all: onSwitch("all accounts, and the storage of all of them", "!verify"),
    accounts: onSwitch("all accounts", "!verify"),
    storage: value("<addresses>", listParser(parseTreeAddress)).says(
      "storage of these accounts, comma-separated; may be repeated",
      "!verify",
    ),
    keys: value("<file>", parseText).says(
      "accounts and slots listed in a file, one `0xaddress [0xslot ...]` per line",
      "!verify",
    ),
    changesFrom: value("<block|folder>", parseStart).says(
      "all accounts and slots that changed since this block, with old and new values; or since the block of a completed pull, given by its folder, whose manifest has the root",
      "!verify",
    ),
    block: value("<block>", parseBlockNumber).says("block to pull; it must be finalized", "!verify"),
  }),
  ...headed("Source and output", {
    url: secret(value("<url>", String).says("proofd to pull from, http or https", "!verify"), redactUrls),
    ...URL_HEADER_FLAGS,
    out: value("<folder>", parseText).says("output folder, new or empty", "!verify"),
    format: value("<format>", FORMAT_NAMES, "ndjson").says("file format", "!verify"),
    resume: onSwitch("continue an interrupted pull in its folder", "!verify"),
    verify: value("<folder>", parseText).says(
      "verify a completed pull, offline, against the root in its manifest or the trusted root",
    ),
  }),
  ...headed("Trusted root", {
    root: value("<hash>", parseHash).says("trust this state root"),
    fromRoot: value("<hash>", parseHash).says(
      "trust this state root of the block of --changes-from",
      "changes-from | verify",
    ),
    ...createNodeFlags("l1"),
    rollup: TRUSTED_ROLLUP_FLAG,
    suite: {...ASKED_SUITE_FLAG, needs: "!verify"},
  }),
};

type PullValues = ValuesOf<typeof PULL_FLAGS>;

export function readPullOptions(values: PullValues, command: Command): PullOptions | FolderVerification {
  const {verify, block, url, out, suite, format, resume} = values;
  const root = readRoot(values, command, values.root);
  const fromRoot =
    values.fromRoot === undefined && values.root !== undefined
      ? undefined
      : readRoot(values, command, values.fromRoot);
  if (verify !== undefined) return {folder: verify, root, fromRoot};
  if (url === undefined || out === undefined || block === undefined)
    return command.error("error: expected --url, --block and --out, or --verify with a folder");
  if (root === undefined)
    return command.error("error: expected a root to trust: --root, or --l1 with --rollup");
  const choice = readChoice(values, block, fromRoot, command);
  return {
    headers: readHeaders(values, "header", command),
    ...{url: readUrl(url, command), choice, block, root: root(block), suite, out, format, resume},
    command: writeCommandLine(command, PULL_FLAGS, process.argv.slice(2)),
  };
}

function readChoice(
  {all, accounts, storage, keys, changesFrom, fromRoot: givenRoot}: PullValues,
  block: number,
  fromRoot: FolderVerification["fromRoot"],
  command: Command,
): PullChoice {
  const named = [storage, keys, changesFrom].map(one => one !== undefined);
  if ([all, accounts, ...named].filter(isGiven => isGiven).length !== 1)
    return command.error(
      "error: expected exactly one of --all, --accounts, --storage, --keys and --changes-from",
    );
  if (typeof changesFrom === "string") {
    if (givenRoot !== undefined)
      command.error(`error: --from-root has no effect: the manifest in --changes-from ${changesFrom} has it`);
    return {kind: "changes", since: {folder: changesFrom}};
  }
  if (changesFrom !== undefined) {
    if (changesFrom >= block)
      command.error(`error: --changes-from: expected a block below --block (${block}), got ${changesFrom}`);
    if (fromRoot === undefined)
      return command.error("error: --changes-from with --root needs --from-root, the root of that block");
    return {kind: "changes", since: {block: changesFrom, root: fromRoot(changesFrom)}};
  }
  if (all) return {kind: "all"};
  if (accounts) return {kind: "accounts"};
  if (keys !== undefined) return {kind: "keys", file: keys};
  const addresses = storage as readonly string[];
  if (addresses.length > MAX_ADDRESSES)
    command.error(
      `error: --storage: expected at most ${MAX_ADDRESSES} addresses, got ${addresses.length}; --all pulls all of them`,
    );
  const twice = addresses.find((address, at) => addresses.indexOf(address) < at);
  if (twice !== undefined) command.error(`error: --storage: expected each address once, got ${twice} twice`);
  return {kind: "storage", addresses};
}

function readRoot(
  values: PullValues,
  command: Command,
  root: Uint8Array | undefined,
): ((block: number) => RootSource) | undefined {
  const {rollup} = values;
  const nodes = readNodes(values, "l1", command);
  if (root !== undefined && nodes !== undefined)
    return command.error("error: expected one of --root and --l1, got both");
  if (root !== undefined) return () => ({kind: "root", root});
  if (nodes === undefined) return undefined;
  if (rollup === undefined) return command.error("error: --l1 needs --rollup, the contract's address");
  return block => ({kind: "l1", nodes, contract: rollup, block});
}

function parseStart(text: string): number | string {
  return /^(\d+|0[xX][0-9a-fA-F]+)$/.test(text) ? parseBlockNumber(text) : parseText(text);
}

function parseTreeAddress(text: string): string {
  parseAddress(text);
  return text.toLowerCase();
}
