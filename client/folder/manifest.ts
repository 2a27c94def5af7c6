/**
 * `manifest.json`, the last file of a pull: its request and its parts. A folder without it is not complete.
 *
 *   {"version": 1, "command": "proofd pull ..", "asked": {"suite", "format", "pulled", "block", "stateRoot", ..},
 *    "block": {"number", "hash", "stateRoot"}, "accountTree": {"nextFreeNode", "leaves"},
 *    "context": {"header": {"timestamp": "0x..", ..}, "headerRlp": "0x..", "ancestors": ["0x..", ..], "chainId": "0x..", "config": {..}},
 *    "rows": {"accounts": 328, ..}, "parts": [{"file", "table", "rows", "bytes", "sha256"}, ..]}
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import {join} from "node:path";
import {FORMAT_NAMES} from "./format/formatName.ts";
import {
  type AskedPull,
  countRows,
  PULLED_NAMES,
  requireHash,
  requireIndex,
  requireObject,
  requireOne,
  requireParts,
} from "./manifestParts.ts";
import {PARTIAL, type Part} from "./partFile.ts";
import {at, damaged, PulledError, withFile} from "./pulledError.ts";
import type {TableName} from "./row/tables.ts";

export const MANIFEST = "manifest.json";
/** Of a pull that is not complete: journal.ts. */
export const JOURNAL = "progress.ndjson";
const VERSION = 1;
const MAX_MANIFEST_BYTES = 64 << 20;

interface PulledBlock {
  readonly number: number;
  /** `0x` text. The server's claim: nothing proves it. */
  readonly hash: string;
  /** `0x` text: the trusted root. */
  readonly stateRoot: string;
}

/** The account tree, of a pull of the complete tree. */
export interface AccountTree {
  readonly nextFreeNode: number;
  readonly leaves: number;
}

/**
 * What a store needs to know of the block besides its state: the answer of chain_getHeader without its block. The
 * server's claim: nothing proves it, and its users must validate it.
 */
export interface BlockContext {
  readonly header: Readonly<Record<string, string>>;
  readonly headerRlp: string | null;
  readonly ancestors: readonly string[];
  readonly chainId: string | null;
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface Manifest {
  readonly version: typeof VERSION;
  /** The command that completed the pull, without keys. */
  readonly command: string;
  readonly asked: AskedPull;
  readonly block: PulledBlock;
  readonly accountTree: AccountTree | undefined;
  /** Of a pull of everything. */
  readonly context: BlockContext | undefined;
  /** Of each table that has any. */
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** In the order of their tables, and of their rows in each. */
  readonly parts: readonly Part[];
}

/** Writes a file atomically: under another name, a new file, then synced and renamed. The caller syncs the folder. */
export function writeAtomically(folder: string, file: string, text: string): void {
  const path = join(folder, file);
  const partial = `${path}${PARTIAL}`;
  withFile(partial, "write", () => {
    rmSync(partial, {force: true});
    writeFileSync(partial, text, {flag: "wx", flush: true});
    renameSync(partial, path);
  });
}

export function syncFolder(folder: string): void {
  withFile(folder, "write", () => {
    const fd = openSync(folder, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

export function writeManifest(folder: string, manifest: Omit<Manifest, "version" | "rows">): void {
  const {command, asked, block, accountTree, context, parts} = manifest;
  const rows = countRows(parts);
  const complete: Manifest = {version: VERSION, command, asked, block, accountTree, context, rows, parts};
  writeAtomically(folder, MANIFEST, `${JSON.stringify(complete, undefined, 2)}\n`);
}

/** @throws PulledError NO_PULL without a manifest, DAMAGED for an invalid one */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  const file = withFile(path, "read", () => statSync(path, {throwIfNoEntry: false}));
  if (file === undefined) {
    const problem = existsSync(join(folder, JOURNAL))
      ? "the pull is not complete: run its command again with --resume"
      : `there is no pull: expected ${MANIFEST} in it`;
    throw new PulledError("NO_PULL", `${folder}: ${problem}`);
  }
  // A pipe or a device may never end.
  if (!file.isFile()) throw damaged(path, "expected a file");
  if (file.size > MAX_MANIFEST_BYTES)
    throw damaged(path, `expected at most ${MAX_MANIFEST_BYTES} bytes, got ${file.size}`);
  const text = withFile(path, "read", () => readFileSync(path, "utf8"));
  return at(path, () => parseManifest(JSON.parse(text)));
}

function parseManifest(value: unknown): Manifest {
  const manifest = value as Manifest;
  const {version, asked, block, accountTree, rows, parts} = requireObject("the manifest", manifest);
  if (version !== VERSION) throw new Error(`version: expected ${VERSION}, got ${JSON.stringify(version)}`);
  requireOne("asked.format", requireObject("asked", asked).format, FORMAT_NAMES);
  requireOne("asked.suite", asked.suite, ["sha256", "poseidon2"]);
  requireOne("asked.pulled", asked.pulled, PULLED_NAMES);
  if (asked.pulled === "storage") {
    const {addresses} = asked;
    if (!Array.isArray(addresses) || !addresses.every(one => /^0x[0-9a-f]{40}$/.test(String(one))))
      throw new Error("asked.addresses: expected an array of addresses");
  }
  if (asked.pulled === "changes") {
    requireIndex("asked.fromBlock", asked.fromBlock);
    requireHash("asked.fromRoot", asked.fromRoot);
  }
  requireIndex("block.number", requireObject("block", block).number);
  requireHash("block.hash", block.hash);
  requireHash("block.stateRoot", block.stateRoot);
  requireOne("asked.stateRoot", asked.stateRoot, [block.stateRoot]);
  if (asked.block !== block.number) throw new Error("asked.block: expected the number of block");
  const hasTree = asked.pulled === "accounts" || asked.pulled === "all";
  if (hasTree !== (accountTree !== undefined))
    throw new Error(`accountTree: expected ${hasTree ? "one" : "none"} of a pull of ${asked.pulled}`);
  if (accountTree !== undefined) {
    requireIndex("accountTree.nextFreeNode", requireObject("accountTree", accountTree).nextFreeNode);
    requireIndex("accountTree.leaves", accountTree.leaves);
  }
  requireParts(parts, asked);
  const counted = JSON.stringify(countRows(parts));
  if (JSON.stringify(rows) !== counted)
    throw new Error(`rows: expected ${counted}, those of the parts, got ${JSON.stringify(rows)}`);
  return manifest;
}
