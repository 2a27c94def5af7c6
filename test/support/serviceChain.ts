/** A chain for tests of the wire: small, made of block differences, the same every time. */
import {createHash} from "node:crypto";
import {mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {runProofd} from "./daemon.ts";
import {type DifferenceLine, encodeLines} from "./differenceLine.ts";

export const CHAIN_ID = "0x539";
/** Accounts of block 0; each has the slots 1 to 3. */
export const ACCOUNTS: readonly string[] = Array.from({length: 40}, (_, at) =>
  hash(`account ${at}`).slice(0, 42),
);
/** An account that no block has. */
export const ABSENT_ACCOUNT = `0x${"ee".repeat(20)}`;

export function hashOfBlock(number: number): string {
  return hash(`block ${number}`);
}

/** Block `number`; every block but the first changes the balance and slot 1 of five accounts. */
export function createLine(number: number, finalized?: number): DifferenceLine {
  const accounts: DifferenceLine["accounts"] = {};
  const count = number === 0 ? ACCOUNTS.length : 5;
  for (let at = 0; at < count; at++) {
    const storage = {"0x1": quantity(1 + number), ...(number === 0 ? {"0x2": "0x22", "0x3": "0x33"} : {})};
    accounts[ACCOUNTS[(at + number) % ACCOUNTS.length] as string] = {
      balance: quantity(1000 + number),
      storage,
    };
  }
  return {
    number: quantity(number),
    hash: hashOfBlock(number),
    ...(number === 0 ? {chainId: CHAIN_ID} : {parentHash: hashOfBlock(number - 1)}),
    timestamp: quantity(1_700_000_000 + number),
    ...(finalized === undefined ? {} : {finalized: quantity(finalized)}),
    accounts,
  };
}

/** Lines of blocks `first` to `last`. */
export function createLines(first: number, last: number): DifferenceLine[] {
  return Array.from({length: last - first + 1}, (_, at) => createLine(first + at));
}

/** A folder under the system's temporary one, gone after `remove`. */
export class WorkFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<WorkFolder> {
    return new WorkFolder(await mkdtemp(join(tmpdir(), "proofd-wire-")));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Blocks 0 to `last` in the store `name`, finalized up to `finalized`. @returns its folder */
  async importChain(name: string, last: number, finalized: number): Promise<string> {
    const db = this.file(name);
    const lines = this.file(`${name}.ndjson`);
    await writeFile(lines, encodeLines(createLines(0, last)));
    const {code, stderr} = await runProofd([
      "import",
      "--db",
      db,
      "--diffs",
      lines,
      "--finalized",
      String(finalized),
    ]);
    if (code !== 0) throw new Error(stderr);
    return db;
  }

  async remove(): Promise<void> {
    await rm(this.path, {recursive: true});
  }
}

function hash(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
