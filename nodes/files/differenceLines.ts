/** Blocks from differences (docs/importing.md): NDJSON, one line per block, read as it streams in. */
import type {AccountChange, SlotDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {decodeHeader, type WholeHeader} from "../../storage/block/headerRlp.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import {parseHeaderFields} from "../blocks/nodeHeader.ts";
import {type SourceBlock, SourceError} from "../blocks/sourceStep.ts";
import {
  parseBytes,
  parseFixedBytes,
  parseObject,
  parseQuantity,
  parseWord,
  unexpected,
} from "../rpc/answerValues.ts";
import {atLine, type LineHandler, LineScanner, parseJson} from "./lineScanner.ts";

/** One account with a million slots has 140 MB; JSON.parse takes texts of up to 512 MB. */
const MAX_ACCOUNT_BYTES = 256 << 20;

/** @param signal - if it ended `chunks` early, an incomplete line is no error. @throws SourceError naming the line */
export async function* readDifferenceLines(
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<SourceBlock> {
  const assembler = new LineAssembler();
  const scanner = new LineScanner(/^accounts$/, MAX_ACCOUNT_BYTES, assembler);
  for await (const chunk of chunks) {
    try {
      atLine(scanner, () => scanner.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)));
    } finally {
      // Also if a line is bad: those before it are complete.
      yield* assembler.take();
    }
  }
  if (signal?.aborted !== true) atLine(scanner, () => scanner.finish());
  yield* assembler.take();
}

/** The fields of a line other than `accounts`, by their names in lower case. */
const FIELDS: ReadonlyMap<string, string> = new Map(
  [
    "number",
    "hash",
    "parentHash",
    "timestamp",
    "gasLimit",
    "baseFeePerGas",
    "miner",
    "mixHash",
    "extraData",
    "difficulty",
    "stateRoot",
    "finalized",
    "chainId",
    "config",
    "header",
  ].map(name => [name.toLowerCase(), name]),
);

class LineAssembler implements LineHandler {
  private fields = new Map<string, unknown>();
  private accounts: AccountDifferences | undefined;
  private blocks: SourceBlock[] = [];

  /** Ignores unknown fields. A field that differs from a known one only in case is refused as a mistake. */
  field(name: string, text: Buffer): void {
    const value = parseJson(text, name);
    const known = FIELDS.get(name.toLowerCase());
    if (known === undefined) return;
    if (known !== name) throw new SourceError(`expected the field ${known}, got ${JSON.stringify(name)}`);
    if (this.fields.has(name)) throw new SourceError(`${name} comes twice`);
    this.fields.set(name, value);
  }

  startEntries(): void {
    if (this.accounts !== undefined) throw new SourceError("accounts comes twice");
    this.accounts = new AccountDifferences();
  }

  entry(name: Buffer, text: Buffer): void {
    const address = name.toString();
    const field = `account ${address}`;
    this.accounts?.add({
      address: parseFixedBytes(address, `the address ${address}`, 20),
      change: parseAccountChange(parseJson(text, field), field),
    });
  }

  end(line: number): void {
    const {accounts} = this;
    if (accounts === undefined) throw new SourceError("accounts is missing");
    const number = parseBlockNumber(this.fields.get("number"), "number");
    const hash = parseFixedBytes(this.fields.get("hash"), "hash", 32);
    const header = this.readHeader(number, hash) ?? this.header(number, hash);
    const expectedStateRoot = this.parse("stateRoot", value => parseFixedBytes(value, "stateRoot", 32));
    const chainId = this.parse("chainId", value => parseQuantity(value, "chainId", 256));
    const chain =
      number === 0
        ? {chainId, config: this.parse("config", value => JSON.stringify(parseObject(value, "config")))}
        : undefined;
    const difference = {header, accounts, expectedStateRoot, chain};
    const finalized = this.parse("finalized", value => parseBlockNumber(value, "finalized"));
    this.blocks.push({
      ...{kind: "block", line, number, hash, origin: "the line", finalized, chainId},
      difference: async () => difference,
    });
    this.fields = new Map();
    this.accounts = undefined;
  }

  /** Complete blocks since the last call. */
  take(): SourceBlock[] {
    const taken = this.blocks;
    this.blocks = [];
    return taken;
  }

  /** @returns undefined if the line has no full header */
  private readHeader(number: number, hash: Uint8Array): WholeHeader | undefined {
    const bytes = this.fields.get("header");
    if (bytes === undefined) return undefined;
    const head = parseHeader(parseBytes(bytes, "header"));
    for (const [name, value] of Object.entries(this.header(number, hash))) {
      const [expected, got] = [head[name as keyof BlockHeader], value].map(showField);
      if (expected !== got) throw new SourceError(`${name}: expected ${expected} as in header, got ${got}`);
    }
    return head;
  }

  /** The line's own fields of the header. */
  private header(number: number, hash: Uint8Array): BlockHeader {
    // `stateRoot` of a line is that of the trees.
    const {stateRoot: _, ...fields} = Object.fromEntries(this.fields);
    return {number, hash, ...parseHeaderFields(fields, "")};
  }

  private parse<Value>(name: string, parse: (value: unknown) => Value): Value | undefined {
    const value = this.fields.get(name);
    return value === undefined ? undefined : parse(value);
  }
}

function parseHeader(rlp: Uint8Array): WholeHeader {
  try {
    return decodeHeader(new Uint8Array(rlp));
  } catch (error) {
    if (!(error instanceof RlpError)) throw error;
    throw new SourceError(`header: expected a block's header, got other bytes: ${error.message}`);
  }
}

function parseBlockNumber(value: unknown, field: string): number {
  return Number(parseQuantity(value, field, 48));
}

function showField(value: BlockHeader[keyof BlockHeader]): string {
  return value instanceof Uint8Array ? toHex(value) : String(value ?? "none");
}

const ACCOUNT_FIELDS: readonly string[] = ["nonce", "balance", "code", "storage", "reset"];

/** @param field - names the account in messages. @returns undefined: the account is deleted */
function parseAccountChange(value: unknown, field: string): AccountChange | undefined {
  if (value === null) return undefined;
  const fields = parseObject(value, field);
  for (const name of Object.keys(fields))
    if (!ACCOUNT_FIELDS.includes(name))
      throw new SourceError(
        `${field}: expected the fields ${ACCOUNT_FIELDS.join(", ")}, got ${JSON.stringify(name)}`,
      );
  const {nonce, balance, code, storage, reset} = fields;
  if (reset !== undefined && typeof reset !== "boolean")
    throw unexpected(`${field}.reset`, reset, "true or false");
  return {
    reset: reset === true,
    nonce: nonce === undefined ? undefined : parseQuantity(nonce, `${field}.nonce`, 64),
    balance: balance === undefined ? undefined : parseQuantity(balance, `${field}.balance`, 256),
    code: code === undefined ? undefined : parseBytes(code, `${field}.code`),
    storage: storage === undefined ? undefined : parseStorage(storage, `${field}.storage`),
  };
}

function parseStorage(value: unknown, field: string): SlotDifference[] {
  return Object.entries(parseObject(value, field)).map(([slot, word]) => ({
    slot: parseWordBytes(slot, `a slot of ${field}`),
    value: parseWordBytes(word, `${field}[${slot}]`),
  }));
}

/** 32 bytes. */
function parseWordBytes(value: unknown, field: string): Buffer {
  return Buffer.from(parseWord(value, field).slice(2), "hex");
}
